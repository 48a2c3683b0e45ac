/* SPDX-License-Identifier: MIT */
#include "oci/layer/stream.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/file.h"
#include "oci/layer/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES (256 * KIB)

/* Counts of slots since the start: taken <= filled <= taken + STREAM_SLOTS. */
struct stream {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t filled, taken;
	bool is_held;	       /* the reader still looks at slot `taken` */
	bool has_ended;	       /* no more slots will be filled */
	atomic_bool is_closed; /* the caller wants no more */
	size_t lengths[STREAM_SLOTS];
	char *slots[STREAM_SLOTS];
	size_t filling; /* bytes in the slot being filled */
	const char *path, *like;
	struct budget *budget; /* or NULL */
	uint64_t packed_bytes;
	int fd, rc;
	struct error err;
	char diff_id[DIGEST_TEXT_BYTES];
};

/* Hands the slot under way to the reader, and waits for the next one to be free. */
static void stream_submit(struct stream *s)
{
	pthread_mutex_lock(&s->lock);
	s->lengths[s->filled % STREAM_SLOTS] = s->filling;
	s->filled++;
	s->filling = 0;
	pthread_cond_broadcast(&s->changed);
	while (s->filled - s->taken >= STREAM_SLOTS && !s->is_closed)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

static void stream_take(void *arg, const void *bytes, size_t length)
{
	struct stream *s = arg;
	const char *p = bytes;

	while (length && !s->is_closed) {
		size_t room = STREAM_SLOT_BYTES - s->filling;

		room = room < length ? room : length;
		memcpy(s->slots[s->filled % STREAM_SLOTS] + s->filling, p, room);
		s->filling += room;
		p += room;
		length -= room;
		if (s->filling == STREAM_SLOT_BYTES)
			stream_submit(s);
	}
}

static struct unpack *stream_begin(struct stream *s, enum packing packing)
{
	struct unpack *unpack = unpack_new_to(packing, s->like, stream_take, s);

	if (s->budget)
		unpack_limit(unpack, s->budget, s->packed_bytes);
	return unpack;
}

static int stream_unpack_all(struct stream *s, struct error *err)
{
	_cleanup_(free_pointer) char *buffer = xmalloc(READ_BYTES);
	_cleanup_(unpack_free) struct unpack *unpack = NULL;
	ssize_t got;

	while ((got = read(s->fd, buffer, READ_BYTES)) > 0 || (got < 0 && errno == EINTR)) {
		if (got < 0)
			continue;
		if (!unpack)
			unpack = stream_begin(s, packing_of(buffer, (size_t)got));
		if (interrupt_check(err) < 0 || unpack_add(unpack, buffer, (size_t)got, err) < 0)
			return -1;
		if (s->is_closed)
			return 0;
	}
	if (got < 0)
		return error_errno(err, "cannot read %s", s->path);
	if (!unpack)
		unpack = stream_begin(s, PACKING_NONE);
	return unpack_finish(unpack, s->diff_id, err);
}

static void *stream_work(void *arg)
{
	struct stream *s = arg;
	int rc = stream_unpack_all(s, &s->err);

	if (rc == 0 && s->filling)
		stream_submit(s);
	pthread_mutex_lock(&s->lock);
	s->rc = rc;
	s->has_ended = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

int stream_open(const char *path, const char *like, struct budget *budget, struct stream **stream,
		struct error *err)
{
	struct stream *s;
	struct stat st;
	int fd;

	*stream = NULL;
	if (file_open(path, &fd, err) < 0)
		return -1;
	s = xmalloc(sizeof(*s));
	*s = (struct stream){.fd = fd, .path = path, .like = like, .budget = budget};
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		s->packed_bytes = (uint64_t)st.st_size;
	for (size_t i = 0; i < STREAM_SLOTS; i++)
		s->slots[i] = xmalloc(STREAM_SLOT_BYTES);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	if (pthread_create(&s->thread, NULL, stream_work, s) != 0)
		oom();
	*stream = s;
	return 0;
}

int stream_next(struct stream *s, const void **bytes, size_t *length, struct error *err)
{
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	if (s->is_held) {
		s->taken++;
		s->is_held = false;
		pthread_cond_broadcast(&s->changed);
	}
	while (s->taken == s->filled && !s->has_ended)
		pthread_cond_wait(&s->changed, &s->lock);
	*length = 0;
	if (s->taken < s->filled) {
		*bytes = s->slots[s->taken % STREAM_SLOTS];
		*length = s->lengths[s->taken % STREAM_SLOTS];
		s->is_held = true;
	} else if (s->rc < 0) {
		*err = s->err;
		rc = -1;
	}
	pthread_mutex_unlock(&s->lock);
	return rc;
}

int stream_finish(struct stream *s, char diff_id[static DIGEST_TEXT_BYTES], struct error *err)
{
	const void *bytes;
	size_t length;

	do {
		if (stream_next(s, &bytes, &length, err) < 0)
			return -1;
	} while (length);
	memcpy(diff_id, s->diff_id, DIGEST_TEXT_BYTES);
	return 0;
}

void stream_close(struct stream **place)
{
	struct stream *s = *place;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->is_closed = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	for (size_t i = 0; i < STREAM_SLOTS; i++)
		free(s->slots[i]);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	fd_close(&s->fd);
	free(s);
	*place = NULL;
}
