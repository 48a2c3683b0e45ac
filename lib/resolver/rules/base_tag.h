/* SPDX-License-Identifier: MIT */
/*
 * base_tag.h - what the catalog knows of an image name that somebody gave as the base: tags of
 * NVIDIA's CUDA images that are gone or never were, and the rows of conflicts.csv on `image`.
 */
#ifndef RESOLVER_RULES_BASE_TAG_H
#define RESOLVER_RULES_BASE_TAG_H

#include "resolver/catalog.h"

struct base_tag {
	bool refused;	     /* it cannot be pulled; false: it can, and something is to be said */
	const char *because; /* NULL: nothing is to be said */
	const char *source;
	const char *instead; /* an image name that can be pulled, or NULL */
};

/*
 * `name` as it stands behind FROM: "nvidia/cuda:10.2-devel-ubuntu18.04". Other repositories, a name
 * with a digest, and tags that the catalog has no row of and no better one for, are let through.
 */
void base_tag_check(const struct catalog *catalog, const char *name, struct arena *arena,
		    struct base_tag *tag);

#endif
