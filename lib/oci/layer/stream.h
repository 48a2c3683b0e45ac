/* SPDX-License-Identifier: MIT */
/*
 * stream.h - a layer's plain bytes, unpacked and hashed by a thread of its own while the caller
 * works on the bytes before them. A ring of STREAM_SLOTS buffers lies between the two.
 */
#ifndef OCI_LAYER_STREAM_H
#define OCI_LAYER_STREAM_H

#include "core/digest.h"

#define STREAM_SLOTS 16
#define STREAM_SLOT_BYTES (256 * KIB)

struct stream;

/*
 * Opens the file, plain or gzip or zstd, and starts the thread. `like`: digest_init_as; borrowed.
 * `budget`: of the image, borrowed; NULL: one of its own, with defaults.
 */
struct budget;
int stream_open(const char *path, const char *like, struct budget *budget, struct stream **stream,
		struct error *err);

/*
 * The next bytes, which are valid until the next call; *length is 0 at the end. -1: the file is
 * damaged, a bomb, or cannot be read.
 */
int stream_next(struct stream *stream, const void **bytes, size_t *length, struct error *err);

/* Reads what is left, and gives the digest of all plain bytes. */
int stream_finish(struct stream *stream, char diff_id[static DIGEST_TEXT_BYTES], struct error *err);

/* Ends the thread. For _cleanup_. */
void stream_close(struct stream **stream);

#endif
