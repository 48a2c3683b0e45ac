/* SPDX-License-Identifier: MIT */
/*
 * container.h - what one host's container must look like: its words, and the hash that tells
 * whether the one that runs was made from the same.
 */
#ifndef DEPLOYER_ENGINE_CONTAINER_H
#define DEPLOYER_ENGINE_CONTAINER_H

#include "deployer/bringup.h"

struct container {
	const char *config_hash;	   /* of the run words without itself, and sshd's place */
	const char *config_folder;	   /* where the engine's login is kept while it is needed */
	const char *ca_path;		   /* where the registry's CA goes; "" when nowhere */
	const struct engine_value *values; /* for engine_expand with the engine's records */
};

/* Everything lives in the member's arena. */
void container_describe(struct member *member, const struct bringup *bringup,
			struct container *container);

/* One of the engine's records, expanded. */
const char *const *container_words(struct member *member, const struct container *container,
				   const char *const *pattern);

#endif
