/* SPDX-License-Identifier: MIT */
/*
 * engine.h - a container engine on the hosts: one const record per engine, in engine_NAME.c.
 *
 * An engine owns its spelling. What a container must be is data (struct container_wish); the record
 * turns it into the engine's words, explains the engine's failures and says how to install it. No
 * other file knows an engine by its name, so a new engine is one new file.
 *
 * The fixed commands of a record are word arrays. In a word, "@{name}" is replaced by a value. A
 * word that is exactly "@name" is replaced by all words of the list of that name, which may be
 * empty. No shell parses any of it.
 */
#ifndef DEPLOYER_ENGINE_ENGINE_H
#define DEPLOYER_ENGINE_ENGINE_H

#include "core/error.h"
#include "core/words.h"
#include "deployer/engine/abilities.h"

#define ENGINE_ALIVE 124 /* timeout's status (GNU coreutils) when the command did not end */

/*
 * What a container must be. Where the engine's default is right, text is "" and a list is empty.
 * Lists are NULL-terminated and never NULL.
 */
struct container_wish {
	const char *name, *image;
	const char *network;  /* "host" */
	const char *ipc;      /* "private" */
	const char *shm_size; /* of /dev/shm: "8g" */
	const char *memory;   /* the most that it may use: "64g" */
	const char *cpus;     /* processors: "8", "0.5" */
	const char *gpus;     /* "all", or indexes or UUIDs with ',' between; "": none */
	const char *const *gpu_capabilities; /* of NVIDIA's driver: "compute", "utility" */
	const char *const *labels;	     /* NAME=VALUE */
	const char *const *env;		     /* NAME=VALUE */
	const char *const *volumes;	     /* HOST:CONTAINER or HOST:CONTAINER:OPTIONS */
	const char *const *limits;	     /* NAME=VALUE, as setrlimit(2) names them */
	const char *const *devices;	     /* host paths, the same inside */
	const char *const *capabilities;     /* to add: "IPC_LOCK" */
	const struct abilities *can;	     /* of the host's engine; never NULL */
	bool privileged;
	bool is_bound;	     /* drops all other capabilities, and no program can gain one */
	bool restarts;	     /* starts again after a failure and after a boot */
	const char *program; /* instead of the image's own entry point */
	const char *const *arguments; /* for the program, or for the image's entry point */
};

/* A wish with every member empty: the start of every other wish. */
extern const struct container_wish container_wish_empty;

/* What was tried when an engine failed. Text is "" where it is not known. */
struct engine_attempt {
	enum { ENGINE_PULLS, ENGINE_RUNS } what;
	const char *registry;  /* HOST:PORT that the image comes from */
	const char *user;      /* the user that logged in to the registry */
	const char *data_root; /* where images are kept on that host */
};

struct engine {
	const char *name, *help;
	int rank; /* container.engine `auto` takes the lowest rank; below 0: never taken */
	bool has_containers;	 /* false: workers run on the host itself */
	const char *install;	 /* how a host gets it; "" when there is nothing to install */
	const char *gpu_toolkit; /* how a host gets NVIDIA's container toolkit for it */
	bool needs_cdi; /* for GPUs: a file of NVIDIA's on the host names them (struct abilities, has_cdi) */
	const char *start; /* the command that starts its daemon; "" when it has none */
	/* what gives a login the right to talk to it; NULL when it has no daemon to refuse */
	const char *permit;
	const char *settings; /* its daemon's settings, a file of JSON; NULL when it has none */

	const char *trust_folder; /* the registry's CA goes to TRUST_FOLDER/REGISTRY/ca.crt */
	const char *const *probe; /* prints the server's version */
	/*
	 * Prints data_root, the folder that images are kept in, and what the engine says of itself, as lines that
	 * abilities_parse takes; engine_process is the process that starts containers, where it is another one.
	 */
	const char *const *abilities;
	/*
	 * Prints id, running, status, restart policy ("" or "no": none), exit code, config, settings,
	 * image, start time, and the owner (owner.h).
	 */
	const char *const *state;
	const char *const *outlive;   /* status ENGINE_ALIVE: it keeps running */
	const char *const *has_image; /* status 0 when @{image} is there */
	const char *const *pull;      /* @{config}: a folder with Docker's config.json, or empty */
	const char *const *load;      /* reads an image in Docker's format from its stdin */
	const char *const *remove;
	const char *const *stop;
	const char *const *rename; /* to @{name} */
	const char *const *resume; /* starts it again */
	const char *const *restart;
	/*
	 * From now on the engine starts it again: after a failure, a boot, its own restart. Prints "note=SENTENCE"
	 * when the host lacks what that needs.
	 */
	const char *const *keep;
	const char *const *images;	 /* prints "ID DIGEST TAG" of all images of @{repository} */
	const char *const *remove_image; /* the id @{image}, unless it is in use */
	const char *const *prune_image;	 /* the same, and a container that is stopped is a use */
	const char *const *logs;	 /* @{tail} lines */
	const char *const *exec;	 /* the words to run follow */
	const char *const *talk;	 /* the same, and their stdin is open */
	/*
	 * Stands before the words of a program of the image that needs the cluster's secret
	 * (images/entry/with-secret). @{folder} is ringup's folder on the host.
	 */
	const char *const *with_secret;
	const char
		*program_folder; /* stands before the program's name; "" for PATH, or @{folder} */

	/* Adds the words that start such a container in the background. NULL: no containers. */
	void (*run)(const struct container_wish *wish, struct words *out);
	/* The same, but the command waits for the program's end and removes the container. */
	void (*task)(const struct container_wish *wish, struct words *out);
	/* Whether the error of `run` says that there is a container of that name. */
	bool (*is_name_taken)(const struct error *err);
	/* Whether it says that the image is missing and cannot be pulled. */
	bool (*is_image_missing)(const struct error *err);
	/*
	 * Adds the meaning of an attempt's error, and what to do, if it knows the engine's message.
	 */
	void (*explain)(const struct engine_attempt *attempt, struct error *err);
};

/* All engines, NULL-terminated. */
extern const struct engine *const engines[];

/*
 * Whether an engine's message says that its daemon runs and refuses this login. Sources: recorded from Docker Engine
 * 20.10.24 and 28.2.2 with a socket of root's; Docker 29.2.1's is in github.com/chrisjbawden/cockpit-dockermanager,
 * issue 37. A socket that is not there has another message.
 */
bool engine_refuses_login(const char *message);

/* The engine of that name, or the one with the lowest rank for "auto"; NULL when there is none. */
const struct engine *engine_find(const char *name);

struct engine_value {
	const char *name;
	const char *text;	  /* for "@{name}" */
	const char *const *words; /* for "@name" */
};

/* Expands the pattern with the values (ended by name NULL) onto `out`. An unknown name aborts. */
void engine_expand(const char *const *pattern, const struct engine_value *values,
		   struct words *out);

/* The same for one word, in the arena of `out`'s list. */
const char *engine_expand_word(const char *pattern, const struct engine_value *values,
			       struct arena *arena);

#endif
