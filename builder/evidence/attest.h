/* SPDX-License-Identifier: MIT */
/*
 * attest.h - what is in an image, and what it was made from: an SPDX document and a SLSA
 * provenance, as artifacts of the same layout that refer to the image.
 *
 * The same image gives the same bytes: no time of the build, no name of the machine. Sources:
 * SPDX 2.3 (JSON); in-toto Statement v1 with SLSA provenance v1; OCI image-spec 1.1, manifest.md,
 * "Guidelines for Artifact Usage"; package-url for the names of packages.
 */
#ifndef BUILDER_EVIDENCE_ATTEST_H
#define BUILDER_EVIDENCE_ATTEST_H

#include "builder/evidence/inventory.h"
#include "resolver/resolve.h"
#include "plan/spec.h"

#define MEDIA_SPDX "application/spdx+json"
#define MEDIA_IN_TOTO "application/vnd.in-toto+json"
#define MEDIA_EMPTY "application/vnd.oci.empty.v1+json"

struct attest_input {
	const char *name; /* of the image: "lab/train" */
	const char *layout;
	const struct descriptor *manifest;
	const struct spec *spec;
	const struct plan *plan;
	int64_t created_s;
	const char *cache_folder; /* inventory.h */
	const struct budget_limits *limits;
};

/* The documents, as JSON text in the arena. */
int sbom_write(const struct attest_input *input, struct arena *arena, const char **text,
	       struct error *err);
const char *provenance_write(const struct attest_input *input, struct arena *arena);

/* Puts both into the layout, with a manifest each whose subject is the image. */
int attest_put(const struct attest_input *input, struct arena *arena, struct descriptor *sbom,
	       struct descriptor *provenance, struct error *err);

#endif
