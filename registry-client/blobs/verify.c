/* SPDX-License-Identifier: MIT */
#include "registry-client/blobs/verify.h"

#include "core/arena.h"
#include "registry-client/limits.h"
#include "registry-client/http/transfer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct verify {
	struct registry *registry;
	pthread_mutex_t lock;
	pthread_cond_t work, idle;
	struct verify_file *files;
	bool stop;
	size_t thread_count;
	pthread_t threads[VERIFY_THREADS_MAX];
};

/*
 * The file that lags most among those that have something to hash and that no other thread works
 * on.
 */
static struct verify_file *verify_choose(const struct verify *verify)
{
	struct verify_file *best = NULL;
	uint64_t most = 0;

	for (struct verify_file *f = verify->files; f; f = f->next) {
		uint64_t lag = f->ready_bytes - f->hashed_bytes;

		if (f->is_busy || f->is_finished || (!lag && f->hashed_bytes < f->size_bytes))
			continue;
		if (!best || lag > most) {
			best = f;
			most = lag;
		}
	}
	return best;
}

/* Hashes up to `end`, outside of the lock: only this thread touches the digest. */
static int verify_hash(struct verify_file *file, uint64_t from, uint64_t end, char *buffer)
{
	while (from < end) {
		size_t room = end - from < VERIFY_READ_BYTES ? end - from : VERIFY_READ_BYTES;
		ssize_t got = pread(file->fd, buffer, room, (off_t)from);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? errno : EIO;
		digest_add(&file->digest, buffer, (size_t)got);
		from += (uint64_t)got;
	}
	return 0;
}

static void verify_serve(struct verify *verify, struct verify_file *file, char *buffer)
{
	uint64_t from = file->hashed_bytes, end = file->ready_bytes;
	int failed;

	if (end - from > VERIFY_SLICE_BYTES)
		end = from + VERIFY_SLICE_BYTES;
	file->is_busy = true;
	pthread_mutex_unlock(&verify->lock);
	failed = verify_hash(file, from, end, buffer);
	/* here and not in the loop, which would wait for the disk: partial_finish finds little to do */
	if (!failed && end == file->size_bytes && fdatasync(file->fd) < 0)
		failed = errno;
	pthread_mutex_lock(&verify->lock);
	file->is_busy = false;
	file->hashed_bytes = end;
	file->os_errno = failed;
	if (failed || end == file->size_bytes) {
		digest_finish(&file->digest, file->text);
		file->is_finished = true;
		transfer_wake(verify->registry);
	}
	pthread_cond_broadcast(&verify->idle);
}

static void *verify_work(void *arg)
{
	struct verify *verify = arg;
	char *buffer = xmalloc(VERIFY_READ_BYTES);

	pthread_mutex_lock(&verify->lock);
	while (!verify->stop) {
		struct verify_file *file = verify_choose(verify);

		if (file)
			verify_serve(verify, file, buffer);
		else
			pthread_cond_wait(&verify->work, &verify->lock);
	}
	pthread_mutex_unlock(&verify->lock);
	free(buffer);
	return NULL;
}

struct verify *verify_start(struct registry *registry, size_t threads)
{
	struct verify *verify = xmalloc(sizeof(*verify));

	*verify = (struct verify){.registry = registry};
	pthread_mutex_init(&verify->lock, NULL);
	pthread_cond_init(&verify->work, NULL);
	pthread_cond_init(&verify->idle, NULL);
	if (threads > VERIFY_THREADS_MAX)
		threads = VERIFY_THREADS_MAX;
	while (verify->thread_count < threads &&
	       pthread_create(&verify->threads[verify->thread_count], NULL, verify_work, verify) ==
		       0)
		verify->thread_count++;
	if (!verify->thread_count)
		oom();
	return verify;
}

void verify_stop(struct verify *verify)
{
	if (!verify)
		return;
	pthread_mutex_lock(&verify->lock);
	verify->stop = true;
	pthread_cond_broadcast(&verify->work);
	pthread_mutex_unlock(&verify->lock);
	while (verify->thread_count)
		pthread_join(verify->threads[--verify->thread_count], NULL);
	pthread_mutex_destroy(&verify->lock);
	pthread_cond_destroy(&verify->work);
	pthread_cond_destroy(&verify->idle);
	free(verify);
}

void verify_begin(struct verify *verify, struct verify_file *file, int fd, uint64_t size_bytes,
		  const char *like)
{
	*file = (struct verify_file){.fd = fd, .size_bytes = size_bytes, .is_listed = true};
	digest_init_as(&file->digest, like);
	pthread_mutex_lock(&verify->lock);
	file->next = verify->files;
	verify->files = file;
	if (!size_bytes)
		pthread_cond_signal(&verify->work);
	pthread_mutex_unlock(&verify->lock);
}

void verify_grown(struct verify *verify, struct verify_file *file, uint64_t ready_bytes)
{
	pthread_mutex_lock(&verify->lock);
	if (ready_bytes > file->ready_bytes) {
		file->ready_bytes = ready_bytes;
		pthread_cond_signal(&verify->work);
	}
	pthread_mutex_unlock(&verify->lock);
}

bool verify_is_finished(struct verify *verify, struct verify_file *file)
{
	bool finished;

	pthread_mutex_lock(&verify->lock);
	finished = file->is_finished;
	pthread_mutex_unlock(&verify->lock);
	return finished;
}

void verify_end(struct verify *verify, struct verify_file *file)
{
	struct verify_file **place;

	if (!file->is_listed)
		return;
	pthread_mutex_lock(&verify->lock);
	while (file->is_busy)
		pthread_cond_wait(&verify->idle, &verify->lock);
	for (place = &verify->files; *place; place = &(*place)->next)
		if (*place == file) {
			*place = file->next;
			break;
		}
	pthread_mutex_unlock(&verify->lock);
	digest_release(&file->digest);
	file->is_listed = false;
}
