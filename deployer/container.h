/* SPDX-License-Identifier: MIT */
/*
 * container.h - what one host's container must be, from the cluster file and what the probe saw, and
 * the hash that tells whether the one that runs was made from the same wish. How an engine spells
 * it is the engine's (engine/engine.h).
 */
#ifndef DEPLOYER_CONTAINER_H
#define DEPLOYER_CONTAINER_H

#include "deployer/bringup.h"

struct container {
	struct container_wish wish;
	const char *config_hash; /* of the wish's words without itself, and of sshd's place; "" for
				  * an engine without containers */
	const char *config_folder;	   /* where the engine's login is kept while it is needed */
	const char *ca_path;		   /* where the registry's CA goes; "" when nowhere */
	const struct engine_value *values; /* for engine_expand with the engine's records */
};

/* Everything lives in the member's arena. */
void container_describe(struct member *member, const struct bringup *bringup,
			struct container *container);

/* One of the engine's fixed commands, expanded. */
const char *const *container_words(struct member *member, const struct container *container,
				   const char *const *pattern);

/* The words that start it; only for an engine that has containers. */
const char *const *container_run_words(struct member *member, const struct container *container);

#endif
