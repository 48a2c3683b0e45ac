/* SPDX-License-Identifier: MIT */
/*
 * export.h - a job and its cluster as files for an engine that ringup does not drive itself: a scheduler, an
 * orchestrator, Compose. Each engine is a const record in export_NAME.c, found by its file's name.
 *
 * The files are what a person would keep in git: short, commented, the image by digest, no secret, and the same
 * bytes each time. Nothing is asked and nothing is written here; text lives in the arena of the wish.
 */
#ifndef DEPLOYER_EXPORT_EXPORT_H
#define DEPLOYER_EXPORT_EXPORT_H

#include "core/str.h"
#include "deployer/job/plan.h"
#include "deployer/scheduler/overview.h"
#include "deployer/scheduler/scheduler.h"
#include "plan/plan.h"

#define EXPORT_FILES_MAX 16
#define EXPORT_NODES_MAX 10000

/* One of an exporter's own settings: `--set NAME=VALUE`. */
struct export_setting {
	const char *name, *help;
	const char *otherwise; /* the value where nobody says one; "": what it is for is left out */
};

/* All that an exporter may know. Text is never NULL; lists are NULL-terminated. */
struct export_wish {
	struct arena *arena;
	const struct cluster *cluster;
	const struct plan *plan; /* of ringup.lock; NULL: the image brings a stack of its own */
	const char *image;	 /* HOST/PATH@sha256:...; "" with container.engine none */
	const struct facts
		*facts; /* what the last probe said of the hosts; none where nobody has probed */
	size_t fact_count;
	/* name, launcher, command, env, workdir, roles, gpus and the limits of time: as `ringup run` has them */
	struct job_options job;
	int retries; /* how often a failed job is started again */
	bool is_followed; /* somebody reads what it prints, rank by rank, and not the logs of its nodes */
	bool is_worker; /* the command is ringup's own worker, which needs $RINGUP_SECRET for all ranks */
	int nodes, per_node, world; /* world may be less than nodes * per_node */
	int gpus_per_node;	    /* that the container of a node gets; 0: none */
	double cpus;		    /* that the ranks of a container share; 0: nobody says it */
	const char *kind;	    /* one of the exporter's; NULL: it chooses */
	/* how the engine's files spell a text that means itself; NULL: as it is */
	const char *(*escape)(const char *text, struct arena *arena);
	const char *const *settings; /* NAME=VALUE, all of them known to the exporter */
	const char
		*origin; /* the command line that writes the files again, for their first comment */
};

struct export_file {
	const char *name; /* without a folder */
	const char *text;
};

struct export_files {
	struct export_file list[EXPORT_FILES_MAX];
	size_t count;
};

struct exporter {
	const char *name, *help;
	const char *const *kinds; /* that --kind takes, NULL-terminated; NULL: there are none */
	const struct export_setting *settings; /* the last one has no name */
	bool needs_image;		       /* it has no way to run the job without containers */
	bool is_one_node;
	/*
	 * Adds its files. The first one is what is printed without -o, and must do by itself. ERROR_USAGE says what
	 * cannot be expressed, and what to take instead.
	 */
	int (*write)(const struct export_wish *wish, struct export_files *files, struct error *err);
	/* ERROR_USAGE for what `write` can express and `submit` cannot; not NULL where submit is not. */
	int (*check_run)(const struct export_wish *wish, struct error *err);
	/*
	 * For `ringup run --on`: hands the job to the engine, which then runs it without ringup, as a job of scheduled.h. The
	 * folder is the one of its record. *id is the engine's name of it. NULL: ringup only writes files for this engine.
	 */
	int (*submit)(struct export_wish *wish, const char *folder, const char **id,
		      struct error *err);
	const struct scheduler *scheduler; /* follows that job; not NULL where submit is not */
	/*
	 * The nodes and queues there, for `ringup status --on`; not NULL where submit is not. Of the wish only arena and settings
	 * count. ERROR_USAGE for a setting that does not say which cluster is asked.
	 */
	int (*look)(const struct export_wish *wish, struct scheduler_overview *overview,
		    struct error *err);
};

/* All exporters, NULL-terminated. */
extern const struct exporter *const exporters[];

/* ERROR_USAGE lists the known ones. */
int exporter_find(const char *name, const struct exporter **exporter, struct error *err);

/* ERROR_USAGE when the exporter does not know the kind or a setting; each names those that there are. */
int export_check(const struct exporter *exporter, const struct export_wish *wish,
		 struct error *err);

/*
 * Fills nodes, per_node, world and gpus_per_node. With nodes 0 the job's ranks and ranks per node say together how many there
 * are. Where it has not both, the hosts of the cluster file say it, as they do for `ringup run`: the ranks go host by host, each
 * up to --ppn, its slots, or one per GPU. With nodes given the ranks per node are per_host, or those of the first host.
 * ERROR_USAGE when the numbers do not fit, and for a working folder that no container can have.
 */
int export_place(struct export_wish *wish, struct error *err);

/*
 * For an engine of one machine, before export_place: a job that has more than one node by its own keys becomes what one of them has.
 * Returns how many ranks the whole job has, or 0 where all of them are here. Roles stay together.
 */
int export_take_one_node(struct export_wish *wish);

/* ERROR_USAGE unless all settings of the wish are among the names; "": none is. For exporter.look. */
int export_check_look(const struct export_wish *wish, const char *const *names, struct error *err);

/* The value of a setting: that of the wish, or what the exporter says otherwise. */
const char *export_value(const struct exporter *exporter, const struct export_wish *wish,
			 const char *name);

/* Whether the person gave the setting a value, and all values of one that may be given again, or what stands for them. */
bool export_is_set(const struct export_wish *wish, const char *name);
const char *const *export_values(const struct exporter *exporter, const struct export_wish *wish,
				 const char *name);

/* Adds a file; the text is copied. */
void export_add(const struct export_wish *wish, struct export_files *files, const char *name,
		const char *text);

/*
 * NAME=VALUE for every rank: of the lock, `container.env` and the job, the later one of two with the same name
 * only. Values are spelled as export_text does. The image has its own besides.
 */
const char *const *export_env(const struct export_wish *wish);

/*
 * Warns of variables whose names say that they are secrets (WANDB_API_KEY, HF_TOKEN): their values stand in the files, which people keep
 * in git. A name that ends in FILE, PATH or DIR only says where one is.
 */
void export_warn_of_secrets(const struct exporter *exporter, const struct export_wish *wish);

/* Those of the pairs whose names the job and `container.env` do not have: what a person says counts, and a name stands there once. */
const char *const *export_own_env(const struct export_wish *wish, const char *const *pairs);

/*
 * The variables of deployer/job/defaults.h whose names the job and `container.env` do not have. `threads` as there. The ranks of
 * ringup's worker need none.
 */
const char *const *export_defaults(const struct export_wish *wish, const char *threads);

/* The threads of each of the ranks that share a container's `cpus`; NULL: nobody says how many those are. */
const char *export_threads(const struct export_wish *wish, int ranks);

/* The text, or all of a list, as the engine's files spell it (wish->escape). */
const char *export_text(const struct export_wish *wish, const char *text);
const char *const *export_words(const struct export_wish *wish, const char *const *words);

/*
 * The job's command, as it is spelled. What a shell runs for a text of cluster.yaml is given the time for its checkpoint: the shell
 * ends with it, and not at once with TERM. With `hands_on` the shell is the only one that gets the engine's TERM, and what it runs gets
 * it from the shell.
 */
const char *const *export_command(const struct export_wish *wish, bool hands_on);

/* The products of the hosts' GPUs as nvidia-smi names them, each once, in the order of the hosts. */
const char *const *export_products(const struct export_wish *wish);

/* A volume as Docker writes it, "SOURCE:TARGET" or "SOURCE:TARGET:OPTION,OPTION". */
struct export_volume {
	const char *source, *target; /* in the arena */
	bool is_name;		     /* the source is a name, and no path */
	bool is_read_only;
};
struct export_volume export_volume(const char *text, struct arena *arena);

/* Whether the probe saw RDMA devices, and the cluster file lets containers have them. */
bool export_has_rdma(const struct export_wish *wish);

#define EXPORT_NAME_MAX 44

/*
 * The name as a DNS label (RFC 1035), which names of pods, services and Compose projects must be: small letters, digits and
 * '-', a letter first, 1 to EXPORT_NAME_MAX of them, so that an engine can put its own ending behind it: pods have 63, and JobSet adds
 * "-node-0-1023-" and five more. A longer name is cut, and ends with digits of its checksum.
 */
const char *export_dns_name(const char *name, struct arena *arena);

/* The command as one comment line: quoted as for a shell, without control characters. */
const char *export_line(const char *const *words, struct arena *arena);

#endif
