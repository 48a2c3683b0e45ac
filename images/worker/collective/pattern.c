/* SPDX-License-Identifier: MIT */
#include "collective/pattern.h"

#include <string.h>

#define PRODUCT_RANKS_MAX 7 /* ranks that put a factor of 2 into one slot: 2^7 still fits u8 */

/*
 * Mixes the three numbers that make a value; the constants are those of the splitmix64 finaliser.
 */
static uint64_t mix(uint64_t rank, uint64_t slot, uint64_t salt)
{
	uint64_t x = rank * 0x9e3779b97f4a7c15u + slot * 0xbf58476d1ce4e5b9u + salt;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* Largest magnitude of one rank's value in a sum: a few bits, so that many ranks fit in the exact
 * range. */
static int64_t sum_magnitude(enum dtype type)
{
	int64_t exact = dtype_exact_max(type);

	return exact <= 16 ? 1 : exact <= 256 ? 15 : exact <= 2048 ? 63 : 1000;
}

/* Every stride-th rank takes part in a slot, so that at most @limit of @world ranks do. */
static int64_t stride_for(int64_t world, int64_t limit)
{
	return (world + limit - 1) / limit;
}

static int64_t signed_value(enum dtype type, uint64_t noise, int64_t magnitude)
{
	if (type == DTYPE_U8)
		return (int64_t)(noise % (uint64_t)(magnitude + 1));
	return (int64_t)(noise % (uint64_t)(2 * magnitude + 1)) - magnitude;
}

static int64_t value_at(const struct pattern *p, int rank, size_t slot)
{
	uint64_t noise = mix((uint64_t)rank, slot, p->salt);
	int64_t exact = dtype_exact_max(p->type), magnitude = sum_magnitude(p->type);
	int64_t place = rank + (int64_t)slot;

	switch (p->op) {
	case OP_PROD:
		if (place % stride_for(p->world, PRODUCT_RANKS_MAX) != 0)
			return 1;
		return (noise & 2) && p->type != DTYPE_U8 ? -1 - (int64_t)(noise & 1)
							  : 1 + (int64_t)(noise & 1);
	case OP_MIN:
	case OP_MAX:
		return signed_value(p->type, noise, exact < 1000 ? exact : 1000);
	case OP_SUM:
	case OP_AVG:
	case OP_COUNT:
		break;
	}
	if (place % stride_for(p->world, exact / magnitude) != 0)
		return 0;
	return signed_value(p->type, noise, magnitude);
}

static int64_t combine(enum op op, int64_t a, int64_t b)
{
	switch (op) {
	case OP_PROD:
		return a * b;
	case OP_MIN:
		return a < b ? a : b;
	case OP_MAX:
		return a > b ? a : b;
	case OP_SUM:
	case OP_AVG:
	case OP_COUNT:
		break;
	}
	return a + b;
}

void pattern_fill(const struct pattern *pattern, int rank, void *data, size_t count)
{
	size_t element_bytes = dtype_bytes(pattern->type);
	size_t first = count < PATTERN_PERIOD ? count : PATTERN_PERIOD;
	size_t done = first * element_bytes, total = count * element_bytes;
	unsigned char *out = data;

	for (size_t i = 0; i < first; i++)
		dtype_store(pattern->type, out + i * element_bytes, value_at(pattern, rank, i));
	while (done < total) {
		size_t piece = total - done < done ? total - done : done;

		memcpy(out + done, out,
		       piece); /* done stays a multiple of the period until the last piece */
		done += piece;
	}
}

/* What one period of @span holds, from its first element on. */
static void pattern_expect(const struct pattern *p, const struct span *span, unsigned char *table,
			   size_t count)
{
	size_t element_bytes = dtype_bytes(p->type);

	for (size_t i = 0; i < count; i++) {
		size_t slot = (span->first + i) % PATTERN_PERIOD;
		int64_t all = value_at(p, span->source < 0 ? 0 : span->source, slot);

		for (int rank = 1; rank < p->world && span->source < 0; rank++)
			all = combine(p->op, all, value_at(p, rank, slot));
		dtype_store(p->type, table + i * element_bytes, all);
	}
	if (p->op == OP_AVG && span->source < 0)
		dtype_scale(p->type, table, count, p->world);
}

/* Whether a scaled average is as near as its additions allow: each one rounds by half a unit in the
 * last place of a number that is no larger than the largest input. */
static bool near_enough(const struct pattern *p, const void *want, const void *got)
{
	double allowed = (double)(p->world + 1) * (double)sum_magnitude(p->type) /
			 (double)dtype_exact_max(p->type);
	double difference = dtype_double(p->type, want) - dtype_double(p->type, got);

	if (!p->scaled || p->op != OP_AVG || !dtype_is_float(p->type))
		return false;
	return difference <= allowed && -difference <= allowed;
}

static void note(const struct pattern *p, struct mismatch *found, uint64_t index, const void *want,
		 const void *got)
{
	if (found->wrong++ > 0)
		return;
	found->first = index;
	dtype_format(p->type, want, found->expected, sizeof(found->expected));
	dtype_format(p->type, got, found->got, sizeof(found->got));
}

void pattern_check(const struct pattern *pattern, const struct span *span, const void *data,
		   size_t count, struct mismatch *found)
{
	_Alignas(8) unsigned char table[PATTERN_PERIOD * ELEMENT_BYTES_MAX];
	size_t element_bytes = dtype_bytes(pattern->type);
	const unsigned char *in = data;

	pattern_expect(pattern, span, table, count < PATTERN_PERIOD ? count : PATTERN_PERIOD);
	for (size_t base = 0; base < count; base += PATTERN_PERIOD) {
		size_t block = count - base < PATTERN_PERIOD ? count - base : PATTERN_PERIOD;
		const unsigned char *got = in + base * element_bytes;

		if (memcmp(got, table, block * element_bytes) == 0)
			continue;
		for (size_t i = 0; i < block; i++)
			if (memcmp(got + i * element_bytes, table + i * element_bytes,
				   element_bytes) != 0 &&
			    !near_enough(pattern, table + i * element_bytes,
					 got + i * element_bytes))
				note(pattern, found, span->at + base + i, table + i * element_bytes,
				     got + i * element_bytes);
	}
}
