/* SPDX-License-Identifier: MIT */
/*
 * known.h - layers whose blob is known, so that none is packed or hashed twice on this machine.
 *
 * A note is one small file per layer in a private folder (0700), named by 64 hex digits: of the
 * diffID when the layer was packed here, of the blob when it came packed. It holds both digests,
 * and is written only after all bytes of both were read here. It is a note, not a proof: one that
 * cannot be read, or does not fit its name, counts as missing, and whoever uses it must be ready
 * for a blob with another digest.
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

/* Finds the note under that key. False: there is none, or it makes no sense. */
bool known_find(const char *folder, const char *key, struct known *known);

/*
 * Removes notes and configs that nobody asked for in `days`, and the oldest of the others until
 * `most` are left. Other files stay.
 */
void known_prune(const char *folder, size_t most, int days);

/* Keeps an image's config, as HEX.json of its digest. */
void known_put_config(const char *folder, const void *bytes, size_t length);

/*
 * Makes the image of a kept config, when the packed form of all its layers is known: config and
 * manifest are put into the layout (made when missing), the layers' blobs are not. False: one of
 * the layers is not known.
 */
bool known_image(const char *folder, const char *config_digest, const char *layout_folder,
		 struct arena *arena, struct descriptor *manifest);

#endif
