/* SPDX-License-Identifier: MIT */
#include "environment.h"
#include "net/hmac.h"
#include "perf.h"
#include "rendezvous/mpi_root.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAYS_MAX 4

/* One launcher, by the names of its variables. NULL: it has none such. */
struct launcher {
	const char *name;   /* in messages */
	const char *called; /* in the help, where `name` does not say enough */
	const char *mark;   /* the launcher is only there with this one */
	const char *rank, *world;
	const char *local; /* how many ranks of the job are on this host, or ... */
	const char *nodes; /* ... on how many hosts they are */
	const char *job;   /* the job's name or number */
	const char *step;  /* the number of a part of the job, whose ranks are those of this run */
	const char *store; /* "True": the launcher itself listens at $MASTER_PORT */
	const char *hint;  /* what to do where no way leads to the root */
	bool is_mpi;	   /* nccl-tests asks MPI, so that it has these ranks too */
	/* The ways to find the root, tried in this order. */
	bool (*ways[WAYS_MAX])(const struct launcher *launcher, struct options *options,
			       struct failure *why);
};

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
	const char *step = launcher->step ? getenv(launcher->step) : NULL;
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
	size_t used;

	name_job(launcher, name);
	used = strlen(name);
	if (options->color >= 0)
		snprintf(name + used, sizeof(name) - used, " part %d", options->color);
	snprintf(options->root_host, sizeof(options->root_host), "127.0.0.1");
	hashed_port(name, options->root_port);
	if (!secret_is_set(&options->secret))
		secret_set(&options->secret, name, strlen(name));
}

/* Where the launcher's own store listens at MASTER_PORT, rank 0 takes the next port. */
static bool master_root(const struct launcher *launcher, struct options *options,
			struct failure *why)
{
	const char *host = getenv("MASTER_ADDR");
	const char *store = launcher->store ? getenv(launcher->store) : NULL;
	int port = environment_number_of("MASTER_PORT");

	(void)why;
	if (port > 0 && store && strcmp(store, "True") == 0)
		port++;
	if (!host || !*host || port <= 0 || port > 65535 ||
	    strlen(host) >= sizeof(options->root_host))
		return false;
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

/* Rank 0 is on the first of @hosts. @job and @step make the port, unless the first of @ports does. */
static bool slurm_root(struct options *options, const char *hosts, const char *job,
		       const char *step, const char *ports)
{
	char name[SECRET_BYTES];

	if (!hosts || !job || !step ||
	    first_host(hosts, options->root_host, sizeof(options->root_host)) < 0) {
		options->root_host[0] = '\0';
		return false;
	}
	snprintf(name, sizeof(name), "%s.%s", job, step);
	hashed_port(name, options->root_port);
	if (ports)
		snprintf(options->root_port, sizeof(options->root_port), "%.*s",
			 (int)strspn(ports, "0123456789"), ports);
	return true;
}

/* The ranks are those of a step. */
static bool slurm_step_root(const struct launcher *launcher, struct options *options,
			    struct failure *why)
{
	(void)why;
	return slurm_root(options, getenv("SLURM_STEP_NODELIST"), getenv(launcher->job),
			  getenv(launcher->step), getenv("SLURM_STEP_RESV_PORTS"));
}

/* Another launcher has divided the job among its ranks. */
static bool slurm_job_root(const struct launcher *launcher, struct options *options,
			   struct failure *why)
{
	(void)launcher;
	(void)why;
	return slurm_root(options, getenv("SLURM_JOB_NODELIST"), getenv("SLURM_JOB_ID"), "", NULL);
}

/* The pods of an Indexed Job are called JOB-INDEX; with a headless service (`subdomain`) a pod's
 * full name is JOB-INDEX.SERVICE.NAMESPACE.svc.DOMAIN, and pod 0's differs in the index only. */
static bool pod_root(const struct launcher *launcher, struct options *options, struct failure *why)
{
	struct addrinfo hints = {.ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM},
			*found = NULL;
	char name[sizeof(options->root_host)] = "", *dash, *dot;

	(void)why;
	if (gethostname(name, sizeof(name) - 1) < 0 || getaddrinfo(name, NULL, &hints, &found) != 0)
		return false;
	snprintf(name, sizeof(name), "%s", found->ai_canonname ? found->ai_canonname : "");
	freeaddrinfo(found);
	dot = strchr(name, '.');
	if (!dot)
		return false;
	*dot = '\0';
	dash = strrchr(name, '-');
	if (!dash || strcmp(dash + 1, getenv(launcher->rank)) != 0)
		return false;
	*dash = '\0';
	hashed_port(name, options->root_port);
	options->root_awaited = true;
	return snprintf(options->root_host, sizeof(options->root_host), "%s-0.%s", name, dot + 1) <
	       (int)sizeof(options->root_host);
}

/* MPI says where rank 0 listens. */
static bool environment_mpi_root(const struct launcher *launcher, struct options *options,
				 struct failure *why)
{
	(void)launcher;
	return mpi_root(options, why) == 0;
}

/* The innermost comes first: srun starts torchrun or mpirun's and Hydra's daemons, and their ranks
 * inherit what it says to those. A Job in a pod comes last. */
static const struct launcher launchers[] = {
	{.name = "torchrun",
	 .mark = "TORCHELASTIC_RUN_ID",
	 .rank = "RANK",
	 .world = "WORLD_SIZE",
	 .local = "LOCAL_WORLD_SIZE",
	 .job = "TORCHELASTIC_RUN_ID",
	 .store = "TORCHELASTIC_USE_AGENT_STORE",
	 .ways = {master_root, slurm_job_root}},
	{.name = "Open MPI",
	 .is_mpi = true,
	 .rank = "OMPI_COMM_WORLD_RANK",
	 .world = "OMPI_COMM_WORLD_SIZE",
	 .local = "OMPI_COMM_WORLD_LOCAL_SIZE",
	 .job = "PMIX_NAMESPACE",
	 .ways = {master_root, slurm_job_root, environment_mpi_root}},
	{.name = "Hydra",
	 .is_mpi = true,
	 .mark = "MPI_LOCALNRANKS",
	 .rank = "PMI_RANK",
	 .world = "PMI_SIZE",
	 .local = "MPI_LOCALNRANKS",
	 .ways = {master_root, slurm_job_root, environment_mpi_root}},
	{.name = "Slurm",
	 .is_mpi = true,
	 .rank = "SLURM_PROCID",
	 .world = "SLURM_NTASKS",
	 .nodes = "SLURM_NNODES",
	 .job = "SLURM_JOB_ID",
	 .step = "SLURM_STEP_ID",
	 .ways = {master_root, slurm_step_root}},
	{.name = "PMI",
	 .is_mpi = true,
	 .called = "PMI_RANK and PMI_SIZE",
	 .rank = "PMI_RANK",
	 .world = "PMI_SIZE",
	 .ways = {master_root, slurm_job_root, environment_mpi_root}},
	{.name = "a launcher",
	 .called = "RANK and WORLD_SIZE",
	 .rank = "RANK",
	 .world = "WORLD_SIZE",
	 .local = "LOCAL_WORLD_SIZE",
	 .ways = {master_root, slurm_job_root}},
	{.name = "Kubernetes",
	 .called = "the index of a Kubernetes Job",
	 .rank = "JOB_COMPLETION_INDEX",
	 .world = "WORLD_SIZE",
	 .hint = "it is found where the Job's pods have a `subdomain` and a headless service of that name",
	 .ways = {master_root, slurm_job_root, pod_root}},
};

#define LAUNCHERS ((int)(sizeof(launchers) / sizeof(launchers[0])))

const char *environment_name(int index)
{
	if (index >= LAUNCHERS)
		return NULL;
	return launchers[index].called ? launchers[index].called : launchers[index].name;
}

/* Part of a run on several hosts: only MPI brings the ranks of each part together. */
static int environment_find_part(struct options *options, struct failure *err)
{
	struct failure why = {.reason = ""};

	if (mpi_root(options, &why) == 0)
		return 0;
	return failure_set(
		err, STATUS_USAGE, -1, "",
		"NCCL_TESTS_SPLIT among several hosts needs MPI, to tell where the first rank of each part listens: %s",
		why.reason);
}

/* @here: all ranks of the launcher are on this host. */
static int find_root(const struct launcher *launcher, struct options *options, bool here,
		     struct failure *err)
{
	struct failure why = {.reason = ""};

	if (here) {
		local_root(launcher, options);
		return 0;
	}
	if (options->color >= 0)
		return environment_find_part(options, err);
	for (int i = 0; i < WAYS_MAX && launcher->ways[i]; i++)
		if (launcher->ways[i](launcher, options, &why))
			return 0;
	return failure_set(
		err, STATUS_USAGE, -1, "",
		"%s started ranks on several hosts: say where rank 0 listens with --root HOST:PORT, or set MASTER_ADDR and MASTER_PORT%s%s%s%s",
		launcher->name, why.reason[0] ? "; MPI cannot tell: " : "", why.reason,
		launcher->hint ? "; " : "", launcher->hint ? launcher->hint : "");
}

/* A secret in a file: a mounted one, or one on a file system that the hosts share. */
static int read_secret(const char *path, struct secret *secret, struct failure *err)
{
	char text[SECRET_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
	ssize_t got = fd >= 0 ? read(fd, text, sizeof(text)) : -1;
	int error = errno;

	if (fd >= 0)
		close(fd);
	if (got < 0)
		return failure_set(err, STATUS_USAGE, -1, "", "$RINGUP_SECRET_FILE %s: %s", path,
				   strerror(error));
	while (got > 0 && text[got - 1] == '\n')
		got--;
	rc = secret_set(secret, text, (size_t)got);
	hmac_wipe(text, sizeof(text));
	if (rc == 0)
		return 0;
	return failure_set(err, STATUS_USAGE, -1, "",
			   "$RINGUP_SECRET_FILE %s: 1 to %d bytes of text are needed", path,
			   SECRET_BYTES - 1);
}

/* The environment is readable as /proc/PID/environ, and stands in core dumps: the secret does not stay
 * there. */
static int take_secret(struct options *options, struct failure *err)
{
	char *secret = getenv("RINGUP_SECRET");
	const char *path = getenv("RINGUP_SECRET_FILE");
	int rc = 0;

	if (secret && *secret) {
		secret_guard();
		rc = secret_set(&options->secret, secret, strlen(secret));
		hmac_wipe(secret, strlen(secret));
		unsetenv("RINGUP_SECRET");
	} else if (path && *path) {
		secret_guard();
		return read_secret(path, &options->secret, err);
	}
	if (rc < 0)
		return failure_set(err, STATUS_USAGE, -1, "",
				   "$RINGUP_SECRET is longer than %d bytes", SECRET_BYTES - 1);
	return 0;
}

/* Whether @launcher started this process. */
static bool environment_is_from(const struct launcher *launcher)
{
	return environment_number_of(launcher->rank) >= 0 &&
	       (!launcher->mark || getenv(launcher->mark));
}

/* Whether MPI would find its ranks there. A batch script of Slurm is no step. */
static bool environment_is_mpi(const struct launcher *launcher)
{
	return launcher->is_mpi && (!launcher->step || getenv(launcher->step));
}

/* Makes the run that of this process's part alone. */
static int environment_split(struct options *options, int process, int procs, struct failure *err)
{
	int first, place = 0, count = 0, other;

	if (options->root_host[0] != '\0' || strcmp(options->backend, "mpi") == 0)
		return failure_set(
			err, STATUS_USAGE, -1, "",
			"NCCL_TESTS_SPLIT does not go with --root nor with --backend mpi");
	options->processes = options->world / procs;
	perf_color(options->split, process, &options->color);
	perf_color(options->split, 0, &first);
	for (int p = 0; p < options->processes; p++) {
		perf_color(options->split, p, &other);
		count += other == options->color;
		place += other == options->color && p < process;
	}
	options->world = count * procs;
	options->rank = place * procs;
	if (options->color != first) {
		options->silent = options->quiet = true;
		options->json = false;
		options->output_file[0] = '\0';
	}
	return 0;
}

static int environment_take(const struct launcher *launcher, struct options *options,
			    struct failure *err)
{
	int procs = options->procs > 0 ? options->procs : 1;
	int rank = environment_number_of(launcher->rank);
	bool here;

	if (options->world < 0) {
		options->world = environment_number_of(launcher->world);
		options->world =
			options->world > WORLD_MAX / procs ? WORLD_MAX + 1 : options->world * procs;
	}
	if (options->world > WORLD_MAX)
		return failure_set(err, STATUS_USAGE, -1, "",
				   "%s=%s with %d ranks each are more than %d ranks",
				   launcher->world, getenv(launcher->world), procs, WORLD_MAX);
	if (options->world < 1)
		return failure_set(
			err, STATUS_USAGE, -1, "",
			"%s says that this is rank %d, but not of how many: set %s or --world",
			launcher->rank, rank, launcher->world);
	here = all_here(launcher, options);
	options->rank = rank * procs;
	if (options->split[0] != '\0' && environment_split(options, rank, procs, err) < 0)
		return -1;
	if (options->root_host[0] == '\0' && options->world > procs)
		return find_root(launcher, options, here, err);
	return 0;
}

int environment_apply(struct options *options, struct failure *err)
{
	int procs = options->procs > 0 ? options->procs : 1;
	/* --procs without --world are all ranks; -g and -t are those of one process of MPI's, if there are more */
	bool here = options->world < 0 && options->procs > 0;
	bool joins = here && (options->gpus > 0 || options->threads > 0);

	if (take_secret(options, err) < 0)
		return -1;
	if (options->rank >= 0 || (options->world >= 0 && options->world <= procs) ||
	    (here && !joins))
		return 0;
	for (int i = 0; i < LAUNCHERS; i++)
		if (environment_is_from(&launchers[i]) &&
		    (!joins || environment_is_mpi(&launchers[i])))
			return environment_take(&launchers[i], options, err);
	return 0;
}
