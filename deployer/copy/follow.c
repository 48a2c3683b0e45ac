/* SPDX-License-Identifier: MIT */
#include "deployer/copy/follow.h"

#include "core/arena.h"

#include <stdlib.h>
#include <unistd.h>

#define STEP_BYTES (64 * KIB)
#define WAIT_USEC 2000

/* Adds what is there; the position of the descriptor does not matter to it, and does not change. */
static void follow_add(struct follow *f)
{
	char *buffer = xmalloc(STEP_BYTES);

	while (f->at < f->end && !atomic_load(&f->stop)) {
		/* what is added after `over` was seen is there before the last read */
		bool over = atomic_load(&f->over);
		uint64_t left = f->end - f->at;
		ssize_t got =
			pread(f->fd, buffer, left < STEP_BYTES ? left : STEP_BYTES, (off_t)f->at);

		if (got > 0) {
			digest_add(&f->digest, buffer, (size_t)got);
			f->at += (uint64_t)got;
		} else if (over || got < 0) {
			break;
		} else {
			usleep(WAIT_USEC);
		}
	}
	free(buffer);
}

static void *follow_run(void *arg)
{
	follow_add(arg);
	return NULL;
}

void follow_begin(struct follow *follow, int fd, uint64_t offset, uint64_t end)
{
	*follow = (struct follow){.fd = fd, .at = offset, .end = end};
	digest_init(&follow->digest);
	follow->runs = pthread_create(&follow->thread, NULL, follow_run, follow) == 0;
}

void follow_end(struct follow *follow, bool given_up, char text[static DIGEST_TEXT_BYTES])
{
	atomic_store(&follow->stop, given_up);
	atomic_store(&follow->over, true);
	if (follow->runs)
		pthread_join(follow->thread, NULL);
	follow_add(follow);
	digest_finish(&follow->digest, text);
}

int follow_sum(int fd, uint64_t offset, uint64_t end, char text[static DIGEST_TEXT_BYTES])
{
	struct follow follow = {.fd = fd, .at = offset, .end = end, .over = true};

	digest_init(&follow.digest);
	follow_add(&follow);
	digest_finish(&follow.digest, text);
	return follow.at == end ? 0 : -1;
}
