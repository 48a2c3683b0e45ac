/* SPDX-License-Identifier: MIT */
/* When the worker's slow-finder may blame: sweeps as busy machines give them, replayed from a fixed
 * seed. */
#include "tests/unit/support.h"

#include "images/worker/bench/blame.c"
#define by_value judge_by_value
#include "images/worker/bench/judge.c"
#include "images/worker/bench/schedule.c"

#define WORLD 8

static double sweep_seconds = 0.1;
#define SEEDS 12

static uint64_t seed;

static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) / 9007199254740992.0;
}

/* An exchange takes @usec and some percent; with a chance of @disturbed something else runs
 * meanwhile, for up to twenty times as long; with a chance of @lucky it takes a third. */
struct machine {
	double usec, disturbed, lucky;
	int rank, a, b; /* what takes twice as long; -1: nothing */
};

static float exchange_usec(const struct machine *machine, int a, int b)
{
	double usec = machine->usec * (1 + uniform() / 10);

	if (uniform() < machine->lucky)
		usec *= 0.33 + uniform() / 3;
	if (uniform() < machine->disturbed)
		usec += machine->usec * 20 * uniform();
	if (a == machine->rank || b == machine->rank || (a == machine->a && b == machine->b))
		usec *= 2;
	return (float)usec;
}

static void run_machine(const struct machine *machine, int world, struct heat *heat)
{
	float *all = calloc((size_t)world * (size_t)world, sizeof(*all));
	double seconds = 0;

	memset(heat, 0, sizeof(*heat));
	judge_init(heat, world, calloc((size_t)world, sizeof(int)));
	do {
		for (int a = 0; a < world; a++)
			for (int b = a + 1; b < world; b++)
				all[a * world + b] = all[b * world + a] =
					exchange_usec(machine, a, b);
		judge_add(heat, all);
		seconds += sweep_seconds;
	} while (!judge_enough(heat, seconds));
	free(all);
}

static void blame_nobody(double disturbed, double lucky, int world)
{
	const struct machine machine = {100, disturbed, lucky, -1, -1, -1};
	struct heat heat;

	for (uint64_t run = 1; run <= SEEDS; run++) {
		seed = run * 104729;
		run_machine(&machine, world, &heat);
		if (heat.finding_count > 0)
			print_message("disturbed %g lucky %g world %d run %d\n", disturbed, lucky,
				      world, (int)run);
		assert_int_equal(heat.finding_count, 0);
		heat_release(&heat);
	}
}

static void nobody_is_blamed_on_any_machine(void **state)
{
	static const double disturbed[] = {0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.99},
			    lucky[] = {0, 0.02, 0.1, 0.5};

	(void)state;
	for (size_t d = 0; d < 7; d++)
		for (size_t l = 0; l < 4; l++)
			for (int world = 3; world <= WORLD + 1; world += 2)
				blame_nobody(disturbed[d], lucky[l], world);
}

/* Returns how many of SEEDS runs name the fault; no run names anything else. */
static int name(const struct machine *machine, int world, double *most_seconds)
{
	int named = 0;

	*most_seconds = 0;
	for (uint64_t run = 1; run <= SEEDS; run++) {
		struct heat heat;

		seed = run * 7919;
		run_machine(machine, world, &heat);
		for (int i = 0; i < heat.finding_count; i++) {
			assert_int_equal(heat.findings[i].kind,
					 machine->rank >= 0 ? FINDING_RANK : FINDING_LINK);
			assert_int_equal(heat.findings[i].rank,
					 machine->rank >= 0 ? machine->rank : machine->a);
		}
		named += heat.finding_count == 1;
		*most_seconds = heat.seconds > *most_seconds ? heat.seconds : *most_seconds;
		heat_release(&heat);
	}
	return named;
}

static void a_fault_is_named(double disturbed, double lucky)
{
	double seconds;

	for (int rank = 0; rank < WORLD; rank += 3) {
		const struct machine slow_rank = {100, disturbed, lucky, rank, -1, -1};
		const struct machine slow_link = {100, disturbed, lucky, -1, rank, rank + 1};

		assert_int_equal(name(&slow_rank, WORLD, &seconds), SEEDS);
		assert_true(seconds < JUDGE_SECONDS_MOST + 1);
		assert_int_equal(name(&slow_link, WORLD, &seconds), SEEDS);
		assert_true(seconds < JUDGE_SECONDS_MOST + 1);
	}
}

static void a_fault_is_named_on_a_quiet_machine(void **state)
{
	double seconds;
	const struct machine slow = {100, 0, 0, 1, -1, -1};

	(void)state;
	a_fault_is_named(0, 0);
	assert_int_equal(name(&slow, 3, &seconds), SEEDS);
	assert_true(seconds < JUDGE_SECONDS_SURE + 1);
}

static void a_fault_is_named_on_a_busy_machine(void **state)
{
	(void)state;
	a_fault_is_named(0.3, 0);
	a_fault_is_named(0.6, 0);
	a_fault_is_named(0.7, 0);
}

/* The fastest exchanges are no measure here, the median is. */
static void a_fault_is_named_among_strokes_of_luck(void **state)
{
	(void)state;
	a_fault_is_named(0.1, 0.02);
	a_fault_is_named(0.3, 0.05);
}

/* Among many ranks a sweep takes seconds: then there is time for as many as it takes to be sure, and an end. */
static void slow_sweeps_end_with_a_verdict(void **state)
{
	static const struct machine slow = {100, 0.1, 0, 1, -1, -1},
				    healthy = {100, 0.9, 0, -1, -1, -1};
	struct heat heat;

	(void)state;
	seed = 1;
	sweep_seconds = 4;
	run_machine(&slow, 4 * WORLD, &heat);
	assert_int_equal(heat.finding_count, 1);
	assert_int_equal(heat.findings[0].rank, 1);
	assert_false(heat.unjudged);
	assert_true(heat.seconds < JUDGE_SECONDS_LAST + 2 * sweep_seconds);
	heat_release(&heat);
	sweep_seconds = 40;
	run_machine(&healthy, 4 * WORLD, &heat);
	assert_int_equal(heat.finding_count, 0);
	assert_true(heat.unjudged); /* which is not the same as that nobody is slow */
	assert_true(heat.seconds < JUDGE_SECONDS_LAST + 2 * sweep_seconds);
	heat_release(&heat);
	sweep_seconds = 0.1;
}

#define MANY 512
#define MANY_PER_HOST 8
#define BARRIER_SECONDS 0.006 /* of 512 processes of two cores; a fleet's are faster */

static double simulated_sweep(const struct schedule *s, int slow, float usec, float *all)
{
	double seconds = 0;
	struct turn turn;

	for (int round = 0; round < schedule_rounds(s); round++) {
		struct schedule view = *s;
		float most = 0;

		for (int index = 0; index < MANY / 2; index++) {
			int a, b;
			float took;

			pair_of(s, round, index, &a, &b);
			took = usec * (a / MANY_PER_HOST == b / MANY_PER_HOST ? 0.25F : 1) *
			       (a == slow || b == slow ? 2 : 1) * (1 + (float)uniform() / 10);
			all[a * MANY + b] = all[b * MANY + a] = took;
			most = took > most ? took : most;
		}
		seconds += schedule_round(&view, round, &turn) *
			   (BARRIER_SECONDS + 3 * (double)most / 1e6);
	}
	return seconds;
}

/* How long --find-slow takes among 512 ranks on machines of @per ranks and @cores cores, whose exchanges take @usec. */
static double many_ranks_take(int per, int own_cores, int slow, float usec, struct heat *heat)
{
	struct member *members = calloc(MANY, sizeof(*members));
	const struct group group = {.world = MANY, .members = members};
	float *all = calloc((size_t)MANY * MANY, sizeof(*all));
	int cores[MANY], *host = calloc(MANY, sizeof(int));
	struct schedule schedule = {0};
	double warm_up, seconds = 0;

	for (int rank = 0; rank < MANY; rank++) {
		snprintf(members[rank].kernel, sizeof(members[rank].kernel), "%d", rank / per);
		host[rank] = rank / MANY_PER_HOST;
		cores[rank] = own_cores;
	}
	schedule_init(&schedule, &group, cores);
	memset(heat, 0, sizeof(*heat));
	judge_init(heat, MANY, host);
	heat->warm_up_seconds = warm_up = simulated_sweep(&schedule, slow, usec, all);
	do {
		seconds += simulated_sweep(&schedule, slow, usec, all);
		judge_add(heat, all);
	} while (!judge_enough(heat, seconds));
	schedule_release(&schedule);
	free(all);
	free(members);
	return warm_up + seconds;
}

/* The verdict on 512 ranks comes within two minutes: on 64 hosts, and where two of them can run at a time. */
static void many_ranks_end_within_two_minutes(void **state)
{
	struct heat heat;
	double seconds;

	(void)state;
	seed = 1;
	seconds = many_ranks_take(MANY_PER_HOST, 64, 100, 2600, &heat);
	assert_int_equal(heat.finding_count, 1);
	assert_int_equal(heat.findings[0].rank, 100);
	assert_true(seconds < 120 && heat.sweeps >= JUDGE_SWEEPS_SURE);
	heat_release(&heat);
	seconds = many_ranks_take(MANY, 2, -1, 100, &heat);
	assert_int_equal(heat.finding_count, 0);
	assert_true(seconds < 120 && heat.sweeps >= JUDGE_SWEEPS_LEAST);
	heat_release(&heat);
	/* where a sweep takes so long that there is time for one or two, nobody is judged, and in time, too */
	seconds = many_ranks_take(MANY, 2, -1, 5000, &heat);
	assert_int_equal(heat.finding_count, 0);
	assert_true(seconds < 120 && heat.unjudged);
	heat_release(&heat);
}

/* Pairs exchange as much as a sweep has time for. */
static void slow_pairs_exchange_less(void **state)
{
	float all[16] = {0};

	(void)state;
	assert_int_equal(schedule_bytes(4, all, 3, MIB, 32 * MIB), 32 * MIB);
	for (int other = 1; other < 4; other++)
		all[4 * other] = all[other] =
			1700; /* 3 exchanges with 3 partners: 32 times that is 490 ms */
	assert_int_equal(schedule_bytes(4, all, 3, MIB, 32 * MIB), 32 * MIB);
	all[1] = 5000;
	assert_int_equal(schedule_bytes(4, all, 3, MIB, 32 * MIB), 16 * MIB);
	all[1] = 1e6F;
	assert_int_equal(schedule_bytes(4, all, 3, MIB, 32 * MIB), MIB);
	assert_int_equal(schedule_bytes(4, all, 3, MIB, MIB), MIB);
}

/* A machine that gets faster or slower as a whole is nobody's fault. */
static void all_together_is_no_fault(void **state)
{
	struct heat heat;
	float all[WORLD * WORLD];
	double seconds = 0;

	(void)state;
	memset(&heat, 0, sizeof(heat));
	judge_init(&heat, WORLD, calloc(WORLD, sizeof(int)));
	for (int sweep = 0; sweep < 60; sweep++) {
		for (int i = 0; i < WORLD * WORLD; i++)
			all[i] = i % (WORLD + 1) == 0 ? 0 : sweep / 10 % 2 ? 400 : 100;
		judge_add(&heat, all);
		judge_enough(&heat, seconds += sweep_seconds);
		assert_int_equal(heat.finding_count, 0);
	}
	heat_release(&heat);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_is_blamed_on_any_machine),
		cmocka_unit_test(a_fault_is_named_on_a_quiet_machine),
		cmocka_unit_test(a_fault_is_named_on_a_busy_machine),
		cmocka_unit_test(a_fault_is_named_among_strokes_of_luck),
		cmocka_unit_test(slow_sweeps_end_with_a_verdict),
		cmocka_unit_test(many_ranks_end_within_two_minutes),
		cmocka_unit_test(slow_pairs_exchange_less),
		cmocka_unit_test(all_together_is_no_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
