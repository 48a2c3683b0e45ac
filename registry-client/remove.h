/* SPDX-License-Identifier: MIT */
/*
 * remove.h - taking images out of a registry.
 *
 * Source: OCI distribution-spec 1.1, "Deleting tags" and "Deleting Manifests". A registry may
 * refuse either. Distribution 2.8 deletes by digest alone, which takes every tag of that digest
 * with it: that is done only when there is no other tag, or when `all_tags` says so. Blobs stay
 * until the registry's garbage collection.
 */
#ifndef REGISTRY_CLIENT_REMOVE_H
#define REGISTRY_CLIENT_REMOVE_H

#include "plan/reference.h"
#include "registry-client/registry.h"

struct removed {
	bool by_digest;	    /* the manifest went, not a tag alone */
	const char *digest; /* of what it was; in the arena */
};

/*
 * With a digest in the reference: the manifest, and with it every tag that names it. With a tag:
 * that tag. An entry in its subject's list of referrers goes too.
 */
int registry_remove(struct registry *registry, const struct reference *ref, bool all_tags,
		    struct arena *arena, struct removed *removed, struct error *err);

#endif
