/* SPDX-License-Identifier: MIT */
#include "oci/layer/packer.h"

#include "core/pool.h"
#include "oci/layer/gzip.h"
#include "oci/layout.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define RING_MAX 64

struct block {
	unsigned char *plain, *packed;
	size_t plain_bytes, packed_bytes;
	bool is_packed;
};

/*
 * The ring: written <= taken <= filled are counts of blocks since the start; block i lies in slot i
 * modulo ring_blocks, and filled - written never exceeds ring_blocks.
 */
struct packer {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct block ring[RING_MAX];
	size_t ring_blocks;
	uint64_t filled, taken, written;
	bool is_writing; /* a thread is writing finished blocks */
	bool is_closed;	 /* no more blocks will come */
	bool has_failed;
	struct error error; /* of the writing side */

	/* The layer under way */
	bool is_open;
	struct layout_writer writer;
	struct digest plain_digest;
	uint32_t crc;
	uint64_t plain_bytes;

	/* The run */
	int (*read)(void *arg, struct packer *packer, struct error *err);
	void *arg;
	int rc;
	struct error *err;
	struct gzip_scratch *reader_scratch;
};

static struct block *slot(struct packer *packer, uint64_t index)
{
	return &packer->ring[index % packer->ring_blocks];
}

static int write_block(struct packer *packer, const struct block *block)
{
	packer->crc = gzip_crc(packer->crc, block->plain, block->plain_bytes);
	packer->plain_bytes += block->plain_bytes;
	return layout_writer_add(&packer->writer, block->packed, block->packed_bytes,
				 &packer->error);
}

/* With the lock held: writes what is finished, in order, unless another thread does so already. */
static void write_finished(struct packer *packer)
{
	if (packer->is_writing)
		return;
	packer->is_writing = true;
	while (packer->written < packer->taken && slot(packer, packer->written)->is_packed) {
		struct block *block = slot(packer, packer->written);
		bool skip = packer->has_failed;
		int rc = 0;

		pthread_mutex_unlock(&packer->lock);
		if (!skip)
			rc = write_block(packer, block);
		pthread_mutex_lock(&packer->lock);
		packer->has_failed = packer->has_failed || rc < 0;
		block->is_packed = false;
		packer->written++;
		pthread_cond_broadcast(&packer->changed);
	}
	packer->is_writing = false;
}

/* With the lock held: takes one block and packs it; false when there is none. */
static bool pack_one(struct packer *packer, struct gzip_scratch *scratch)
{
	struct block *block;

	if (packer->taken == packer->filled)
		return false;
	block = slot(packer, packer->taken++);
	pthread_mutex_unlock(&packer->lock);
	block->packed_bytes = gzip_block(scratch, block->plain, block->plain_bytes, block->packed);
	pthread_mutex_lock(&packer->lock);
	block->is_packed = true;
	write_finished(packer);
	return true;
}

static void packer_work(struct packer *packer)
{
	struct gzip_scratch *scratch = gzip_scratch_new();

	pthread_mutex_lock(&packer->lock);
	while (pack_one(packer, scratch) || !packer->is_closed)
		if (packer->taken == packer->filled && !packer->is_closed)
			pthread_cond_wait(&packer->changed, &packer->lock);
	pthread_mutex_unlock(&packer->lock);
	gzip_scratch_free(scratch);
}

/* The reader waits until at most `blocks` are unfinished, and helps meanwhile. */
static int wait_until(struct packer *packer, uint64_t blocks, struct error *err)
{
	bool failed;

	pthread_mutex_lock(&packer->lock);
	while (packer->filled - packer->written > blocks)
		if (!pack_one(packer, packer->reader_scratch))
			pthread_cond_wait(&packer->changed, &packer->lock);
	failed = packer->has_failed;
	pthread_mutex_unlock(&packer->lock);
	if (failed)
		*err = packer->error;
	return failed ? -1 : 0;
}

static void packer_submit(struct packer *packer)
{
	pthread_mutex_lock(&packer->lock);
	packer->filled++;
	pthread_cond_broadcast(&packer->changed);
	pthread_mutex_unlock(&packer->lock);
}

int packer_begin(struct packer *packer, const char *layout_folder, struct error *err)
{
	unsigned char header[GZIP_HEADER_BYTES];

	packer->is_open = true;
	packer->crc = 0;
	packer->plain_bytes = 0;
	packer->has_failed = false;
	packer->error = (struct error){0};
	slot(packer, packer->filled)->plain_bytes = 0;
	digest_init(&packer->plain_digest);
	gzip_header(header);
	if (layout_writer_init(&packer->writer, layout_folder, err) < 0)
		return -1;
	return layout_writer_add(&packer->writer, header, sizeof(header), err);
}

int packer_add(struct packer *packer, const void *bytes, size_t length, struct error *err)
{
	const char *p = bytes;

	digest_add(&packer->plain_digest, bytes, length);
	while (length) {
		struct block *block = slot(packer, packer->filled);
		size_t part = GZIP_BLOCK_BYTES - block->plain_bytes;

		if (part > length)
			part = length;
		memcpy(block->plain + block->plain_bytes, p, part);
		block->plain_bytes += part;
		p += part;
		length -= part;
		if (block->plain_bytes < GZIP_BLOCK_BYTES)
			break;
		packer_submit(packer);
		if (wait_until(packer, packer->ring_blocks - 1, err) < 0)
			return -1;
		slot(packer, packer->filled)->plain_bytes = 0;
	}
	return 0;
}

int packer_end(struct packer *packer, char diff_id[static DIGEST_TEXT_BYTES],
	       struct descriptor *blob, struct error *err)
{
	unsigned char trailer[GZIP_TRAILER_BYTES];

	if (slot(packer, packer->filled)->plain_bytes)
		packer_submit(packer);
	if (wait_until(packer, 0, err) < 0)
		return -1;
	gzip_trailer(packer->crc, packer->plain_bytes, trailer);
	if (layout_writer_add(&packer->writer, trailer, sizeof(trailer), err) < 0 ||
	    layout_writer_finish(&packer->writer, MEDIA_OCI_LAYER_GZIP, blob, err) < 0)
		return -1;
	digest_finish(&packer->plain_digest, diff_id);
	packer_cancel(packer);
	return 0;
}

void packer_cancel(struct packer *packer)
{
	struct error ignored;

	if (!packer->is_open)
		return;
	wait_until(packer, 0, &ignored);
	layout_writer_release(&packer->writer);
	digest_release(&packer->plain_digest);
	packer->is_open = false;
}

static void role(void *arg, size_t index)
{
	struct packer *packer = arg;

	if (index > 0) {
		packer_work(packer);
		return;
	}
	packer->rc = packer->read(packer->arg, packer, packer->err);
	packer_cancel(packer);
	pthread_mutex_lock(&packer->lock);
	packer->is_closed = true;
	pthread_cond_broadcast(&packer->changed);
	pthread_mutex_unlock(&packer->lock);
}

int packer_run(int (*read)(void *arg, struct packer *packer, struct error *err), void *arg,
	       struct error *err)
{
	struct packer *packer = xmalloc(sizeof(*packer));
	size_t cores = pool_cores();
	int rc;

	*packer = (struct packer){.read = read, .arg = arg, .err = err};
	pthread_mutex_init(&packer->lock, NULL);
	pthread_cond_init(&packer->changed, NULL);
	packer->writer.fd = -1;
	packer->ring_blocks = 2 * cores + 2 < RING_MAX ? 2 * cores + 2 : RING_MAX;
	for (size_t i = 0; i < packer->ring_blocks; i++) {
		packer->ring[i].plain = xmalloc(GZIP_BLOCK_BYTES);
		packer->ring[i].packed = xmalloc(GZIP_BLOCK_PACKED_MAX);
	}
	packer->reader_scratch = gzip_scratch_new();
	pool_each(cores + 1, cores + 1, role, packer);
	for (size_t i = 0; i < packer->ring_blocks; i++) {
		free(packer->ring[i].plain);
		free(packer->ring[i].packed);
	}
	gzip_scratch_free(packer->reader_scratch);
	pthread_cond_destroy(&packer->changed);
	pthread_mutex_destroy(&packer->lock);
	rc = packer->rc;
	free(packer);
	return rc;
}
