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

int64_t pattern_scalar(int rank)
{
	return 1 + rank % 2;
}

static int64_t sum_value(const struct pattern *p, uint64_t noise, int64_t place)
{
	int64_t magnitude = sum_magnitude(p->type), most = p->op == OP_MULSUM ? 2 : 1;
	int64_t stride = stride_for(p->world, dtype_exact_max(p->type) / magnitude / most);

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
	case OP_MULSUM:
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
	case OP_MULSUM:
	case OP_NONE:
		break;
	}
	return a + b;
}

/* What the rank's value is in the reduction. */
static int64_t term_at(const struct pattern *p, int rank, size_t slot)
{
	int64_t value = value_at(p, rank, slot);

	return p->op == OP_MULSUM ? value * pattern_scalar(rank) : value;
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
		int64_t all =
			span->source < 0 ? term_at(p, 0, slot) : value_at(p, span->source, slot);

		for (int rank = 1; rank < p->world && span->source < 0; rank++)
			all = combine(p->op, all, term_at(p, rank, slot));
		dtype_store(p->type, table + i * element_bytes, all);
	}
	if (p->op == OP_AVG && span->source < 0)
		dtype_scale(p->type, table, count, p->world);
}

/* All but the sign is turned over in negative ones; done twice it is undone. */
static int64_t pattern_turn(size_t element_bytes, int64_t bits)
{
	return bits < 0 ? bits ^ (int64_t)(UINT64_MAX >> (65 - 8 * element_bytes)) : bits;
}

int64_t pattern_key(size_t element_bytes, const void *element)
{
	uint64_t bits = 0;
	unsigned unused = (unsigned)(64 - 8 * element_bytes);

	memcpy(&bits, element, element_bytes);
	return pattern_turn(element_bytes, (int64_t)(bits << unused) >> unused);
}

static void pattern_of_key(size_t element_bytes, int64_t key, unsigned char *element)
{
	int64_t bits = pattern_turn(element_bytes, key);

	memcpy(element, &bits, element_bytes);
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

/* Whether @got is not further above the average (@up), or below it, than its type allows. */
static bool average_reaches(const struct average *average, bool up, double got)
{
	return (up ? got - average->want : average->want - got) <= average->allowed;
}

/* The last key from @right on, up to @far, that the average reaches; @right where it does not reach that. */
static int64_t last_right(enum dtype type, const struct average *average, int64_t right,
			  int64_t far)
{
	unsigned char element[ELEMENT_BYTES_MAX];
	bool up = right < far;

	while (right != far) {
		/* of an even number the one nearer to @far, so that each step comes nearer */
		uint64_t gap =
			up ? (uint64_t)far - (uint64_t)right : (uint64_t)right - (uint64_t)far;
		int64_t middle = up ? far - (int64_t)(gap / 2) : far + (int64_t)(gap / 2);

		pattern_of_key(dtype_bytes(type), middle, element);
		if (average_reaches(average, up, dtype_double(type, element)))
			right = middle;
		else
			far = up ? middle - 1 : middle + 1;
	}
	return right;
}

void pattern_bounds(const struct pattern *pattern, const struct span *span, size_t count,
		    struct bounds *bounds)
{
	size_t bytes = dtype_bytes(pattern->type);
	int64_t most = (int64_t)(UINT64_MAX >> (65 - 8 * bytes));

	bounds->element_bytes = bytes;
	bounds->count = count < PATTERN_PERIOD ? count : PATTERN_PERIOD;
	pattern_expect(pattern, span, bounds->want, bounds->count);
	for (size_t i = 0; i < bounds->count; i++) {
		int64_t key = pattern_key(bytes, bounds->want + i * bytes),
			*range = bounds->range[i];
		struct average average;

		range[0] = range[1] = key;
		if (!is_scaled(pattern, span))
			continue;
		average = scaled_average(pattern, (span->first + i) % PATTERN_PERIOD);
		range[0] = last_right(pattern->type, &average, key, -most - 1);
		range[1] = last_right(pattern->type, &average, key, most);
	}
}

static void pattern_note(const struct bounds *bounds, uint64_t index, const unsigned char *got,
			 struct difference *difference)
{
	const int64_t *range = bounds->range[index % PATTERN_PERIOD];
	int64_t key = pattern_key(bounds->element_bytes, got);

	if (key >= range[0] && key <= range[1])
		return;
	if (difference->wrong++ > 0)
		return;
	difference->first = index;
	memcpy(difference->got, got, bounds->element_bytes);
}

static int pattern_compare(void *arg, const struct bounds *bounds, const void *data, size_t count,
			   struct difference *difference, struct failure *err)
{
	size_t bytes = bounds->element_bytes;
	const unsigned char *in = data;

	(void)arg;
	(void)err;
	memset(difference, 0, sizeof(*difference));
	for (size_t base = 0; base < count; base += PATTERN_PERIOD) {
		size_t block = count - base < PATTERN_PERIOD ? count - base : PATTERN_PERIOD;

		if (memcmp(in + base * bytes, bounds->want, block * bytes) == 0)
			continue;
		for (size_t i = base; i < base + block; i++)
			pattern_note(bounds, i, in + i * bytes, difference);
	}
	return 0;
}

const struct comparer pattern_on_host = {.compare = pattern_compare};

int pattern_check(const struct pattern *pattern, const struct span *span,
		  const struct comparer *comparer, const void *data, size_t count,
		  struct mismatch *found, struct failure *err)
{
	struct difference difference;
	struct bounds bounds;

	if (count == 0)
		return 0;
	pattern_bounds(pattern, span, count, &bounds);
	if (comparer->compare(comparer->arg, &bounds, data, count, &difference, err) < 0)
		return -1;
	if (difference.wrong > 0 && found->wrong == 0) {
		size_t at = difference.first % PATTERN_PERIOD * bounds.element_bytes;

		found->first = span->at + difference.first;
		dtype_format(pattern->type, bounds.want + at, found->expected,
			     sizeof(found->expected));
		dtype_format(pattern->type, difference.got, found->got, sizeof(found->got));
	}
	found->wrong += difference.wrong;
	return 0;
}
