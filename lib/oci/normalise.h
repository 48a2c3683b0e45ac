/* SPDX-License-Identifier: MIT */
/*
 * normalise.h - an engine's layer without what differs from build to build.
 *
 * Times later than a given one become that, in whole seconds; access and change times and the names
 * of owners go. All else stays, in its order.
 */
#ifndef OCI_NORMALISE_H
#define OCI_NORMALISE_H

#include "core/digest.h"
#include "core/json.h"
#include "oci/layer/packer.h"

/* Where the layer's tar comes from: the next piece; *length 0 at the end. */
typedef int normalise_source(void *arg, const void **bytes, size_t *length, struct error *err);

/*
 * Reads a tar to its end and gives what it becomes to the packer, in which a layer was begun.
 * `plain`: the bytes that were read, so that they can be checked. Entries count in the `budget` of the
 * image, and so does what holes become; NULL: it has one of its own, with defaults.
 */
struct budget;
int layer_normalise(normalise_source *next, void *arg, int64_t newest_s, struct packer *packer,
		    struct budget *budget, char plain[static DIGEST_TEXT_BYTES], struct error *err);

/*
 * The same for a config: "created" and the history's times become `created_s`, and what tells of
 * the machine that built it (a container's id and name, the engine's version) or of how the context
 * came to it (the checksums of COPY) goes.
 */
void config_normalise(cJSON *config, int64_t created_s);

/* Seconds since 1970 as RFC 3339. */
void config_time(int64_t seconds, char text[static 40]);

#endif
