/* SPDX-License-Identifier: MIT */
/*
 * verify.h - SHA-256 of files while they grow, in threads of their own.
 *
 * The thread that receives never hashes: at 1.8 GB/s (SHA-NI) or 0.5 GB/s (without) a hash in the
 * loop would hold up every connection. Bytes are read back from the page cache, so parts of a blob
 * may come in any order and what an earlier run left counts as well.
 */
#ifndef REGISTRY_CLIENT_BLOBS_VERIFY_H
#define REGISTRY_CLIENT_BLOBS_VERIFY_H

#include "core/digest.h"

struct verify; /* the threads; owned by the caller */
struct registry;

/* One file. Lives until it is finished or taken off; the caller's memory. */
struct verify_file {
	struct verify_file *next;
	int fd;
	uint64_t size_bytes, ready_bytes, hashed_bytes;
	struct digest digest;
	bool is_listed, is_busy, is_finished;
	int os_errno; /* reading it failed */
	char text[DIGEST_TEXT_BYTES];
};

/* Threads that wake the registry's loop whenever a file is finished. */
struct verify *verify_start(struct registry *registry, size_t threads);

/* Ends the threads. NULL is fine. */
void verify_stop(struct verify *verify);

/* Begins at the file's first byte; `fd` must stay open. `like`: digest_init_as. */
void verify_begin(struct verify *verify, struct verify_file *file, int fd, uint64_t size_bytes,
		  const char *like);

/* Says that so many bytes from the start are there without a gap. */
void verify_grown(struct verify *verify, struct verify_file *file, uint64_t ready_bytes);

/* Whether all bytes are hashed: file->text holds the digest, or os_errno is set. */
bool verify_is_finished(struct verify *verify, struct verify_file *file);

/*
 * Takes it off the list, and waits while a thread works on it. Does nothing when it was never
 * begun.
 */
void verify_end(struct verify *verify, struct verify_file *file);

#endif
