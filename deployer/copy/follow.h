/* SPDX-License-Identifier: MIT */
/* follow.h - the SHA-256 of a part of a file, made in a thread of its own while the file is read or written. */
#ifndef DEPLOYER_COPY_FOLLOW_H
#define DEPLOYER_COPY_FOLLOW_H

#include "core/digest.h"

#include <pthread.h>
#include <stdatomic.h>

struct follow {
	int fd;
	uint64_t at, end;
	atomic_bool stop; /* the sum is not needed any more */
	atomic_bool over; /* the file does not grow any more */
	pthread_t thread;
	bool runs;
	struct digest digest;
};

/* Begins with the bytes from `offset` to `end`; those that are not there yet are waited for. */
void follow_begin(struct follow *follow, int fd, uint64_t offset, uint64_t end);

/* Waits for its end, or stops it when `given_up`. `text` is the sum of what was there. */
void follow_end(struct follow *follow, bool given_up, char text[static DIGEST_TEXT_BYTES]);

/* The same at once. -1 when the file ends before, or cannot be read. */
int follow_sum(int fd, uint64_t offset, uint64_t end, char text[static DIGEST_TEXT_BYTES]);

#endif
