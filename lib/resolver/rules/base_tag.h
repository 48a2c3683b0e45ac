/* SPDX-License-Identifier: MIT */
/*
 * base_tag.h - what the catalog knows about an image name that a person gave as the base: tags of
 * NVIDIA's CUDA images that were deleted or never existed, and the rows of conflicts.csv on
 * `image`.
 */
#ifndef RESOLVER_RULES_BASE_TAG_H
#define RESOLVER_RULES_BASE_TAG_H

#include "resolver/catalog.h"

struct base_tag {
	bool refused;	     /* it cannot be pulled; false: it can, and there is a warning */
	const char *because; /* NULL: there is nothing to say */
	const char *source;
	const char *id;	     /* of the rule that refuses it (allow.h) */
	const char *instead; /* an image name that can be pulled, or NULL */
};

/*
 * `name` is as after FROM: "nvidia/cuda:10.2-devel-ubuntu18.04". Other repositories and names with
 * a digest are accepted. So are tags without a row in the catalog for which it has no better one.
 */
void base_tag_check(const struct catalog *catalog, const char *name, struct arena *arena,
		    struct base_tag *tag);

/* The CUDA of such a name, "10.2"; "" of other repositories, and where the tag says none. */
const char *base_tag_cuda(const char *name, struct arena *arena);

#endif
