/* SPDX-License-Identifier: MIT */
/* The worker's arithmetic of sizes and counts beyond 2^31 bytes and 2^32 elements, without the
 * memory that they would take: what is sent and received here touches none. */
#include "tests/unit/support.h"

#include "images/worker/collective/collective.c"
#include "images/worker/collective/dtype.c"
#include "images/worker/backend/cpu/ring.c"

#include <sys/mman.h>

#define STEP (((size_t)1 << 20) - 64)

/* The ring's surroundings: a neighbour that takes and gives whatever is asked for. */
static unsigned char *vector;
static uint64_t vector_bytes, sent, received;

static void check_range(const void *data, size_t bytes)
{
	uint64_t at = (uint64_t)((const unsigned char *)data - vector);

	assert_true(at <= vector_bytes && bytes <= vector_bytes - at);
}

ssize_t net_send_some(int fd, const void *data, size_t bytes)
{
	(void)fd;
	check_range(data, bytes);
	bytes = bytes < STEP ? bytes : STEP;
	sent += bytes;
	return (ssize_t)bytes;
}

ssize_t net_recv_some(int fd, void *data, size_t bytes)
{
	(void)fd;
	check_range(data, bytes);
	bytes = bytes < STEP ? bytes : STEP;
	received += bytes;
	return (ssize_t)bytes;
}

int ring_wait(struct ring *ring, int link, bool sending, bool receiving, uint64_t done, int *idle)
{
	(void)ring;
	(void)link;
	(void)sending;
	(void)receiving;
	(void)done;
	return ++*idle < 1000 ? 0 : -1;
}

int ring_lost(const struct ring *ring, int link, bool out, int error, struct failure *err)
{
	(void)ring;
	(void)link;
	(void)out;
	(void)error;
	(void)err;
	return -1;
}

int pattern_check(const struct pattern *pattern, const struct span *span,
		  const struct comparer *comparer, const void *data, size_t count,
		  struct mismatch *found, struct failure *err)
{
	(void)pattern;
	(void)span;
	(void)data;
	(void)count;
	(void)found;
	(void)comparer;
	(void)err;
	return 0;
}

#define LEADERS 3

static int order[LEADERS] = {0, 1, 2}, begin[LEADERS + 1] = {0, 1, 2, 3};
static struct piece pieces[2 * LEADERS + 1];

static struct ring ring_of(struct group *group, int me)
{
	group->world = LEADERS;
	sent = received = 0;
	return (struct ring){.group = group,
			     .me = me,
			     .count = LEADERS,
			     .order = order,
			     .begin = begin,
			     .pieces = pieces};
}

static void extents(void **state)
{
	(void)state;
	for (int kind = 0; kind < COLLECTIVE_COUNT; kind++)
		for (int type = 0; type < DTYPE_COUNT; type++) {
			size_t element = dtype_bytes((enum dtype)type);
			struct extent e = collective_extent((enum collective_kind)kind, 5 * GIB + 3,
							    (enum dtype)type, LEADERS);
			size_t most = e.send > e.recv ? e.send : e.recv;

			assert_true(most * element <= 5 * GIB + 3);
			assert_true(most * element > 5 * GIB - 16 * LEADERS);
			assert_true(e.send == e.count || e.send == e.count * LEADERS);
			assert_true(e.recv == e.count || e.recv == e.count * LEADERS);
			assert_true((e.send_offset + e.recv_offset) * (LEADERS - 1) < most);
		}
}

/* The segments of an all-reduce tile the vector, each once per round. */
static void segments(void **state)
{
	const size_t count = 5 * GIB + 3;
	struct group group = {.rank = 0};

	(void)state;
	for (int me = 0; me < LEADERS; me++) {
		struct ring ring = ring_of(&group, me);
		uint64_t total = 0, ends = 0;

		assert_int_equal(cut(&ring, count, 1), 2 * LEADERS - 1);
		for (int i = 0; i < LEADERS; i++) {
			total += pieces[i].bytes;
			ends += pieces[i].at + pieces[i].bytes == count;
			for (int j = 0; j < i; j++)
				assert_true(pieces[i].at + pieces[i].bytes <= pieces[j].at ||
					    pieces[j].at + pieces[j].bytes <= pieces[i].at);
		}
		assert_true(total == count);
		assert_true(ends == 1);
	}
}

static void streams(void **state)
{
	struct group group = {.rank = 1};
	struct failure err = {.status = STATUS_PASS};
	struct ring ring = ring_of(&group, 1);

	(void)state;
	vector_bytes = 9 * GIB;
	vector = mmap(NULL, vector_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		      -1, 0);
	assert_true(vector != MAP_FAILED);
	assert_int_equal(ring_broadcast(&ring, vector, vector_bytes, 0, &err), 0);
	assert_true(received == vector_bytes && sent == vector_bytes);
	ring = ring_of(&group, 1);
	assert_int_equal(ring_allgather(&ring, vector, vector_bytes / LEADERS, &err), 0);
	assert_true(received == vector_bytes / LEADERS * (LEADERS - 1) && sent == received);
	munmap(vector, vector_bytes);
}

/* What control_awaits() is told grows with what has come, whatever the size. */
static void progress(void **state)
{
	(void)state;
	assert_true(ring_done(1, 0) > ring_done(0, (size_t)1 << 40));
	assert_true(ring_done(3, 5 * GIB) > ring_done(3, GIB));
	assert_true(ring_done(32768, (size_t)1 << 40) > ring_done(32768, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extents),
		cmocka_unit_test(segments),
		cmocka_unit_test(streams),
		cmocka_unit_test(progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
