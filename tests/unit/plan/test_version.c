/* SPDX-License-Identifier: MIT */
/* The order of versions, and what a requirement admits. */
#include "tests/unit/support.h"

#include "plan/version.h"

/* Each is older than the next one. */
static const struct {
	const char *older, *newer;
} ordered[] = {
	{"1", "2"},
	{"9", "10"},
	{"1.9", "1.10"},
	{"4.1.4", "4.1.5"},
	{"4.1.4", "4.10"},
	{"4.1.4", "5"},
	{"12.1", "12.1.1"},
	{"12", "12.0.1"},
	{"0", "0.1"},
	{"2.5.6", "2.5.6-1"},
	{"2.5.6.0", "2.5.6-1"},
	{"2.5.6-1", "2.5.6-2"},
	{"2.5.6-9", "2.5.6-10"},
	{"2.5.6-1", "2.5.7"},
	{"2.5.6-1", "2.5.7-1"},
	{"ubuntu18.04", "ubuntu20.04"},
	{"ubuntu20.04", "ubuntu20.10"},
	{"debian9", "debian10"},
	{"debian12", "ubuntu20.04"},
	{"1.2a", "1.2b"},
	{"1.2a9", "1.2a10"},
	{"470.57.02", "525.60.13"},
	{"525.60.13", "525.105.17"},
	{"", "1"},
	{"", "a"},
};

static const struct {
	const char *a, *b;
} equal[] = {
	{"", ""},
	{"1", "1"},
	{"12.1", "12.1.0"},
	{"12.1", "12.1.0.0"},
	{"1", "1.0"},
	{"1.01", "1.1"},
	{"1.", "1"},
	{"1", "1."},
	{"debian12", "debian12."},
	{"2.5.6-1", "2.5.6-1"},
	{"0", ""},
	{"ubuntu20.04", "ubuntu20.4"},
	{"1.0.", "1"},
};

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

/* Versions as blocks of their own, so that a read behind the end is seen. */
static int compare(const char *a, const char *b)
{
	char *own_a = strdup(a), *own_b = strdup(b);
	int order = sign(version_compare(own_a, own_b));

	free(own_a);
	free(own_b);
	return order;
}

static void test_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ordered); i++) {
		if (compare(ordered[i].older, ordered[i].newer) != -1 ||
		    compare(ordered[i].newer, ordered[i].older) != 1)
			fail_msg("%s is not older than %s", ordered[i].older, ordered[i].newer);
	}
	for (size_t i = 0; i < ARRAY_LEN(equal); i++)
		if (compare(equal[i].a, equal[i].b) != 0 || compare(equal[i].b, equal[i].a) != 0)
			fail_msg("'%s' is not equal to '%s'", equal[i].a, equal[i].b);
}

/* Sorting must not depend on where it begins: the order is transitive. */
static void test_order_is_transitive(void **state)
{
	static const char *const all[] = {"",	   "0",	      "1",	 "1.0",	    "1-1",
					  "1.0-1", "1.1",     "1a",	 "1.a",	    "1.0a",
					  "2.5.6", "2.5.6-1", "2.5.6.0", "2.5.6.1", "10",
					  "a",	   "a1",      "a.1",	 "1.0.0.1", "1-0"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		for (size_t j = 0; j < ARRAY_LEN(all); j++) {
			int ij = compare(all[i], all[j]);

			assert_int_equal(ij, -compare(all[j], all[i]));
			for (size_t k = 0; k < ARRAY_LEN(all); k++)
				if (ij <= 0 && compare(all[j], all[k]) <= 0 &&
				    compare(all[i], all[k]) > 0)
					fail_msg("'%s' <= '%s' <= '%s', but not first <= last",
						 all[i], all[j], all[k]);
		}
	}
}

static const struct {
	const char *requirement, *version;
	bool admits;
} admissions[] = {
	{"openmpi", "4.1.4", true},
	{"openmpi==4.1.4", "4.1.4", true},
	{"openmpi==4.1.4", "4.1.4.0", true},
	{"openmpi==4.1", "4.1.4", false},
	{"openmpi==4.1.4", "4.1.5", false},
	{"openmpi==4.1.4", "4.1.4-1", false},
	{"cuda==12.1", "12.1.0", true},
	{"cuda==12.1.0", "12.1", true},
	{"cuda==12.1.*", "12.1", true},
	{"cuda==12.1.*", "12.1.3", true},
	{"cuda==12.1.*", "12.10", false},
	{"cuda==12.1.*", "12.2", false},
	{"cuda==12.*", "12.9.1", true},
	{"cuda==12.*", "120", false},
	{"cuda!=12.1", "12.1", false},
	{"cuda!=12.1", "12.1.0", false},
	{"cuda!=12.1", "12.1.1", true},
	{"cuda!=12.1.*", "12.1.1", false},
	{"cuda!=12.1.*", "12.2.1", true},
	{"openmpi>=4", "4", true},
	{"openmpi>=4", "4.0.2", true},
	{"openmpi>=4", "3.9.9", false},
	{"openmpi>=4.1.4", "4.1.4", true},
	{"openmpi>=4.1.4", "4.1.10", true},
	{"openmpi>4", "4", false},
	{"openmpi>4", "4.0", false},
	{"openmpi>4", "4.0.1", true},
	{"openmpi>4", "5", true},
	{"openmpi<=4.1", "4.1.0", true},
	{"openmpi<=4.1", "4.1.1", false},
	{"openmpi<=4.1", "3", true},
	{"openmpi<5", "4.99", true},
	{"openmpi<5", "5", false},
	{"openmpi<5", "5.0.0", false},
	{"openmpi>=4,<5", "4.1.4", true},
	{"openmpi>=4,<5", "5.0", false},
	{"openmpi>=4,<5", "3.1", false},
	{"openmpi>=4,<5,!=4.1.4", "4.1.4", false},
	{"openmpi>=4,<5,!=4.1.4", "4.1.5", true},
	{"openmpi >= 4 , < 5", "4.1.4", true},
	{"openmpi >= 4 , < 5", "5", false},
	{"openmpi== 4.1.4 ", "4.1.4", true},
	{"openmpi ==4.1.4", "4.1.4", true},
	{"python~=3.10", "3.10", true},
	{"python~=3.10", "3.11.2", true},
	{"python~=3.10", "3.9", false},
	{"python~=3.10", "4.0", false},
	{"python~=3.10.1", "3.10.1", true},
	{"python~=3.10.1", "3.10.9", true},
	{"python~=3.10.1", "3.10.0", false},
	{"python~=3.10.1", "3.11", false},
	{"python~=1.4", "1.4", true},
	{"python~=1.4", "14.5", false},
	{"os==ubuntu20.04", "ubuntu20.04", true},
	{"os==ubuntu20.04", "ubuntu22.04", false},
	{"os==debian12", "debian12", true},
	{"os==debian1", "debian12", false},
	{"os!=debian12", "ubuntu20.04", true},
	{"nccl==2.5.6-1", "2.5.6-1", true},
	{"nccl==2.5.6-1", "2.5.6-2", false},
	{"nccl>=2.5.6", "2.5.6-1", true},
	{"gpu==V100", "V100", true},
	{"gpu==V100", "A100", false},
	{"gpu==sm_70", "sm_70", true},
	{"driver>=450.80.02", "525.60.13", true},
	{"driver>=450.80.02", "450.80.01", false},
	{"driver<525,>=470", "470.57.02", true},
	{"cudnn>=8,<9", "8.9.7.29", true},
	{"glibc>=2.27", "2.36", true},
	{"glibc>=2.27", "2.4", false},
};

static void test_admits(void **state)
{
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(admissions); i++) {
		struct requirement req;
		struct error err = {0};

		assert_fine(requirement_parse(admissions[i].requirement, &s->arena, &req, &err));
		if (requirement_admits(&req, admissions[i].version) != admissions[i].admits)
			fail_msg("'%s' and %s: should be %d", admissions[i].requirement,
				 admissions[i].version, admissions[i].admits);
	}
}

static void test_parts(void **state)
{
	struct scratch *s = *state;
	struct requirement req;
	struct error err = {0};

	assert_fine(requirement_parse("openmpi >=4, <5,!=4.1.4", &s->arena, &req, &err));
	assert_string_equal(req.name, "openmpi");
	assert_string_equal(req.text, "openmpi >=4, <5,!=4.1.4");
	assert_int_equal(req.clause_count, 3);
	assert_int_equal(req.clauses[0].operator, VERSION_GE);
	assert_string_equal(req.clauses[0].version, "4");
	assert_int_equal(req.clauses[1].operator, VERSION_LT);
	assert_string_equal(req.clauses[1].version, "5");
	assert_int_equal(req.clauses[2].operator, VERSION_NE);
	assert_string_equal(req.clauses[2].version, "4.1.4");
	assert_fine(requirement_parse("nccl", &s->arena, &req, &err));
	assert_int_equal(req.clause_count, 0);
}

static void test_errors(void **state)
{
	struct scratch *s = *state;
	static const char *const bad[] = {
		"",
		" ",
		"==1",
		"openmpi=4",
		"openmpi=",
		"openmpi==",
		"openmpi>=",
		"openmpi==*",
		"openmpi 4",
		"openmpi==4=5",
		"openmpi>=3<4",
		"openmpi===4",
		"openmpi;4",
		"open mpi",
		"openmpi,",
		"openmpi>>4",
		"openmpi==-1",
		"openmpi>=4.*",
		"openmpi<4.*",
		"openmpi~=4.*",
		"openmpi==4.*.1",
		"openmpi==$(id)",
		"openmpi>=4,x",
		"openmpi== ",
		"openmpi=>4",
		"openmpi!4",
		"openmpi==.*",
		"openmpi==4 5",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct requirement req;
		struct error err = {0};

		if (requirement_parse(bad[i], &s->arena, &req, &err) == 0)
			fail_msg("accepted: '%s'", bad[i]);
		assert_int_equal(err.kind, ERROR_USAGE);
		assert_has(err.text, arena_printf(&s->arena, "'%s' is not a requirement", bad[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order), cmocka_unit_test(test_order_is_transitive),
		SCRATCH_TEST(test_admits),    SCRATCH_TEST(test_parts),
		SCRATCH_TEST(test_errors),
	};

	_Static_assert(ARRAY_LEN(admissions) >= 60, "the table is the specification");
	return cmocka_run_group_tests_name("version", tests, NULL, NULL);
}
