/* SPDX-License-Identifier: MIT */
/*
 * layout.h - images in a folder: oci-layout, index.json, blobs/sha256/HEX (blobs/sha512/HEX where a
 * descriptor says so).
 *
 * Source: OCI image-spec 1.1, image-layout.md. A blob appears under its digest whole or not at all:
 * it is written to a temporary file beside it, synced and renamed. Several writers may work in one layout;
 * of two that tag at the same moment, the later index.json stays.
 */
#ifndef OCI_LAYOUT_H
#define OCI_LAYOUT_H

#include "oci/manifest.h"

#define LAYOUT_VERSION_JSON "{\"imageLayoutVersion\":\"1.0.0\"}"
#define LAYOUT_REF_NAME "org.opencontainers.image.ref.name"

/* Makes the folder, oci-layout and an empty index.json where they are missing. */
int layout_init(const char *folder, struct error *err);

/* FOLDER/blobs/sha256/HEX, or sha512. The digest must be valid. */
int layout_blob_path(const char *folder, const char *digest, char path[static LAYOUT_PATH_BYTES],
		     struct error *err);

/* The same for a blob that is to be put there: the folder of its algorithm is made when missing. */
int layout_blob_place(const char *folder, const char *digest, char path[static LAYOUT_PATH_BYTES],
		      struct error *err);

/*
 * Whether the blob is there with the right size. Its bytes are not looked at: this is for a blob that
 * somebody else will check, or that is hashed while it is read.
 */
bool layout_has(const char *folder, const struct descriptor *descriptor);

/*
 * Whether the blob is there with the right bytes, so that it need not be made or fetched again. It is
 * hashed, unless it was before and its file is as it was (verified.h). In a layout that is this user's
 * alone, a file that others may write counts as missing.
 */
bool layout_verify(const char *folder, const struct descriptor *descriptor);

/* Makes the whole and checked file `temporary`, which is open, the blob: synced, then renamed. */
int layout_put_blob(const char *folder, const char *digest, int fd, const char *temporary,
		    struct error *err);

/* A blob being written. */
struct layout_writer {
	int fd;
	uint64_t size_bytes;
	struct digest digest;
	const char *folder; /* borrowed */
	char temporary[LAYOUT_PATH_BYTES];
};

/* Release it in any case; what was not finished leaves nothing behind. `like`: digest_init_as. */
int layout_writer_init(struct layout_writer *writer, const char *folder, struct error *err);
int layout_writer_init_as(struct layout_writer *writer, const char *folder, const char *like,
			  struct error *err);
int layout_writer_add(struct layout_writer *writer, const void *bytes, size_t length,
		      struct error *err);
/* Puts the blob in its place and says what it became. */
int layout_writer_finish(struct layout_writer *writer, const char *media_type,
			 struct descriptor *descriptor, struct error *err);
void layout_writer_release(struct layout_writer *writer);

/* Stores a small blob. */
int layout_put(const char *folder, const void *bytes, size_t length, const char *media_type,
	       struct descriptor *descriptor, struct error *err);

/* The same under the digest that the descriptor has, which must be that of the bytes. */
int layout_put_as(const char *folder, const void *bytes, const struct descriptor *descriptor,
		  struct error *err);

/* Reads a small blob of at most `bytes_max`, checked against size and digest, into the arena. */
int layout_read(const char *folder, const struct descriptor *descriptor, size_t bytes_max,
		struct arena *arena, const char **bytes, struct error *err);

/*
 * The descriptor of the manifest or index with that digest, which is checked. Not being there is an
 * error; so is a blob that is neither.
 */
int layout_manifest(const char *folder, const char *digest, struct descriptor *manifest,
		    struct error *err);

/*
 * Copies a manifest or an index with all that it names into another layout, which is made when
 * missing, and only blobs that are not there (layout_verify). Every blob is hashed. It becomes a hard
 * link where only this user can write it and its folder; otherwise it is copied, and hashed while it is
 * copied. The manifest comes last.
 */
int layout_copy(const char *from, const char *to, const struct descriptor *manifest,
		struct error *err);

/*
 * Gives the manifest a name in index.json (LAYOUT_REF_NAME), which it takes from any other. NULL:
 * enters it without one, unless it is there so.
 */
int layout_tag(const char *folder, const struct descriptor *manifest, const char *name,
	       struct error *err);

/* The name of the only image there is; "" when it has none. More than one is an error. */
int layout_name(const char *folder, struct arena *arena, const char **name, struct error *err);

/* The manifest of that name; NULL: the only one there is. */
int layout_find(const char *folder, const char *name, struct descriptor *manifest,
		struct error *err);

#endif
