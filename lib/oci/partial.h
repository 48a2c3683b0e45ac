/* SPDX-License-Identifier: MIT */
/*
 * partial.h - a blob on its way into a layout, kept when the process dies.
 *
 * The bytes lie in FOLDER/blobs/.partial-HEX at their own places until all of them are there and
 * have the right digest; then the file is renamed to blobs/sha256/HEX. It may come in several parts
 * at the same time; then how far each is stands behind the blob's end, in the same file, so that
 * the two never part. What is found there is never trusted: the digest is taken over all bytes.
 *
 * The file is locked (flock) while a process works on it; a second process that wants the same blob
 * writes to a file of its own, which does not survive it.
 */
#ifndef OCI_PARTIAL_H
#define OCI_PARTIAL_H

#include "oci/manifest.h"

struct partial {
	int fd;		    /* locked; -1: not open */
	const char *folder; /* borrowed */
	struct descriptor descriptor;
	char path[LAYOUT_PATH_BYTES];
	bool is_own; /* no other process can take it up: removed by partial_release */
	size_t part_count;
	uint64_t done_bytes[PARTIAL_PARTS_MAX]; /* from each part's start */
	uint64_t noted_bytes;			/* of done_bytes, as last written behind the blob */
};

/*
 * Opens what an earlier run left of the blob, or begins it in `part_count` parts (1 to
 * PARTIAL_PARTS_MAX; what was left may have another number of them). The layout must exist.
 */
int partial_open(struct partial *partial, const char *folder, const struct descriptor *descriptor,
		 size_t part_count, struct error *err);

/* Where a part begins; that of part_count is the blob's end. */
uint64_t partial_part_offset(const struct partial *partial, size_t part);

/* Adds bytes to a part. More than the part takes is the caller's mistake. */
int partial_add(struct partial *partial, size_t part, const void *bytes, size_t length,
		struct error *err);

/* How many bytes are there from the blob's start without a gap; all together. */
uint64_t partial_ready_bytes(const struct partial *partial);
uint64_t partial_done_bytes(const struct partial *partial);

/* Forgets all bytes, which were wrong; the rest comes in one part. */
int partial_reset(struct partial *partial, struct error *err);

/* Makes it a blob of the layout. The caller has checked the digest of all bytes. */
int partial_finish(struct partial *partial, struct error *err);

/* Writes down how far it is, and closes. Fine when it is not open. */
void partial_release(struct partial *partial);

#endif
