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
	if (dtype_is_unsigned(type))
		return (int64_t)(noise % (uint64_t)(magnitude + 1));
	return (int64_t)(noise % (uint64_t)(2 * magnitude + 1)) - magnitude;
}

/* Which ranks a slot is about differs from check to check, so that all of more than PATTERN_PERIOD ranks have their turn. */
static int64_t turned(const struct pattern *p, int64_t place)
{
	return place + (int64_t)p->salt % p->world * PATTERN_PERIOD;
}

static int64_t product_value(const struct pattern *p, uint64_t noise, int64_t place)
{
	int64_t stride = stride_for(p->world, PRODUCT_RANKS_MAX);

	if (turned(p, place) % stride != 0)
		return 1;
	if (dtype_is_unsigned(p->type))
		return stride > 1 ? 2 : 1 + (int64_t)(noise & 1);
	return noise & 2 ? -1 - (int64_t)(noise & 1) : stride > 1 ? 2 : 1 + (int64_t)(noise & 1);
}

/* Ranks whose values differ little, and so few that one more or less stands out of the rounding of all of them. */
static int64_t average_value(const struct pattern *p, uint64_t noise, int64_t place)
{
	int64_t exact = dtype_exact_max(p->type);
	int64_t ranks = exact <= 16 ? 1 : exact <= 2048 ? 4 : 64, least = exact / (2 * ranks);
	int64_t size;

	if (turned(p, place) % stride_for(p->world, ranks) != 0)
		return 0;
	least = least < 500 ? least : 500;
	size = least + (int64_t)((noise >> 1) % (uint64_t)least);
	return noise & 1 ? size : -size;
}

/* The same of bytes, which count no further than 255 or 127: a multiple of what they are divided by, or nothing. Among
 * more ranks than that every average is 0. */
static int64_t byte_average_value(const struct pattern *p, size_t slot, int64_t place)
{
	uint64_t noise = mix(0, slot, p->salt);
	int64_t exact = dtype_exact_max(p->type), most = exact / p->world;

	if (turned(p, place) % p->world != 0 || noise % 3 == 0)
		return 0;
	return most < 1 ? exact : (int64_t)(1 + (noise >> 8) % (uint64_t)most) * p->world;
}

/* In each slot one rank has the largest number, or the smallest, and no other one has: a rank that is left out is missed
 * there. */
static int64_t extreme_value(const struct pattern *p, uint64_t noise, int64_t place)
{
	int64_t exact = dtype_exact_max(p->type), most = exact < 1000 ? exact : 1000;
	int64_t least = dtype_is_unsigned(p->type) ? 1 : -most; /* zeros are no result */

	if (turned(p, place) % p->world == 0)
		return p->op == OP_MAX ? most - (p->world == 1 && (noise & 1)) : least;
	if (p->op == OP_MAX)
		most--;
	else
		least++;
	return least + (int64_t)(noise % (uint64_t)(most - least + 1));
}

static int64_t sum_value(const struct pattern *p, uint64_t noise, int64_t place)
{
	int64_t magnitude = sum_magnitude(p->type);
	int64_t stride = stride_for(p->world, dtype_exact_max(p->type) / magnitude);

	if (place % stride != 0)
		return 0;
	if (magnitude == 1 && stride > 1)
		return noise & 1 ? 1 : -1;
	return signed_value(p->type, noise, magnitude);
}

static int64_t value_at(const struct pattern *p, int rank, size_t slot)
{
	uint64_t noise = mix((uint64_t)rank, slot, p->salt);
	int64_t exact = dtype_exact_max(p->type), place = rank + (int64_t)slot;

	switch (p->op) {
	case OP_PROD:
		return product_value(p, noise, place);
	case OP_MIN:
	case OP_MAX:
		return extreme_value(p, noise, place);
	case OP_AVG:
		if (dtype_is_float(p->type))
			return average_value(p, noise, place);
		if (exact <= UINT8_MAX && p->world > exact / sum_magnitude(p->type))
			return byte_average_value(p, slot, place);
		break;
	case OP_NONE:
		return signed_value(p->type, noise, exact < 1000 ? exact : 1000);
	case OP_SUM:
		break;
	}
	return sum_value(p, noise, place);
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
	case OP_NONE:
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

/* An average as NCCL makes it (hostToDevRedOp() of its sources): each input times 1/n, both as the type holds them, then
 * the sum, rounded at each step, in some order. */
struct average {
	double want, allowed;
};

static struct average scaled_average(const struct pattern *p, size_t slot)
{
	double exact = 1.0 / p->world, scale = dtype_round(p->type, exact), sizes = 0;
	double apart = scale > exact ? scale - exact : exact - scale;
	struct average average = {0, 0};
	int terms = 0;

	for (int rank = 0; rank < p->world; rank++) {
		double value = (double)value_at(p, rank, slot), size = value < 0 ? -value : value;

		if (size == 0)
			continue;
		average.want += value * scale;
		average.allowed += dtype_rounding(p->type, size * scale) + size * apart;
		sizes += size * scale;
		terms++;
	}
	for (int i = 1; i < terms; i++)
		average.allowed += dtype_rounding(p->type, sizes);
	average.allowed *= p->type == DTYPE_F64 ? 2 : 1; /* this sum is rounded, too */
	return average;
}

static bool is_scaled(const struct pattern *p, const struct span *span)
{
	return p->scaled && p->op == OP_AVG && dtype_is_float(p->type) && span->source < 0;
}

/* Whether @got is as near to the average as its type allows. */
static bool average_is_near(const struct average *average, double got)
{
	double difference = average->want - got;

	return difference <= average->allowed && -difference <= average->allowed;
}

static bool near_enough(const struct pattern *p, size_t slot, const void *got)
{
	struct average average = scaled_average(p, slot);

	return average_is_near(&average, dtype_double(p->type, got));
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
			    !(is_scaled(pattern, span) &&
			      near_enough(pattern, (span->first + base + i) % PATTERN_PERIOD,
					  got + i * element_bytes)))
				note(pattern, found, span->at + base + i, table + i * element_bytes,
				     got + i * element_bytes);
	}
}
