/* SPDX-License-Identifier: MIT */
#include "oci/layer/unpack.h"

#include "core/arena.h"
#include "oci/budget.h"
#include "oci/layer/gzip.h"
#include "oci/limits.h"
#include "oci/manifest.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct unpack {
	enum packing packing;
	struct digest digest;
	void (*sink)(void *arg, const void *bytes, size_t length); /* or NULL */
	void *arg;
	uint64_t in_bytes, out_bytes, counted_bytes, packed_bytes;
	struct budget *budget, own;
	struct gunzip *gunzip;
	ZSTD_DStream *zstd;
	void *out;
	size_t out_room;
	bool is_between; /* zstd frames: nothing, or the next one, may follow */
};

enum packing packing_of(const void *head, size_t length)
{
	const unsigned char *h = head;

	if (length > 2 && h[0] == 0x1f && h[1] == 0x8b)
		return PACKING_GZIP;
	if (length > 4 && memcmp(h, "\x28\xb5\x2f\xfd", 4) == 0)
		return PACKING_ZSTD;
	/* Skippable frames (RFC 8878, 3.1.2), which zstd:chunked begins with. */
	if (length > 4 && (h[0] & 0xf0) == 0x50 && memcmp(h + 1, "\x2a\x4d\x18", 3) == 0)
		return PACKING_ZSTD;
	return PACKING_NONE;
}

const char *packing_media_type(enum packing packing)
{
	return packing == PACKING_GZIP	 ? MEDIA_OCI_LAYER_GZIP
	       : packing == PACKING_ZSTD ? MEDIA_OCI_LAYER_ZSTD
					 : MEDIA_OCI_LAYER;
}

static void unpack_take(void *arg, const void *bytes, size_t length)
{
	struct unpack *unpack = arg;

	unpack->out_bytes += length;
	digest_add(&unpack->digest, bytes, length);
	if (unpack->sink)
		unpack->sink(unpack->arg, bytes, length);
}

struct unpack *unpack_new(enum packing packing)
{
	return unpack_new_to(packing, "sha256:", NULL, NULL);
}

struct unpack *unpack_new_to(enum packing packing, const char *like,
			     void (*sink)(void *arg, const void *bytes, size_t length), void *arg)
{
	struct unpack *unpack = xmalloc(sizeof(*unpack));

	*unpack = (struct unpack){.packing = packing, .sink = sink, .arg = arg, .is_between = true};
	budget_init(&unpack->own, NULL, NULL);
	unpack->budget = &unpack->own;
	digest_init_as(&unpack->digest, like);
	if (packing == PACKING_GZIP)
		unpack->gunzip = gunzip_new(unpack_take, unpack);
	if (packing == PACKING_ZSTD) {
		unpack->zstd = ZSTD_createDStream();
		if (!unpack->zstd ||
		    ZSTD_isError(ZSTD_DCtx_setParameter(unpack->zstd, ZSTD_d_windowLogMax,
							ZSTD_WINDOW_LOG_MAX)))
			oom();
		unpack->out_room = ZSTD_DStreamOutSize();
		unpack->out = xmalloc(unpack->out_room);
	}
	return unpack;
}

void unpack_free(struct unpack **place)
{
	struct unpack *unpack = *place;

	if (!unpack)
		return;
	digest_release(&unpack->digest);
	gunzip_free(unpack->gunzip);
	ZSTD_freeDStream(unpack->zstd);
	free(unpack->out);
	free(unpack);
	*place = NULL;
}

void unpack_limit(struct unpack *unpack, struct budget *budget, uint64_t packed_bytes)
{
	unpack->budget = budget;
	unpack->packed_bytes = packed_bytes;
}

/* Counts what came out since the last call. */
static int unpack_count(struct unpack *unpack, struct error *err)
{
	uint64_t packed =
		unpack->packed_bytes > unpack->in_bytes ? unpack->packed_bytes : unpack->in_bytes;
	uint64_t more = unpack->out_bytes - unpack->counted_bytes;

	unpack->counted_bytes = unpack->out_bytes;
	return budget_take(unpack->budget, unpack->packing ? packed : 0, unpack->out_bytes, more,
			   err);
}

static int add_zstd(struct unpack *unpack, const void *bytes, size_t length, struct error *err)
{
	ZSTD_inBuffer in = {.src = bytes, .size = length};
	bool is_full;

	do {
		ZSTD_outBuffer out = {.dst = unpack->out, .size = unpack->out_room};
		size_t left = ZSTD_decompressStream(unpack->zstd, &out, &in);

		if (ZSTD_isError(left))
			return error_set(err, ERROR_FAILED, "damaged zstd data (%s)",
					 ZSTD_getErrorName(left));
		unpack->is_between = left == 0;
		is_full = out.pos == out.size;
		unpack_take(unpack, out.dst, out.pos);
		if (unpack_count(unpack, err) < 0)
			return -1;
	} while (in.pos < in.size || is_full);
	return 0;
}

int unpack_add(struct unpack *unpack, const void *bytes, size_t length, struct error *err)
{
	unpack->in_bytes += length;
	if (unpack->zstd)
		return add_zstd(unpack, bytes, length, err);
	if (!unpack->gunzip)
		unpack_take(unpack, bytes, length);
	else if (gunzip_add(unpack->gunzip, bytes, length, err) < 0)
		return -1;
	return unpack_count(unpack, err);
}

int unpack_finish(struct unpack *unpack, char diff_id[static DIGEST_TEXT_BYTES], struct error *err)
{
	if (unpack->gunzip && gunzip_finish(unpack->gunzip, err) < 0)
		return -1;
	if (unpack->zstd && !unpack->is_between)
		return error_set(err, ERROR_FAILED, "zstd data ends too early");
	digest_finish(&unpack->digest, diff_id);
	return 0;
}
