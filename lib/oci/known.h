/* SPDX-License-Identifier: MIT */
/*
 * known.h - layers whose blob is known, so that none is packed or hashed twice on this machine.
 *
 * One small file per layer in a folder of our own (0700), named by 64 hex digits: of the diffID
 * when we packed the layer ourselves, of the blob when it came packed. It holds both digests, and
 * is written only when we have had all bytes of both sides in our hands. It is a note to ourselves,
 * not a proof: what cannot be read, or does not fit its name, counts as not being there, and who
 * uses a note must cope with a blob that comes out otherwise.
 */
#ifndef OCI_KNOWN_H
#define OCI_KNOWN_H

#include "oci/manifest.h"

#define KNOWN_BYTES_MAX (8 * KIB)
#define KNOWN_CONFIG_BYTES_MAX (1 * MIB)

struct known {
	char diff_id[DIGEST_TEXT_BYTES]; /* of the plain bytes */
	struct descriptor blob;
};

/*
 * Notes it under `key`, which is its diffID or its blob's digest. A note that cannot be written is
 * not worth an error.
 */
void known_put(const char *folder, const char *key, const struct known *known);

/* The note under that key. False: there is none, or none that makes sense. */
bool known_find(const char *folder, const char *key, struct known *known);

/*
 * Removes notes and configs that nobody asked for in `days`, and of the others the oldest until
 * `most` are left. What is no note of ours stays.
 */
void known_prune(const char *folder, size_t most, int days);

/* Keeps an image's config, as HEX.json of its digest. */
void known_put_config(const char *folder, const void *bytes, size_t length);

/*
 * The image of a config that was kept, when all its layers are known as we packed them: config and
 * manifest are put into the layout (made when missing), the layers' blobs are not. False: one of
 * them is not known.
 */
bool known_image(const char *folder, const char *config_digest, const char *layout_folder,
		 struct arena *arena, struct descriptor *manifest);

#endif
