/* SPDX-License-Identifier: MIT */
/*
 * engine.h - a container engine on the hosts: one const record of word arrays, in engine_NAME.c.
 *
 * In a word "@{name}" is replaced by a value; a word that is exactly "@name" becomes as many words
 * as the list of that name has, also none. Nothing here is ever parsed by a shell.
 */
#ifndef DEPLOYER_ENGINE_ENGINE_H
#define DEPLOYER_ENGINE_ENGINE_H

#include "core/words.h"

#define ENGINE_ALIVE 124 /* timeout's status (GNU coreutils) when the command did not end */

struct engine {
	const char *name, *help;
	bool has_containers;	      /* false: workers run on the host itself */
	const char *trust_folder;     /* the registry's CA goes to TRUST_FOLDER/REGISTRY/ca.crt */
	const char *const *probe;     /* prints the server's version */
	const char *const *data_root; /* prints the folder that images are kept in */
	const char *const *state;     /* prints id, running, exit code, config, image, start time */
	const char *const *outlive;   /* status ENGINE_ALIVE: it ran for a moment more */
	const char *const *has_image; /* status 0 when @{image} is there */
	const char *const *pull;      /* @{config}: a folder with Docker's config.json, or empty */
	const char *const *run, *const *remove;
	const char *name_taken; /* in the error of `run` when there is a container of that name */
	const char *const *images;	 /* prints the ids of all images of @{repository} */
	const char *const *remove_image; /* of the id @{image}, if no other container uses it */
	const char *const *logs;	 /* @{tail} lines */
	const char *const *exec;	 /* the words to run follow */
	/*
	 * A server of ours in a container that starts again by itself, and a task beside it that
	 * ends: @{container}, @{label}, @{image}, @{program} in it, @options (volumes, environment)
	 * and @arguments. NULL: it cannot.
	 */
	const char *const *serve, *const *task;
};

/* All engines, NULL-terminated. */
extern const struct engine *const engines[];

/* NULL when there is none of that name. */
const struct engine *engine_find(const char *name);

struct engine_value {
	const char *name;
	const char *text;	  /* for "@{name}" */
	const char *const *words; /* for "@name" */
};

/* Expands the pattern with the values (ended by name NULL) onto `out`. An unknown name aborts. */
void engine_expand(const char *const *pattern, const struct engine_value *values,
		   struct words *out);

#endif
