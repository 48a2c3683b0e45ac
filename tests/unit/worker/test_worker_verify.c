/* SPDX-License-Identifier: MIT */
/*
 * The kernels that verify results on a GPU, by doing what their PTX says (ptx.h): they fill as the host fills, and find
 * what the host finds, for every type and operation. Whether NVIDIA's assembler takes the text is for tests/long/health.bats.
 */
#include "tests/unit/worker/ptx.h"

#include "images/worker/backend/nccl/verify_kernel.c"
#include "images/worker/collective/dtype.c"
#include "images/worker/collective/pattern.c"

#define WORLD 3
#define COUNT_MAX (PATTERN_PERIOD + 77)
#define FENCE 64 /* bytes before and after a buffer, which no kernel may touch */

/* Threads and blocks: fewer than elements, more of them, and a step that is a multiple of the period. */
static const struct {
	unsigned blocks, threads;
} grids[] = {{1, 1}, {3, 32}, {7, 256}, {10, 256}, {1, 1021}};

static const size_t counts[] = {1, PATTERN_PERIOD - 1, PATTERN_PERIOD, PATTERN_PERIOD + 1,
				COUNT_MAX};

static struct ptx_kernel fills[VERIFY_WIDTHS], compares[VERIFY_WIDTHS];

static int width_of(size_t bytes)
{
	return bytes == 8 ? 3 : (int)bytes / 2;
}

static void fill(void *data, const void *table, size_t bytes, size_t count, size_t grid)
{
	struct ptx_kernel *k = &fills[width_of(bytes)];
	size_t period = count < PATTERN_PERIOD ? count : PATTERN_PERIOD;

	k->parameters[0] = (uint64_t)(uintptr_t)data;
	k->parameters[1] = (uint64_t)(uintptr_t)table;
	k->parameters[2] = count;
	k->lent[0].at = data;
	k->lent[0].bytes = count * bytes;
	k->lent[1].at = table;
	k->lent[1].bytes = period * bytes;
	ptx_run(k, grids[grid].blocks, grids[grid].threads);
}

/* A compare_fn; @arg is the number of the grid. */
static int compare(void *arg, const struct bounds *bounds, const void *data, size_t count,
		   struct difference *difference, struct failure *err)
{
	struct ptx_kernel *k = &compares[width_of(bounds->element_bytes)];
	size_t grid = *(const size_t *)arg, bytes = bounds->element_bytes;
	_Alignas(16) uint64_t result[2] = {0, UINT64_MAX};

	(void)err;
	k->parameters[0] = (uint64_t)(uintptr_t)data;
	k->parameters[1] = (uint64_t)(uintptr_t)bounds->range;
	k->parameters[2] = count;
	k->parameters[3] = (uint64_t)(uintptr_t)result;
	k->lent[0].at = data;
	k->lent[0].bytes = count * bytes;
	k->lent[1].at = bounds->range;
	k->lent[1].bytes = bounds->count * sizeof(bounds->range[0]);
	k->lent[2].at = result;
	k->lent[2].bytes = sizeof(result);
	ptx_run(k, grids[grid].blocks, grids[grid].threads);
	memset(difference, 0, sizeof(*difference));
	difference->wrong = result[0];
	difference->first = result[1];
	if (result[0] > 0)
		memcpy(difference->got, (const unsigned char *)data + result[1] * bytes, bytes);
	return 0;
}

static void kernels_fill_as_the_host_does(void **state)
{
	_Alignas(16) static unsigned char made[COUNT_MAX * 8 + 2 * FENCE], right[sizeof(made)],
		period[PATTERN_PERIOD * 8];

	(void)state;
	for (int type = DTYPE_F16; type <= DTYPE_U8; type++) /* of every width */
		for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
			for (size_t grid = 0; grid < sizeof(grids) / sizeof(grids[0]); grid++) {
				const struct pattern p = {.type = (enum dtype)type,
							  .op = OP_SUM,
							  .world = WORLD,
							  .salt = 7};
				size_t bytes = dtype_bytes(p.type), count = counts[c];

				memset(made, 0x5a, sizeof(made));
				memset(right, 0x5a, sizeof(right));
				pattern_fill(&p, 1, right + FENCE, count);
				pattern_fill(&p, 1, period,
					     count < PATTERN_PERIOD ? count : PATTERN_PERIOD);
				fill(made + FENCE, period, bytes, count, grid);
				assert_memory_equal(made, right, sizeof(made));
			}
}

/* What the host's check and the kernel find in @data must be the same. */
static uint64_t both_find(const struct pattern *p, const struct span *span, const void *data,
			  size_t count, size_t grid)
{
	const struct comparer kernel = {compare, &grid};
	struct mismatch host = {0}, gpu = {0};
	struct failure err = {0};

	assert_int_equal(pattern_check(p, span, &pattern_on_host, data, count, &host, &err), 0);
	assert_int_equal(pattern_check(p, span, &kernel, data, count, &gpu, &err), 0);
	if (host.wrong != gpu.wrong || host.first != gpu.first || strcmp(host.got, gpu.got) != 0)
		fail_msg(
			"%s %d: the host finds %llu from %llu on (%s), the kernel %llu from %llu on (%s)",
			dtype_name(p->type), (int)p->op, (unsigned long long)host.wrong,
			(unsigned long long)host.first, host.got, (unsigned long long)gpu.wrong,
			(unsigned long long)gpu.first, gpu.got);
	assert_string_equal(host.expected, gpu.expected);
	return host.wrong;
}

/* The reduction over all ranks, in which rank 1 counts @times. */
static void reduce(const struct pattern *p, int times, void *out, size_t count)
{
	_Alignas(16) static unsigned char input[COUNT_MAX * 8];

	pattern_fill(p, 0, out, count);
	for (int rank = 1; rank < p->world; rank++) {
		pattern_fill(p, rank, input, count);
		if (p->op == OP_MULSUM && pattern_scalar(rank) == 2)
			dtype_reducer(p->type, OP_SUM)(input, input, input, count);
		for (int i = 0; i < (rank == 1 ? times : 1); i++)
			dtype_reducer(p->type, p->op)(out, out, input, count);
	}
	if (p->op == OP_AVG)
		dtype_scale(p->type, out, count, p->world);
}

static void try_errors(const struct pattern *p, size_t count, size_t grid)
{
	_Alignas(16) static unsigned char out[COUNT_MAX * 8];
	const struct span span = {.source = PATTERN_ALL, .at = 10};
	size_t bytes = dtype_bytes(p->type);

	reduce(p, 1, out, count);
	assert_int_equal(both_find(p, &span, out, count, grid), 0);
	for (size_t i = 0; i < bytes; i++)
		out[count * bytes - 1 - i] ^= 0xff;
	assert_int_equal(both_find(p, &span, out, count, grid), 1);
	reduce(p, 0, out, count);
	if (count > PATTERN_PERIOD)
		assert_true(both_find(p, &span, out, count, grid) > 0);
	reduce(p, 2, out, count);
	if (count > PATTERN_PERIOD && p->op != OP_MIN && p->op != OP_MAX)
		assert_true(both_find(p, &span, out, count, grid) > 0);
	memset(out, 0, count * bytes);
	if (count > PATTERN_PERIOD)
		assert_true(both_find(p, &span, out, count, grid) > 0);
}

static void kernels_find_what_the_host_finds(void **state)
{
	(void)state;
	for (int type = 0; type < DTYPE_COUNT; type++)
		for (int op = 0; op < OP_COUNT; op++)
			for (int scaled = 0; scaled <= (op == OP_AVG); scaled++)
				for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
					const struct pattern p = {.type = (enum dtype)type,
								  .op = (enum op)op,
								  .world = WORLD,
								  .salt = 3,
								  .scaled = scaled};

					try_errors(&p, counts[c],
						   c % (sizeof(grids) / sizeof(grids[0])));
				}
}

/* A block from the middle of somebody's input, and any bytes. */
static void moved_and_random_data(void **state)
{
	_Alignas(16) static unsigned char data[COUNT_MAX * 8], input[2 * COUNT_MAX * 8];
	uint64_t random = 1;

	(void)state;
	for (int type = 0; type < DTYPE_COUNT; type++) {
		const struct pattern p = {
			.type = (enum dtype)type, .op = OP_NONE, .world = WORLD, .salt = 5};
		const struct pattern average = {.type = (enum dtype)type,
						.op = OP_AVG,
						.world = WORLD,
						.salt = 5,
						.scaled = true};
		const struct span span = {.source = 2, .first = 700, .at = 3},
				  all = {.source = PATTERN_ALL};
		size_t bytes = dtype_bytes(p.type);

		pattern_fill(&p, 2, input, 2 * COUNT_MAX);
		memcpy(data, input + span.first * bytes, COUNT_MAX * bytes);
		assert_int_equal(both_find(&p, &span, data, COUNT_MAX, 1), 0);
		for (size_t i = 0; i < sizeof(data); i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			data[i] = (unsigned char)(random >> 56);
		}
		assert_true(both_find(&p, &span, data, COUNT_MAX, 1) > COUNT_MAX / 2);
		both_find(&average, &all, data, COUNT_MAX, 2);
	}
}

static int setup(void **state)
{
	char name[32];

	(void)state;
	for (int i = 0; i < VERIFY_WIDTHS; i++) {
		snprintf(name, sizeof(name), VERIFY_FILL "%d", 1 << i);
		ptx_read(verify_text, name, &fills[i]);
		assert_int_equal(fills[i].parameter_count, 3);
		snprintf(name, sizeof(name), VERIFY_COMPARE "%d", 1 << i);
		ptx_read(verify_text, name, &compares[i]);
		assert_int_equal(compares[i].parameter_count, 4);
	}
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_fill_as_the_host_does),
		cmocka_unit_test(kernels_find_what_the_host_finds),
		cmocka_unit_test(moved_and_random_data),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
