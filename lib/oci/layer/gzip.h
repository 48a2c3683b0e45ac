/* SPDX-License-Identifier: MIT */
/*
 * gzip.h - gzip by ISA-L: one stream made of blocks that are compressed apart from each other.
 *
 * A stream (RFC 1952, one member) is a header, the blocks in order, and a trailer. Every block of
 * GZIP_BLOCK_BYTES (the last may be shorter) is deflated by itself, ends on a byte border and looks
 * back at nothing before it, so blocks can be made on several processors and the stream's bytes do
 * not depend on how many there are, nor on how the input was cut into reads. All x86-64 processors
 * with SSE4.2 (every one since 2008) give the same bytes: tried with 2.30 as Nehalem, Haswell and
 * one with AVX-512. ISA-L's portable code, which older or other processors may use, gives other
 * bytes; they unpack to the same.
 *
 * ISA-L's level 0, because its levels 1 and 2 do not repeat themselves: 15 of 6000 blocks of one
 * same content came out with other (right, equally long) bytes, and level 3 differs between
 * processors. Level 0 packs /usr/lib 12 % larger than level 1.
 */
#ifndef OCI_LAYER_GZIP_H
#define OCI_LAYER_GZIP_H

#include "core/error.h"

#define GZIP_BLOCK_BYTES (1024 * 1024) /* changing it changes every layer's digest */
#define GZIP_BLOCK_PACKED_MAX (GZIP_BLOCK_BYTES + GZIP_BLOCK_BYTES / 8 + 4096)
#define GZIP_HEADER_BYTES 10
#define GZIP_TRAILER_BYTES 10 /* an empty last block, CRC-32, length */

/* What a thread needs to deflate; about 130 KiB. */
struct gzip_scratch;
struct gzip_scratch *gzip_scratch_new(void);
void gzip_scratch_free(struct gzip_scratch *scratch);

void gzip_header(unsigned char out[static GZIP_HEADER_BYTES]);

/*
 * Deflates `length` bytes into `out` (room for GZIP_BLOCK_PACKED_MAX); the packed length. What
 * would grow is stored as it is, 5 bytes longer for each 64 KiB; a sample tells, for a whole block.
 */
size_t gzip_block(struct gzip_scratch *scratch, const void *bytes, size_t length,
		  unsigned char *out);

/* The CRC-32 of what came before and these bytes; begins with 0. */
uint32_t gzip_crc(uint32_t crc, const void *bytes, size_t length);

void gzip_trailer(uint32_t crc, uint64_t length, unsigned char out[static GZIP_TRAILER_BYTES]);

/* Unpacking, for layers that come compressed: hands the bytes on piece by piece. */
struct gunzip;
struct gunzip *gunzip_new(void (*take)(void *arg, const void *bytes, size_t length), void *arg);
void gunzip_free(struct gunzip *gunzip);
/* -1 when the data is not a gzip stream. */
int gunzip_add(struct gunzip *gunzip, const void *bytes, size_t length, struct error *err);
/* -1 when the stream is not at its end. */
int gunzip_finish(struct gunzip *gunzip, struct error *err);

#endif
