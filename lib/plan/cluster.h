/* SPDX-License-Identifier: MIT */
/*
 * cluster.h - cluster.yaml as a struct: what the person asks for.
 *
 * Text is never NULL unless a comment says so; lists are NULL-terminated and never NULL. Everything
 * lives in the arena that cluster_load was given. Paths are relative to the file's folder;
 * cluster_path makes them absolute.
 */
#ifndef PLAN_CLUSTER_H
#define PLAN_CLUSTER_H

#include "core/words.h"
#include "core/yaml_rows.h"

#define CLUSTER_HOSTS_MAX 4096
#define JOB_NAME_BYTES_MAX 60
#define JOB_NAME_GIVEN_MAX \
	(JOB_NAME_BYTES_MAX - 5) /* by a person: "-9999" follows where the name is taken */
#define JOB_GRACE_MAX_S 3600	 /* ringup-job --grace takes no more */

struct host {
	const char *name;    /* as in the file; tables and errors print it */
	const char *address; /* to connect to */
	const char *user;
	int port;
	int slots;	  /* ranks started on it; 0: as many as GPUs, or 1 */
	const char *gpus; /* what gpu_wish.h reads, or "" for container.gpus */
	const char *arch; /* "" unless pinned */
	const char *key;  /* private key file, of the host or of `ssh` */
	const char *jump; /* "" or "none": it is reached directly */
	bool sudo;
	/* The file says it, for the host or in `ssh`. Where it does not, ~/.ssh/config may. */
	bool user_given, port_given, key_given, jump_given;
};

struct cluster_ssh {
	const char *user, *key, *known_hosts;
	const char *jump; /* "" when none */
	bool sudo;
	const char *transport; /* auto, libssh2, openssh */
	int keep_s;	       /* a connection stays open that long for the next command; 0: not */
	const char *config;    /* a file like ~/.ssh/config, or none */
	bool user_given, key_given, known_hosts_given, jump_given;
};

struct cluster_registry {
	const char *address; /* "" when the file names none */
	const char *namespace;
	const char *ca; /* "" : the system's own authorities */
	bool insecure;
};

struct cluster_file {
	const char *from, *to;
};

/* What one image may unpack to on this machine (oci/budget.h). */
struct cluster_limits {
	const char *unpacked; /* auto, or a size (parse_bytes) */
	int entries;
};

struct cluster_image {
	const char *name, *base;
	const char *size; /* full, or small: without what only compiles at run time */
	const char *const *apt, *const *yum; /* packages for the OS's package manager */
	const char *const *pip, *const *env, *const *platforms;
	size_t file_count;
	struct cluster_file *files;
	struct cluster_limits limits;
};

/* Where the image is built. */
struct cluster_build {
	const char *engine;	 /* auto, or the name of a backend */
	const char *docker_host; /* DOCKER_HOST for the build; "" for the engine's own default */
	const char *userns;	 /* of the native engine's steps: auto, always or never */
	const char *ca; /* certificates for downloads of the steps, a file; "": those of the OS */
};

/* The image's way to the hosts, and its stay there. */
struct cluster_images {
	int keep;	      /* versions that a host keeps; 0: all */
	const char *transfer; /* registry, or ssh: from here, over the connection */
	int seeds;	      /* so many of the hosts serve the image to the others */
};

struct cluster_mirrors {
	const char *apt, *yum, *pip, *pytorch, *docker, *downloads; /* "" when none */
};

struct cluster_container {
	const char *engine;    /* auto, or the name of an engine */
	const char *sshd_port; /* a number, auto or none (cluster_sshd_port) */
	const char *gpus;
	const char *const *capabilities;
	const char *network, *interface, *shm_size, *devices;
	const char *memory, *cpus; /* "" for no limit */
	const char *const *volumes, *const *env, *const *ulimits;
	const char *const *required; /* what no host may leave out: a limit's name, rdma, all */
	bool privileged;
};

/* A training job that the file describes; 0 and "" where it says nothing. */
struct cluster_job {
	const char *name;
	const char *const *command; /* never empty */
	bool in_shell;		    /* the command is one text, for a shell */
	const char *launcher;	    /* auto, or the name of a launcher */
	const char *roles;	    /* as --roles has them */
	const char *const *hosts, *const *env;
	const char *workdir, *sync;
	int ranks, per_host, gpus;
	bool hang_idle;
	int timeout_s, hang_timeout_s, start_timeout_s, grace_s, retries;
};

struct cluster {
	const char *name;
	const char *path;   /* of the file */
	const char *folder; /* the folder of the file */
	size_t host_count;
	struct host *hosts;
	const char *const *groups; /* "NAME=SET", for "@NAME" in a set of hosts (host_set.h) */
	struct cluster_ssh ssh;
	struct cluster_registry registry;
	const char *const *stack;
	bool has_stack;		  /* false: the file has no `stack`, and everything is resolved */
	const char *const *allow; /* ids of rules that may be broken */
	const char *accelerator;  /* auto, cuda, cpu */
	struct cluster_mirrors mirrors;
	struct cluster_image image;
	struct cluster_images images;
	struct cluster_build build;
	struct cluster_container container;
	size_t job_count;
	struct cluster_job *jobs;
};

/*
 * Every key of the file: its kind, default and meaning, and where it goes in struct cluster. A new
 * key is a member of a struct above, a row in cluster.c and a line in docs/cluster.yaml.md.
 */
extern const struct yaml_row cluster_rows[];

/* The keys of one job, which go to struct cluster_job (cluster_job.c). */
extern const struct yaml_row cluster_job_rows[];

/* Whether the text may be a job's name: letters, digits, '.', '_' and '-'. */
bool job_name_is_right(const char *name);

/* ERROR_USAGE unless a person may give a job that name. */
int job_name_check(const char *name, struct error *err);

/* The job of that name, or NULL. */
const struct cluster_job *cluster_job(const struct cluster *cluster, const char *name);

/*
 * Reads and checks the file. Every error is ERROR_USAGE and begins with file:line:column; unknown
 * keys name the nearest known one.
 */
int cluster_load(const char *path, struct arena *arena, struct cluster *cluster, struct error *err);

/*
 * A cluster without hosts and with all defaults, for commands that need no file. `path` is where
 * the file would be.
 */
void cluster_init(const char *path, struct arena *arena, struct cluster *cluster);

/* Whether ringup adds no stack: the file has an empty `stack`, and `image.base` names an image. */
bool cluster_has_no_stack(const struct cluster *cluster);

#define CLUSTER_SSHD_PORT_FIRST 9435 /* `auto` begins here */
#define CLUSTER_SSHD_PORTS 100	     /* and tries so many */

/* The containers' sshd port where the file has a number; 0 for auto and none. */
int cluster_sshd_port(const struct cluster *cluster);

/* Whether the containers have an sshd: not with `sshd_port: none`. */
bool cluster_has_sshd(const struct cluster *cluster);

/* A path from the file: "~/" is expanded, and a relative path is relative to the file's folder. */
const char *cluster_path(const struct cluster *cluster, const char *path, struct arena *arena);

/* .ringup/RELATIVE beside the file: keys, facts, journal, last report. */
const char *cluster_state_path(const struct cluster *cluster, const char *relative,
			       struct arena *arena);

/* A host that is not in the file: the defaults of an entry of `hosts`, without an address. */
void cluster_init_host(const struct cluster *cluster, struct arena *arena, struct host *host);

/* The host with this name or address, or NULL. */
const struct host *cluster_host(const struct cluster *cluster, const char *name);

/*
 * A host as the command line names it: a host of the file by its name or address, or
 * "[USER@]ADDRESS[:PORT]" ("[IPV6]:PORT"), for which the file's `ssh` gives the rest. ERROR_USAGE
 * when it is neither.
 */
int cluster_host_named(const struct cluster *cluster, const char *text, struct arena *arena,
		       struct host *host, struct error *err);

/*
 * Whether the word is allowed as a name, an address or a user, which become parts of paths and
 * command lines.
 */
bool cluster_host_word(const char *word);

#endif
