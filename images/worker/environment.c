/* SPDX-License-Identifier: MIT */
/* What launchers say in the environment. Flags win over all of it. */
#include "options.h"
#include "rendezvous/mpi_root.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One launcher: the variables that hold the rank, the world size, how many ranks of the job are on
 * this host (or on how many hosts they are), and the job's name. It is not there without `mark`. */
struct launcher {
	const char *name, *mark, *rank, *world, *local, *nodes, *job;
};

/* The innermost first: srun starts torchrun or mpirun's and Hydra's daemons, and what it says to
 * those their ranks inherit. Last, a Job in a pod. */
static const struct launcher launchers[] = {
	{"torchrun", "TORCHELASTIC_RUN_ID", "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", NULL,
	 "TORCHELASTIC_RUN_ID"},
	{"Open MPI", NULL, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
	 "OMPI_COMM_WORLD_LOCAL_SIZE", NULL, "PMIX_NAMESPACE"},
	{"Hydra", "MPI_LOCALNRANKS", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", NULL, NULL},
	{"Slurm", NULL, "SLURM_PROCID", "SLURM_NTASKS", NULL, "SLURM_NNODES", "SLURM_JOB_ID"},
	{"PMI", NULL, "PMI_RANK", "PMI_SIZE", NULL, NULL, NULL},
	{"a launcher", NULL, "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", NULL, NULL},
	{"Kubernetes", NULL, "JOB_COMPLETION_INDEX", "WORLD_SIZE", NULL, NULL, NULL},
};

static bool environment_is(const struct launcher *launcher, const char *name)
{
	return strcmp(launcher->name, name) == 0;
}

static int environment_number_of(const char *name)
{
	const char *text = name ? getenv(name) : NULL;
	char *end;
	long value;

	if (!text || !*text)
		return -1;
	value = strtol(text, &end, 10);
	return *end == '\0' && value >= 0 && value <= 65535 ? (int)value : -1;
}

/* FNV-1a, to turn a job's name into a port below those that the kernel gives away. */
static void hashed_port(const char *text, char port[PORT_BYTES])
{
	unsigned value = 2166136261u;

	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * 16777619u;
	snprintf(port, PORT_BYTES, "%u", 20000 + value % 12000);
}

static bool all_here(const struct launcher *launcher, const struct options *options)
{
	int procs = options->procs > 0 ? options->procs : 1;

	if (launcher->nodes)
		return environment_number_of(launcher->nodes) == 1;
	return launcher->local && environment_number_of(launcher->local) * procs == options->world;
}

/* Words that all ranks of the job see, and those of no other job on this host. */
static void name_job(const struct launcher *launcher, char name[SECRET_BYTES])
{
	const char *job = launcher->job ? getenv(launcher->job) : NULL;
	const char *step = environment_is(launcher, "Slurm") ? getenv("SLURM_STEP_ID") : NULL;
	const char *port = getenv("MASTER_PORT");

	if (job || port)
		snprintf(name, SECRET_BYTES, "%s.%s.%s", job ? job : "", step ? step : "",
			 port ? port : "");
	else
		snprintf(name, SECRET_BYTES, "%s %ld", launcher->name, (long)getppid());
}

static void local_root(const struct launcher *launcher, struct options *options)
{
	char name[SECRET_BYTES];

	name_job(launcher, name);
	snprintf(options->root_host, sizeof(options->root_host), "127.0.0.1");
	hashed_port(name, options->root_port);
	if (options->secret[0] == 0)
		memcpy(options->secret, name, strlen(name));
}

/* torchrun's own store listens on MASTER_PORT; rank 0 takes the next one. */
static bool master_root(struct options *options)
{
	const char *host = getenv("MASTER_ADDR"), *store = getenv("TORCHELASTIC_USE_AGENT_STORE");
	int port = environment_number_of("MASTER_PORT");

	if (!host || !*host || port <= 0 || strlen(host) >= sizeof(options->root_host))
		return false;
	if (store && strcmp(store, "True") == 0)
		port++;
	snprintf(options->root_host, sizeof(options->root_host), "%s", host);
	snprintf(options->root_port, sizeof(options->root_port), "%d", port);
	options->root_awaited = true;
	return true;
}

/* The first host of a list as Slurm writes it, such as node[08-11,20],big1. */
static int first_host(const char *list, char *host, size_t bytes)
{
	size_t used = 0;

	while (*list && *list != ',') {
		if (*list != '[') {
			if (used + 1 >= bytes)
				return -1;
			host[used++] = *list++;
			continue;
		}
		for (list++; *list && !strchr("-,]", *list); list++) {
			if (used + 1 >= bytes)
				return -1;
			host[used++] = *list;
		}
		list = strchr(list, ']');
		if (!list)
			return -1;
		list++;
	}
	host[used] = '\0';
	return used > 0 ? 0 : -1;
}

/* Rank 0 is on the first host of the step, or of the whole job if another launcher divided it. */
static bool slurm_root(const struct launcher *launcher, struct options *options)
{
	bool step = environment_is(launcher, "Slurm");
	const char *hosts = getenv(step ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST");
	const char *ports = step ? getenv("SLURM_STEP_RESV_PORTS") : NULL;
	const char *job = getenv("SLURM_JOB_ID"), *number = getenv("SLURM_STEP_ID");
	char name[SECRET_BYTES];

	if (!hosts || !job || (step && !number) ||
	    first_host(hosts, options->root_host, sizeof(options->root_host)) < 0) {
		options->root_host[0] = '\0';
		return false;
	}
	snprintf(name, sizeof(name), "%s.%s", job, step ? number : "");
	hashed_port(name, options->root_port);
	if (ports)
		snprintf(options->root_port, sizeof(options->root_port), "%.*s",
			 (int)strspn(ports, "0123456789"), ports);
	return true;
}

/* The pods of an Indexed Job are called JOB-INDEX; with a headless service (`subdomain`) a pod's
 * full name is JOB-INDEX.SERVICE.NAMESPACE.svc.DOMAIN, and pod 0's differs in the index only. */
static bool pod_root(struct options *options)
{
	struct addrinfo hints = {.ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM},
			*found = NULL;
	char name[sizeof(options->root_host)] = "", *dash, *dot;

	if (gethostname(name, sizeof(name) - 1) < 0 || getaddrinfo(name, NULL, &hints, &found) != 0)
		return false;
	snprintf(name, sizeof(name), "%s", found->ai_canonname ? found->ai_canonname : "");
	freeaddrinfo(found);
	dot = strchr(name, '.');
	if (!dot)
		return false;
	*dot = '\0';
	dash = strrchr(name, '-');
	if (!dash || strcmp(dash + 1, getenv("JOB_COMPLETION_INDEX")) != 0)
		return false;
	*dash = '\0';
	hashed_port(name, options->root_port);
	options->root_awaited = true;
	return snprintf(options->root_host, sizeof(options->root_host), "%s-0.%s", name, dot + 1) <
	       (int)sizeof(options->root_host);
}

static bool is_mpirun(const struct launcher *launcher)
{
	return environment_is(launcher, "Open MPI") || environment_is(launcher, "Hydra") ||
	       environment_is(launcher, "PMI");
}

static int find_root(const struct launcher *launcher, struct options *options, struct failure *err)
{
	bool pod = environment_is(launcher, "Kubernetes");
	struct failure why = {.reason = ""};

	if (all_here(launcher, options)) {
		local_root(launcher, options);
		return 0;
	}
	if (master_root(options) || slurm_root(launcher, options) || (pod && pod_root(options)) ||
	    (is_mpirun(launcher) && mpi_root(options, &why) == 0))
		return 0;
	return failure_set(
		err, STATUS_USAGE, -1, "",
		"%s started ranks on several hosts: say where rank 0 listens with --root HOST:PORT, or set MASTER_ADDR and MASTER_PORT%s%s%s",
		launcher->name, why.reason[0] ? "; MPI cannot tell: " : "", why.reason,
		pod ? "; it is found where the Job's pods have a `subdomain` and a headless service of that name"
		    : "");
}

/* A secret in a file: a mounted one, or one on a file system that the hosts share. */
static int read_secret(const char *path, uint8_t secret[SECRET_BYTES], struct failure *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got = fd >= 0 ? read(fd, secret, SECRET_BYTES) : -1;
	int error = errno;

	if (fd >= 0)
		close(fd);
	if (got < 0)
		return failure_set(err, STATUS_USAGE, -1, "", "$RINGUP_SECRET_FILE %s: %s", path,
				   strerror(error));
	while (got > 0 && secret[got - 1] == '\n')
		secret[--got] = 0;
	if (got > 0 && got < SECRET_BYTES && !memchr(secret, 0, (size_t)got))
		return 0;
	return failure_set(err, STATUS_USAGE, -1, "",
			   "$RINGUP_SECRET_FILE %s: 1 to %d bytes of text are needed", path,
			   SECRET_BYTES - 1);
}

static int take_secret(struct options *options, struct failure *err)
{
	const char *secret = getenv("RINGUP_SECRET"), *path = getenv("RINGUP_SECRET_FILE");

	if (secret && strlen(secret) >= SECRET_BYTES)
		return failure_set(err, STATUS_USAGE, -1, "",
				   "$RINGUP_SECRET is longer than %d bytes", SECRET_BYTES - 1);
	if (secret && *secret)
		memcpy(options->secret, secret, strlen(secret));
	else if (path && *path)
		return read_secret(path, options->secret, err);
	return 0;
}

int environment_apply(struct options *options, struct failure *err)
{
	int procs = options->procs > 0 ? options->procs : 1;

	if (take_secret(options, err) < 0)
		return -1;
	if (options->rank >= 0 || (options->world >= 0 && options->world <= procs) ||
	    (options->world < 0 && options->procs > 0))
		return 0;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		const struct launcher *launcher = &launchers[i];
		int rank = environment_number_of(launcher->rank),
		    world = environment_number_of(launcher->world);

		world = options->world >= 0 ? options->world : world;
		if (rank < 0 || (launcher->mark && !getenv(launcher->mark)))
			continue;
		if (world < 1)
			return failure_set(
				err, STATUS_USAGE, -1, "",
				"%s says that this is rank %d, but not of how many: set %s or --world",
				launcher->rank, rank, launcher->world);
		options->rank = rank * procs;
		options->world = world;
		if (options->root_host[0] == '\0' && world > procs)
			return find_root(launcher, options, err);
		return 0;
	}
	return 0;
}
