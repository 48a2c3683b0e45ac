/* SPDX-License-Identifier: MIT */
/* The worker's slow-finder without ranks: who is blamed for which times, and who meets whom. */
#include "tests/unit/support.h"

#include "images/worker/bench/blame.c"
#include "images/worker/bench/schedule.c"
#include "images/worker/health/nvml_link.h"

#define RANKS_MAX 24

/* A cluster in which every exchange takes 100 us within a host, 400 us across, plus up to @noise
 * percent. */
struct cluster {
	int world, per_host;
	int host[RANKS_MAX];
	float usec[RANKS_MAX * RANKS_MAX];
	struct finding findings[FINDINGS_MAX];
};

static void cluster_init(struct cluster *c, int world, int per_host, unsigned noise)
{
	unsigned seed = 1;

	*c = (struct cluster){.world = world, .per_host = per_host};
	for (int rank = 0; rank < world; rank++)
		c->host[rank] = rank / per_host;
	for (int a = 0; a < world; a++) {
		for (int b = a + 1; b < world; b++) {
			float usec = c->host[a] == c->host[b] ? 100 : 400;

			seed = seed * 1103515245u + 12345u;
			usec *= 1 + (float)(seed >> 16 & 0xff) / 256 * (float)noise / 100;
			c->usec[a * world + b] = c->usec[b * world + a] = usec;
		}
	}
}

static void slow_pair(struct cluster *c, int a, int b, float factor)
{
	c->usec[a * c->world + b] *= factor;
	c->usec[b * c->world + a] *= factor;
}

static void slow_rank(struct cluster *c, int rank, float factor, bool across_only)
{
	for (int other = 0; other < c->world; other++)
		if (other != rank && !(across_only && c->host[other] == c->host[rank]))
			slow_pair(c, rank, other, factor);
}

static int blame_count(struct cluster *c)
{
	const struct pairs pairs = {.world = c->world, .host = c->host, .usec = c->usec};

	return blame_pairs(&pairs, c->findings);
}

static void nobody_is_blamed_for_noise(void **state)
{
	(void)state;
	for (int world = 1; world <= RANKS_MAX; world++) {
		for (int per_host = 1; per_host <= world; per_host++) {
			struct cluster c;

			cluster_init(&c, world, per_host, 40);
			assert_int_equal(blame_count(&c), 0);
		}
	}
}

static void a_slow_rank_is_named(void **state)
{
	(void)state;
	for (int world = 3; world <= RANKS_MAX; world++) {
		for (int rank = 0; rank < world; rank++) {
			struct cluster c;

			cluster_init(&c, world, world, 5);
			slow_rank(&c, rank, 2, false);
			assert_int_equal(blame_count(&c), 1);
			assert_int_equal(c.findings[0].kind, FINDING_RANK);
			assert_int_equal(c.findings[0].rank, rank);
			assert_false(c.findings[0].across);
		}
	}
}

static void a_slow_link_is_named(void **state)
{
	(void)state;
	for (int world = 3; world <= RANKS_MAX; world++) {
		for (int a = 0; a < world; a++) {
			struct cluster c;
			int b = (a + 1) % world;

			cluster_init(&c, world, 1, 5);
			slow_pair(&c, a, b, 2);
			assert_int_equal(blame_count(&c), 1);
			assert_int_equal(c.findings[0].kind, FINDING_LINK);
			assert_int_equal(c.findings[0].rank, a < b ? a : b);
			assert_int_equal(c.findings[0].other, a < b ? b : a);
			assert_true(c.findings[0].across);
		}
	}
}

/*
 * Two ranks per host: within its host a slow rank has one partner, and that is no second finding.
 */
static void a_slow_rank_explains_its_links(void **state)
{
	(void)state;
	for (int rank = 0; rank < 8; rank++) {
		struct cluster c;

		cluster_init(&c, 8, 2, 5);
		slow_rank(&c, rank, 2, false);
		slow_pair(&c, rank, rank ^ 1, 1.2f);
		assert_int_equal(blame_count(&c), 1);
		assert_int_equal(c.findings[0].kind, FINDING_RANK);
		assert_int_equal(c.findings[0].rank, rank);
	}
}

static void a_host_with_a_slow_nic_is_named_once(void **state)
{
	struct cluster c;

	(void)state;
	cluster_init(&c, 24, 4, 5);
	for (int rank = 8; rank < 12; rank++)
		slow_rank(&c, rank, 3, true);
	assert_int_equal(blame_count(&c), 1);
	assert_int_equal(c.findings[0].kind, FINDING_HOST);
	assert_int_equal(c.findings[0].rank, 8);
	assert_true(c.findings[0].across);
}

static void a_slow_link_between_hosts_is_one(void **state)
{
	struct cluster c;

	(void)state;
	cluster_init(&c, 24, 4, 5);
	for (int a = 4; a < 8; a++)
		for (int b = 20; b < 24; b++)
			slow_pair(&c, a, b, 2);
	assert_int_equal(blame_count(&c), 1);
	assert_int_equal(c.findings[0].kind, FINDING_LINK);
	assert_int_equal(c.findings[0].rank, 4);
	assert_int_equal(c.findings[0].other, 20);
}

static void the_slowest_comes_first(void **state)
{
	struct cluster c;

	(void)state;
	cluster_init(&c, 12, 12, 5);
	slow_rank(&c, 2, 2, false);
	slow_rank(&c, 9, 4, false);
	slow_pair(&c, 5, 6, 3);
	assert_int_equal(blame_count(&c), 3);
	assert_int_equal(c.findings[0].rank, 9);
	assert_int_equal(c.findings[1].kind, FINDING_LINK);
	assert_int_equal(c.findings[2].rank, 2);
}

/* Two sockets of one host: half of the pairs take twice as long, and that is nobody's fault. */
static void two_sockets_are_no_fault(void **state)
{
	struct cluster c;

	(void)state;
	cluster_init(&c, 8, 8, 5);
	for (int a = 0; a < 4; a++)
		for (int b = 4; b < 8; b++)
			slow_pair(&c, a, b, 2);
	assert_int_equal(blame_count(&c), 0);
}

static void unmeasured_pairs_are_left_out(void **state)
{
	struct cluster c;

	(void)state;
	cluster_init(&c, 12, 1, 5);
	slow_rank(&c, 7, 2, false);
	for (int a = 0; a < 12; a++)
		for (int b = 0; b < 12; b++)
			if ((a - b + 12) % 12 % 6 > 3)
				slow_pair(&c, a, b, 0);
	assert_int_equal(blame_count(&c), 1);
	assert_int_equal(c.findings[0].rank, 7);
}

/* Every pair of @world ranks meets once, in batches that leave no machine more ranks than cores,
 * and both sides agree; seats of a machine are distinct. */
static void check_schedule(int world, int per_machine, int cores_each)
{
	struct member members[RANKS_MAX];
	struct schedule s[RANKS_MAX] = {0};
	int cores[RANKS_MAX], met[RANKS_MAX][RANKS_MAX] = {{0}};

	memset(members, 0, sizeof(members));
	for (int rank = 0; rank < world; rank++) {
		snprintf(members[rank].kernel, sizeof(members[rank].kernel), "machine%d",
			 rank / per_machine);
		cores[rank] = cores_each;
	}
	for (int rank = 0; rank < world; rank++) {
		const struct group group = {.rank = rank, .world = world, .members = members};

		schedule_init(&s[rank], &group, cores);
	}
	for (int round = 0; round < schedule_rounds(&s[0]); round++) {
		struct turn turns[RANKS_MAX];
		int batches = 0;

		for (int rank = 0; rank < world; rank++)
			batches = schedule_round(&s[rank], round, &turns[rank]);
		for (int rank = 0; rank < world; rank++) {
			const struct turn *turn = &turns[rank];
			int beside = 0;

			if (turn->peer < 0)
				continue;
			assert_int_equal(turns[turn->peer].peer, rank);
			assert_int_equal(turns[turn->peer].batch, turn->batch);
			assert_in_range(turn->batch, 0, batches - 1);
			met[rank][turn->peer]++;
			for (int other = 0; other < world; other++) {
				if (other / per_machine != rank / per_machine || other == rank ||
				    turns[other].batch != turn->batch)
					continue;
				beside++;
				assert_int_not_equal(turns[other].seat, turn->seat);
			}
			assert_true(cores_each <= 1 || beside < cores_each || beside == 1);
		}
	}
	for (int a = 0; a < world; a++) {
		schedule_release(&s[a]);
		for (int b = 0; b < world; b++)
			assert_int_equal(met[a][b], a != b);
	}
}

static void everybody_meets_everybody_once(void **state)
{
	(void)state;
	for (int world = 1; world <= RANKS_MAX; world++)
		for (int cores = 1; cores <= 8; cores++) {
			check_schedule(world, world, cores);
			check_schedule(world, 1, cores);
			check_schedule(world, 3, cores);
		}
}

/* A machine in which not all GPUs are wired alike: the pairs' links, and each link's time. */
struct machine {
	const char *name;
	int gpus;
	const char
		*rows[8]; /* a digit for each GPU: NVLinks to it; 0: only over the machine's bus */
};

static const struct machine machines[] = {
	{"DGX-1V",
	 8,
	 {".1122000", "1.210200", "12.20010", "212.0001", "2000.112", "02001.21", "001012.2",
	  "0001212."}},
	{"two sockets, two and one", 3, {".90", "9.0", "00."}},
	{"four pairs",
	 8,
	 {".4000000", "4.000000", "00.40000", "004.0000", "0000.400", "00004.00", "000000.4",
	  "0000004."}},
};

static void machine_init(struct cluster *c, const struct machine *machine, uint8_t *link)
{
	cluster_init(c, machine->gpus, machine->gpus, 5);
	for (int a = 0; a < machine->gpus; a++)
		for (int b = a + 1; b < machine->gpus; b++) {
			int links = machine->rows[a][b] - '0';

			assert_int_equal(machine->rows[a][b], machine->rows[b][a]);
			link[a * machine->gpus + b] = link[b * machine->gpus + a] =
				(uint8_t)(links ? links : NVML_LINK_SYS);
			slow_pair(c, a, b, links ? 1.0F / (float)links : 3);
		}
}

/* Pairs with different links between them are no reason to blame; a slow link among its like is one. */
static void different_links_are_judged_apart(void **state)
{
	int blamed = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		const struct machine *machine = &machines[i];
		uint8_t link[64] = {0};
		struct cluster c;
		struct pairs pairs;

		machine_init(&c, machine, link);
		pairs = (struct pairs){.world = c.world, .host = c.host, .usec = c.usec};
		blamed += blame_pairs(&pairs, c.findings) > 0;
		pairs.link = link;
		if (blame_pairs(&pairs, c.findings) != 0)
			fail_msg("%s: ranks %d and %d", machine->name, c.findings[0].rank,
				 c.findings[0].other);
		if (machine->gpus < 8)
			continue;
		slow_pair(&c, 0, 1, 2);
		assert_int_equal(blame_pairs(&pairs, c.findings), 1);
		assert_int_equal(c.findings[0].kind, FINDING_LINK);
		assert_int_equal(c.findings[0].rank + c.findings[0].other, 1);
		assert_int_equal(c.findings[0].link, link[1]);
	}
	assert_true(blamed >= 1); /* without that knowledge */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_is_blamed_for_noise),
		cmocka_unit_test(a_slow_rank_is_named),
		cmocka_unit_test(a_slow_link_is_named),
		cmocka_unit_test(a_slow_rank_explains_its_links),
		cmocka_unit_test(a_host_with_a_slow_nic_is_named_once),
		cmocka_unit_test(a_slow_link_between_hosts_is_one),
		cmocka_unit_test(the_slowest_comes_first),
		cmocka_unit_test(two_sockets_are_no_fault),
		cmocka_unit_test(unmeasured_pairs_are_left_out),
		cmocka_unit_test(everybody_meets_everybody_once),
		cmocka_unit_test(different_links_are_judged_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
