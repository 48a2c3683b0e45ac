/* SPDX-License-Identifier: MIT */
/*
 * manifest.h - descriptors and image manifests.
 *
 * Sources: OCI image-spec 1.1 (descriptor.md, manifest.md), Docker image manifest v2 schema 2.
 */
#ifndef OCI_MANIFEST_H
#define OCI_MANIFEST_H

#include "core/digest.h"
#include "core/json.h"
#include "oci/limits.h"

#define MEDIA_OCI_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define MEDIA_OCI_INDEX "application/vnd.oci.image.index.v1+json"
#define MEDIA_OCI_CONFIG "application/vnd.oci.image.config.v1+json"
#define MEDIA_OCI_LAYER_GZIP "application/vnd.oci.image.layer.v1.tar+gzip"
#define MEDIA_OCI_LAYER_ZSTD "application/vnd.oci.image.layer.v1.tar+zstd"
#define MEDIA_OCI_LAYER "application/vnd.oci.image.layer.v1.tar"
#define MEDIA_DOCKER_MANIFEST "application/vnd.docker.distribution.manifest.v2+json"
#define MEDIA_DOCKER_INDEX "application/vnd.docker.distribution.manifest.list.v2+json"

/* Names a blob by its content. It holds its texts itself, so it may be copied freely. */
struct descriptor {
	char media_type[MEDIA_TYPE_BYTES];
	char digest[DIGEST_TEXT_BYTES];
	uint64_t size_bytes;
};

/* An image manifest (of one platform). */
struct manifest {
	char media_type[MEDIA_TYPE_BYTES];
	struct descriptor config;
	struct descriptor *layers; /* from the lowest up; in the arena */
	size_t layer_count;
};

/*
 * Reads {"mediaType", "digest", "size"}; `what` names it in the error. The size is a promise of
 * whoever wrote the document, never the length of a buffer: descriptor_check compares the two.
 */
int descriptor_parse(const cJSON *json, const char *what, struct descriptor *descriptor,
		     struct error *err);

/*
 * Whether these bytes are what the descriptor names: first their number, then their digest. `what`
 * names them in the error. Whoever hands bytes on together with a descriptor from a document calls
 * this first, so that from there on size_bytes is the length.
 */
int descriptor_check(const struct descriptor *descriptor, const char *bytes, size_t length,
		     const char *what, struct error *err);

/* An error above BLOB_BYTES_MAX; for whoever is about to move it. */
int blob_check_size(const struct descriptor *blob, struct error *err);

/* An error when two descriptors of one blob say different sizes. */
int blob_same_size(const struct descriptor *known, const struct descriptor *other,
		   struct error *err);

/* The JSON object of a descriptor. */
cJSON *descriptor_json(const struct descriptor *descriptor);

/*
 * Reads an OCI or Docker image manifest; `what` names it in the error ("manifest of lab/train").
 * An index, schema 1 and more than LAYERS_MAX layers are errors.
 */
int manifest_parse(const char *bytes, size_t length, const char *what, struct arena *arena,
		   struct manifest *manifest, struct error *err);

/* Whether the media type is that of an index (OCI) or a manifest list (Docker). */
bool media_is_index(const char *media_type);

/* Whether it is that of an image manifest, OCI or Docker. */
bool media_is_manifest(const char *media_type);

/*
 * The media type of a manifest or an index by its own JSON: its mediaType, or OCI's by its members
 * where it has none. NULL: it is neither. Borrowed from the document, or static.
 */
const char *manifest_media_type(const cJSON *json);

/* The bytes of the manifest: always the same for the same content. In the arena. */
const char *manifest_write(const struct manifest *manifest, struct arena *arena);

#endif
