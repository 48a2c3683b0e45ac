/* SPDX-License-Identifier: MIT */
/*
 * container.h - what one host's container must be, from the cluster file and the probe. A hash
 * tells whether the running container was made from the same wish. Each engine turns the wish into
 * its own words (engine/engine.h).
 */
#ifndef DEPLOYER_CONTAINER_CONTAINER_H
#define DEPLOYER_CONTAINER_CONTAINER_H

#include "deployer/bringup/bringup.h"

struct container {
	struct container_wish wish;
	/*
	 * Hash of the engine's words for the wish (without this hash) and of sshd's address and port.
	 * "" for an engine without containers.
	 */
	const char *config_hash;
	const char *settings;  /* "shm_size=512m env=1a2b3c4d ...": for container_changes */
	struct words left_out; /* what the host's engine does not allow, as abilities_trim has it */
	const char *config_folder;	   /* where the engine's login is kept while it is needed */
	const char *ca_path;		   /* where the registry's CA goes; "" when nowhere */
	const struct engine_value *values; /* for engine_expand with the engine's records */
};

/* Everything lives in the member's arena. */
void container_describe(struct member *member, const struct bringup *bringup,
			struct container *container);

/*
 * Adds what the probed container has otherwise than the wish: "image A -> B", "container.shm_size 512m ->
 * 256m", "container.env". The label org.ringup.settings of the container tells; one that an earlier
 * ringup made has none, and then "its configuration" is all that is known.
 */
void container_changes(struct member *member, const struct container *container, struct words *out);

/* One of the engine's fixed commands, expanded. */
const char *const *container_words(struct member *member, const struct container *container,
				   const char *const *pattern);

/*
 * The words that remove the probed container. They name it by its id: somebody else may have made
 * another one of the same name since.
 */
const char *const *container_remove_words(struct member *member);

/* Whether it runs, and the engine would leave it stopped after a restart of its own or a boot. */
bool member_lacks_keep(const struct member *member);

/* The words after which the engine starts the same container again by itself. */
const char *const *container_keep_words(struct member *member);

/* The words that start it; only for an engine that has containers. */
const char *const *container_run_words(struct member *member, const struct container *container);

#endif
