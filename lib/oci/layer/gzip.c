/* SPDX-License-Identifier: MIT */
#include "oci/layer/gzip.h"

#include "core/arena.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_PIECES 8
#define SAMPLE_BYTES (16 * KIB)

struct gzip_scratch {
	struct isal_zstream stream;
	unsigned char sample[SAMPLE_BYTES], packed[2 * SAMPLE_BYTES];
};

struct gzip_scratch *gzip_scratch_new(void)
{
	struct gzip_scratch *scratch = aligned_alloc(64, (sizeof(*scratch) + 63) / 64 * 64);

	if (!scratch)
		oom();
	return scratch;
}

void gzip_scratch_free(struct gzip_scratch *scratch)
{
	free(scratch);
}

void gzip_header(unsigned char out[static GZIP_HEADER_BYTES])
{
	/* deflate, no flags, no time, fastest, unknown system */
	static const unsigned char header[GZIP_HEADER_BYTES] = {0x1f, 0x8b, 8, 0, 0,
								0,    0,    0, 4, 255};

	memcpy(out, header, sizeof(header));
}

/* Blocks of stored bytes, RFC 1951, 3.2.4: they begin and end on a byte border. */
static size_t gzip_store(const unsigned char *bytes, size_t length, unsigned char *out)
{
	unsigned char *start = out;

	while (length) {
		uint16_t part = length < UINT16_MAX ? (uint16_t)length : UINT16_MAX;

		*out++ = 0; /* not the last block, stored */
		*out++ = (unsigned char)part;
		*out++ = (unsigned char)(part >> 8);
		*out++ = (unsigned char)~part;
		*out++ = (unsigned char)(~part >> 8);
		memcpy(out, bytes, part);
		out += part;
		bytes += part;
		length -= part;
	}
	return (size_t)(out - start);
}

/* False: it does not fit. */
static bool deflate(struct gzip_scratch *scratch, const void *bytes, size_t length,
		    unsigned char *out, size_t room)
{
	struct isal_zstream *stream = &scratch->stream;

	isal_deflate_init(stream);
	stream->level = 0; /* gzip.h says why */
	stream->gzip_flag = IGZIP_DEFLATE;
	stream->flush = FULL_FLUSH;
	stream->end_of_stream = 0;
	stream->next_in = (uint8_t *)(uintptr_t)bytes;
	stream->avail_in = (uint32_t)length;
	stream->next_out = out;
	stream->avail_out = (uint32_t)room;
	if (isal_deflate(stream) != COMP_OK)
		abort(); /* says that its arguments are wrong */
	return !stream->avail_in && stream->avail_out;
}

/* Whether a 64th of it, from all over, does not shrink: packed already, most likely. */
static bool seems_packed(struct gzip_scratch *scratch, const unsigned char *bytes, size_t length)
{
	const size_t piece = SAMPLE_BYTES / SAMPLE_PIECES;

	if (length < GZIP_BLOCK_BYTES / 2)
		return false;
	for (size_t i = 0; i < SAMPLE_PIECES; i++)
		memcpy(scratch->sample + i * piece,
		       bytes + (2 * i + 1) * (length - piece) / (2 * SAMPLE_PIECES), piece);
	return !deflate(scratch, scratch->sample, SAMPLE_BYTES, scratch->packed,
			sizeof(scratch->packed)) ||
	       scratch->stream.total_out > SAMPLE_BYTES;
}

size_t gzip_block(struct gzip_scratch *scratch, const void *bytes, size_t length,
		  unsigned char *out)
{
	/* its codes are fixed: data that is packed already would grow */
	if (seems_packed(scratch, bytes, length) ||
	    !deflate(scratch, bytes, length, out, GZIP_BLOCK_PACKED_MAX) ||
	    scratch->stream.total_out > length)
		return gzip_store(bytes, length, out);
	return scratch->stream.total_out;
}

uint32_t gzip_crc(uint32_t crc, const void *bytes, size_t length)
{
	return crc32_gzip_refl(crc, bytes, length);
}

static void little_endian(uint32_t value, unsigned char *out)
{
	for (int i = 0; i < 4; i++)
		out[i] = (unsigned char)(value >> (8 * i));
}

void gzip_trailer(uint32_t crc, uint64_t length, unsigned char out[static GZIP_TRAILER_BYTES])
{
	out[0] = 3; /* last block, fixed codes, end at once: RFC 1951, 3.2.6 */
	out[1] = 0;
	little_endian(crc, out + 2);
	little_endian((uint32_t)length, out + 6);
}

struct gunzip {
	struct inflate_state state;
	void (*take)(void *arg, const void *bytes, size_t length);
	void *arg;
	bool is_between; /* members: nothing, or the next header, may follow */
	unsigned char out[128 * KIB];
};

static void begin_member(struct gunzip *gunzip)
{
	isal_inflate_init(&gunzip->state);
	gunzip->state.crc_flag = ISAL_GZIP;
	gunzip->is_between = true;
}

struct gunzip *gunzip_new(void (*take)(void *arg, const void *bytes, size_t length), void *arg)
{
	struct gunzip *gunzip = xmalloc(sizeof(*gunzip));

	gunzip->take = take;
	gunzip->arg = arg;
	begin_member(gunzip);
	return gunzip;
}

void gunzip_free(struct gunzip *gunzip)
{
	free(gunzip);
}

int gunzip_add(struct gunzip *gunzip, const void *bytes, size_t length, struct error *err)
{
	struct inflate_state *state = &gunzip->state;

	state->next_in = (uint8_t *)(uintptr_t)bytes;
	state->avail_in = (uint32_t)length;
	do {
		int rc;

		if (state->avail_in)
			gunzip->is_between = false;
		state->next_out = gunzip->out;
		state->avail_out = sizeof(gunzip->out);
		rc = isal_inflate(state);
		if (rc != ISAL_DECOMP_OK && rc != ISAL_END_INPUT)
			return error_set(err, ERROR_FAILED, "damaged gzip data (ISA-L error %d)",
					 rc);
		gunzip->take(gunzip->arg, gunzip->out, sizeof(gunzip->out) - state->avail_out);
		if (state->block_state == ISAL_BLOCK_FINISH) {
			uint8_t *rest = state->next_in;
			uint32_t left = state->avail_in;

			begin_member(gunzip);
			state->next_in = rest;
			state->avail_in = left;
			if (!left)
				break;
		}
	} while (state->avail_in || state->avail_out == 0);
	return 0;
}

int gunzip_finish(struct gunzip *gunzip, struct error *err)
{
	return gunzip->is_between ? 0 : error_set(err, ERROR_FAILED, "gzip data ends too early");
}
