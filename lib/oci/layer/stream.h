/* SPDX-License-Identifier: MIT */
/*
 * stream.h - a layer's plain bytes, unpacked and hashed by a thread of its own while the caller
 * works with those before. A ring of STREAM_SLOTS buffers lies between.
 */
#ifndef OCI_LAYER_STREAM_H
#define OCI_LAYER_STREAM_H

#include "core/digest.h"

#define STREAM_SLOTS 16
#define STREAM_SLOT_BYTES (256 * KIB)

struct stream;

/*
 * Opens the file, plain or gzip or zstd, and starts the thread. `like`: digest_init_as; borrowed.
 */
int stream_open(const char *path, const char *like, struct stream **stream, struct error *err);

/*
 * The next bytes, valid until the next call; *length 0 at the end. -1: damaged, a bomb, unreadable.
 */
int stream_next(struct stream *stream, const void **bytes, size_t *length, struct error *err);

/* The digest of all plain bytes; reads what is left. */
int stream_finish(struct stream *stream, char diff_id[static DIGEST_TEXT_BYTES], struct error *err);

/* Ends the thread. For _cleanup_. */
void stream_close(struct stream **stream);

#endif
