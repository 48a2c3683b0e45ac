/* SPDX-License-Identifier: MIT */
/* What launchers say in the environment. Flags win over all of it. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One launcher: the variables that hold the rank, the world size, and how many ranks of the job are
 * here. The last may be NULL; `nodes` counts hosts instead. */
static const struct launcher {
	const char *name, *rank, *world, *local, *nodes, *job;
} launchers[] = {
	{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
	 NULL, "PMIX_NAMESPACE"},
	{"Slurm", "SLURM_PROCID", "SLURM_NTASKS", NULL, "SLURM_NNODES", "SLURM_JOB_ID"},
	{"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", NULL, NULL},
	{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", NULL, "TORCHELASTIC_RUN_ID"},
};

static int number_of(const char *name)
{
	const char *text = name ? getenv(name) : NULL;
	char *end;
	long value;

	if (!text || !*text)
		return -1;
	value = strtol(text, &end, 10);
	return *end == '\0' && value >= 0 && value <= 65535 ? (int)value : -1;
}

/* FNV-1a, to turn a job's name into a port. */
static unsigned hash(const char *text)
{
	unsigned value = 2166136261u;

	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * 16777619u;
	return value;
}

static bool all_here(const struct launcher *launcher, int world)
{
	if (launcher->nodes)
		return number_of(launcher->nodes) == 1;
	return number_of(launcher->local) == world;
}

static bool has_secret(const struct options *options)
{
	return options->secret[0] != 0;
}

static int local_root(const struct launcher *launcher, struct options *options, struct failure *err)
{
	const char *job = launcher->job ? getenv(launcher->job) : NULL;
	const char *step = getenv("SLURM_STEP_ID");
	char key[SECRET_BYTES];

	if (!all_here(launcher, options->world))
		return failure_set(err, STATUS_USAGE, -1, "",
				   "%s started ranks on several hosts: say where rank 0 listens "
				   "with --root HOST:PORT",
				   launcher->name);
	if (job)
		snprintf(key, sizeof(key), "%s.%s", job, step ? step : "");
	else
		snprintf(key, sizeof(key), "%s %ld", launcher->name, (long)getppid());
	snprintf(options->root_host, sizeof(options->root_host), "127.0.0.1");
	snprintf(options->root_port, sizeof(options->root_port), "%u", 20000 + hash(key) % 12000);
	if (!has_secret(options))
		memcpy(options->secret, key, strlen(key));
	return 0;
}

/* torchrun's own store listens on MASTER_PORT; rank 0 takes the next one. */
static void torchrun_root(struct options *options)
{
	const char *host = getenv("MASTER_ADDR"), *store = getenv("TORCHELASTIC_USE_AGENT_STORE");
	int port = number_of("MASTER_PORT");

	if (!host || port <= 0)
		return;
	if (store && strcmp(store, "True") == 0)
		port++;
	snprintf(options->root_host, sizeof(options->root_host), "%s", host);
	snprintf(options->root_port, sizeof(options->root_port), "%d", port);
}

int environment_apply(struct options *options, struct failure *err)
{
	const char *secret = getenv("RINGUP_SECRET");

	if (secret && strlen(secret) >= SECRET_BYTES)
		return failure_set(err, STATUS_USAGE, -1, "",
				   "$RINGUP_SECRET is longer than %d bytes", SECRET_BYTES - 1);
	if (secret)
		memcpy(options->secret, secret, strlen(secret));
	if (options->rank >= 0 || options->world >= 0 || options->procs > 0)
		return 0;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		const struct launcher *launcher = &launchers[i];
		int rank = number_of(launcher->rank), world = number_of(launcher->world);

		if (rank < 0 || world < 1)
			continue;
		options->rank = rank;
		options->world = world;
		if (options->root_host[0] == '\0')
			torchrun_root(options);
		if (options->root_host[0] == '\0' && world > 1)
			return local_root(launcher, options, err);
		return 0;
	}
	return 0;
}
