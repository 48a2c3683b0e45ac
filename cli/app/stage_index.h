/* SPDX-License-Identifier: MIT */
/*
 * stage_index.h - the images of a cluster of two processors, as one OCI index in its registry: each host's
 * engine takes its own of the two from the index's digest.
 */
#ifndef CLI_APP_STAGE_INDEX_H
#define CLI_APP_STAGE_INDEX_H

#include "cli/app/stage_push.h"

/*
 * Builds what this machine can build and takes the other image from the store, where 'build --on' has put
 * it; pushes both, and the index under the reference's tag, and sets the reference's digest. An image that is
 * in neither place is an error that names a host which could build it.
 */
int stage_index_push(struct stages *stages, struct registry *registry, struct error *err);

/* The same as an OCI layout in the folder, under that name. */
int stage_index_write(struct stages *stages, const char *folder, const char *name,
		      struct descriptor *index, struct error *err);

/* Names of the cluster's hosts of that processor, as far as it is known: "g01, g02"; or "". */
const char *stage_index_hosts(const struct stages *stages, const char *arch);

#endif
