/* SPDX-License-Identifier: MIT */
/*
 * What the worker's check finds, for every type, operation and up to 1,024 ranks: right results pass, also those that
 * are rounded as NCCL rounds its averages; zeros, a rank that is missing and one that is counted twice do not.
 */
#include "tests/unit/support.h"

#include "images/worker/collective/dtype.c"
#include "images/worker/collective/pattern.c"

#define COUNT PATTERN_PERIOD
#define RANKS_MAX 1024

static unsigned char inputs[RANKS_MAX][COUNT * ELEMENT_BYTES_MAX];

static void store_double(enum dtype type, void *out, double value)
{
	float single = (float)value;
	uint16_t half;
	uint8_t cell;

	switch (type) {
	case DTYPE_F8E4M3:
		cell = f8e4m3_store(single);
		memcpy(out, &cell, 1);
		return;
	case DTYPE_F8E5M2:
		cell = f8e5m2_store(single);
		memcpy(out, &cell, 1);
		return;
	case DTYPE_F16:
		half = f16_store(single);
		memcpy(out, &half, 2);
		return;
	case DTYPE_BF16:
		half = bf16_store(single);
		memcpy(out, &half, 2);
		return;
	case DTYPE_F32:
		memcpy(out, &single, 4);
		return;
	default:
		memcpy(out, &value, 8);
	}
}

/* Each input times 1/n, as NCCL does it. */
static void scale_inputs(const struct pattern *p)
{
	size_t bytes = dtype_bytes(p->type);
	double scale = dtype_round(p->type, 1.0 / p->world);

	for (int rank = 0; rank < p->world; rank++)
		for (size_t i = 0; i < COUNT; i++) {
			unsigned char *at = inputs[rank] + i * bytes;

			store_double(p->type, at, dtype_double(p->type, at) * scale);
		}
}

static void make_inputs(const struct pattern *p)
{
	for (int rank = 0; rank < p->world; rank++) {
		pattern_fill(p, rank, inputs[rank], COUNT);
		if (p->op == OP_MULSUM && pattern_scalar(rank) == 2)
			dtype_reducer(p->type, OP_SUM)(inputs[rank], inputs[rank], inputs[rank],
						       COUNT);
	}
	if (p->scaled)
		scale_inputs(p);
}

/* The reduction of all ranks but @missing. */
static void reduce_others(const struct pattern *p, int missing, unsigned char *out)
{
	for (int i = 1; i < p->world; i++) {
		const unsigned char *input = inputs[(missing + i) % p->world];

		if (i == 1)
			memcpy(out, input, COUNT * dtype_bytes(p->type));
		else
			dtype_reducer(p->type, p->op)(out, out, input, COUNT);
	}
}

/* What pattern_check() compares with, worked out once for many results. */
static struct bounds bounds;

static void expect_slots(const struct pattern *p)
{
	const struct span span = {.source = PATTERN_ALL};

	pattern_bounds(p, &span, COUNT, &bounds);
}

static bool passes(const struct pattern *p, const unsigned char *sum)
{
	unsigned char out[COUNT * ELEMENT_BYTES_MAX];
	struct difference difference;
	struct failure err;

	memcpy(out, sum, COUNT * dtype_bytes(p->type));
	if (p->op == OP_AVG && !p->scaled)
		dtype_scale(p->type, out, COUNT, p->world);
	assert_int_equal(pattern_on_host.compare(NULL, &bounds, out, COUNT, &difference, &err), 0);
	return difference.wrong == 0;
}

static void expect_found(const struct pattern *p, const unsigned char *out, const char *what,
			 int rank, int *missed)
{
	if (!passes(p, out))
		return;
	(*missed)++;
	if (p->world <= PATTERN_PERIOD)
		fail_msg("%s %s%s, %d ranks: %s (rank %d) passes", dtype_name(p->type),
			 op_name(p->op), p->scaled ? " scaled" : "", p->world, what, rank);
}

/* One check. Of more than PATTERN_PERIOD ranks it may miss what the next one finds: *missed counts. */
static void try_check(const struct pattern *p, int *missed)
{
	static unsigned char out[sizeof(bounds.want)], zeros[sizeof(bounds.want)];
	bool repeats =
		p->op == OP_MIN || p->op == OP_MAX; /* a rank that counts twice changes nothing */
	const int ranks[] = {0, p->world / 2, p->world - 1};
	reduce_fn *reducer = dtype_reducer(p->type, p->op);

	make_inputs(p);
	expect_slots(p);
	if (dtype_exact_max(p->type) < p->world && !dtype_is_float(p->type) && p->op == OP_AVG)
		return;
	if (passes(p, zeros))
		fail_msg("%s %s%s, %d ranks: zeros pass", dtype_name(p->type), op_name(p->op),
			 p->scaled ? " scaled" : "", p->world);
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		reduce_others(p, ranks[i], out);
		expect_found(p, out, "a missing rank", ranks[i], &missed[i]);
		reducer(out, out, inputs[ranks[i]], COUNT);
		if (!passes(p, out))
			fail_msg("%s %s%s, %d ranks: the right result is refused",
				 dtype_name(p->type), op_name(p->op), p->scaled ? " scaled" : "",
				 p->world);
		if (repeats)
			continue;
		reducer(out, out, inputs[ranks[i]], COUNT);
		expect_found(p, out, "a doubled rank", ranks[i], &missed[i]);
	}
}

static void try_world(enum dtype type, enum op op, int world, bool scaled)
{
	int missed[3] = {0}, checks = world > PATTERN_PERIOD ? 2 : 1;

	/* 1/n is none of its numbers: the backend refuses that */
	if (scaled && dtype_round(type, 1.0 / world) == 0)
		return;
	for (int salt = 1; salt <= checks; salt++) {
		const struct pattern p = {.type = type,
					  .op = op,
					  .world = world,
					  .salt = (uint32_t)salt,
					  .scaled = scaled};

		try_check(&p, missed);
	}
	for (int i = 0; i < 3 && checks == 2; i++)
		assert_true(missed[i] < checks * (op == OP_MIN || op == OP_MAX ? 1 : 2));
}

static void what_is_wrong_is_found(void **state)
{
	static const int worlds[] = {2, 3, 7, 24, 200, RANKS_MAX};

	(void)state;
	for (int type = 0; type < DTYPE_COUNT; type++)
		for (int op = 0; op < OP_COUNT; op++)
			for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++)
				try_world((enum dtype)type, (enum op)op, worlds[i], false);
}

static void scaled_averages_are_bounded_by_their_rounding(void **state)
{
	static const int worlds[] = {2, 3, 8, 100, 1000, RANKS_MAX};

	(void)state;
	for (int type = 0; type <= DTYPE_F64; type++)
		for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++)
			try_world((enum dtype)type, OP_AVG, worlds[i], true);
}

/* pattern_check() itself: a result that is shifted, and a near one. */
static void the_check_counts(void **state)
{
	static unsigned char out[sizeof(bounds.want)];
	const struct span span = {.source = PATTERN_ALL};
	struct pattern p = {
		.type = DTYPE_BF16, .op = OP_AVG, .world = 6, .salt = 1, .scaled = true};
	struct mismatch found = {.wrong = 0};
	struct failure err;

	(void)state;
	make_inputs(&p);
	reduce_others(&p, 0, out);
	pattern_check(&p, &span, &pattern_on_host, out, COUNT, &found, &err);
	assert_true(found.wrong > 0);
	dtype_reducer(p.type, p.op)(out, out, inputs[0], COUNT);
	found.wrong = 0;
	pattern_check(&p, &span, &pattern_on_host, out, COUNT, &found, &err);
	assert_int_equal(found.wrong, 0);
	pattern_check(&p, &span, &pattern_on_host, out + 2, COUNT - 1, &found, &err);
	assert_true(found.wrong > COUNT / 2);
}

/* Of numbers of one and two bytes every one: within the bounds are the right one and those that are near, and no other.
 * Keys are in the order of the numbers. */
static void bounds_are_what_is_near(void **state)
{
	const struct span span = {.source = PATTERN_ALL, .first = 5};

	(void)state;
	for (int type = DTYPE_F8E4M3; type <= DTYPE_BF16; type++) {
		const struct pattern p = {.type = (enum dtype)type,
					  .op = OP_AVG,
					  .world = 7,
					  .salt = 2,
					  .scaled = true};
		size_t bytes = dtype_bytes(p.type);
		unsigned near = 0;

		pattern_bounds(&p, &span, 40, &bounds);
		assert_int_equal(bounds.count, 40);
		for (size_t i = 0; i < bounds.count; i++) {
			struct average average = scaled_average(&p, 5 + i);

			for (unsigned cell = 0; cell < 1u << 8 * bytes; cell++) {
				double number = dtype_double(p.type, &cell);
				int64_t key = pattern_key(bytes, &cell);
				bool right = average_reaches(&average, true, number) &&
					     average_reaches(&average, false, number);

				right |= memcmp(&cell, bounds.want + i * bytes, bytes) == 0;
				assert_int_equal(key >= bounds.range[i][0] &&
							 key <= bounds.range[i][1],
						 right);
				near += right;
			}
		}
		assert_true(near > bounds.count);
	}
}

static void keys_are_in_order(void **state)
{
	static const double numbers[] = {-1e300, -2, -1, -1e-300, 0, 1e-300, 1, 1.5, 1e300};

	(void)state;
	for (size_t i = 1; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		assert_true(pattern_key(8, &numbers[i - 1]) < pattern_key(8, &numbers[i]));
	for (int type = DTYPE_F8E4M3; type <= DTYPE_BF16; type++) {
		size_t bytes = dtype_bytes((enum dtype)type);
		int64_t most = (int64_t)1 << (8 * bytes - 1);
		unsigned char before[ELEMENT_BYTES_MAX], after[ELEMENT_BYTES_MAX];

		for (int64_t key = 1 - most; key < most; key++) {
			double low, high;

			pattern_of_key(bytes, key - 1, before);
			pattern_of_key(bytes, key, after);
			assert_true(pattern_key(bytes, after) == key);
			low = dtype_double((enum dtype)type, before);
			high = dtype_double((enum dtype)type, after);
			assert_true(low <= high || low != low || high != high);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_check_counts),
		cmocka_unit_test(bounds_are_what_is_near),
		cmocka_unit_test(keys_are_in_order),
		cmocka_unit_test(what_is_wrong_is_found),
		cmocka_unit_test(scaled_averages_are_bounded_by_their_rounding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
