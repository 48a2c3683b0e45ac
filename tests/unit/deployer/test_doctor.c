/* SPDX-License-Identifier: MIT */
/* Conditions, and the rows of recipes/findings.csv with their cases in tests/cases/doctor. */
#include "tests/unit/support.h"

#include "deployer/doctor/doctor.h"
#include "deployer/remote.h"
#include "core/str.h"

#define HOSTS_MAX 8

static struct findings *table_of(struct scratch *s)
{
	struct findings *findings = ARENA_NEW(&s->arena, struct findings);
	struct error err = {0};

	source_root(s);
	assert_fine(findings_load(&s->arena, findings, &err));
	return findings;
}

/* ---- conditions ---- */

struct lines {
	const char *text;
	struct arena *arena;
};

static const char *line_of(const void *arg, const char *name)
{
	const struct lines *lines = arg;

	return remote_value(lines->text, name, lines->arena);
}

static bool no_difference(const void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "odd") == 0;
}

static void test_conditions(void **state)
{
	static const struct {
		const char *condition;
		bool holds;
	} rows[] = {
		{"a", true},
		{"none", false},
		{"zero", false},
		{"off", false},
		{"missing(none)", true},
		{"missing(zero)", false},
		{"not missing(a)", true},
		{"v < 19.03", true},
		{"v < 18.9", false},
		{"v == '18.09.7'", true},
		{"v != '18.09.7'", false},
		{"none != 'x'", false},
		{"not none == 'x'", true},
		{"n >= 10", true},
		{"n > 10.5", false},
		{"neg < -1", true},
		{"big == 1e3", true},
		{"list has 'b'", true},
		{"list has 'bb'", false},
		{"list contains 'a;b'", true},
		{"any list == 'c'", true},
		{"any nums > 3", true},
		{"any nums > 4", false},
		{"any dash > 0", false},
		{"count(list) == 3", true},
		{"count(none) == 0", true},
		{"count(list) > count(nums)", true},
		{"a like 'x*z'", true},
		{"a like 'x'", false},
		{"differs(odd)", true},
		{"differs(a)", false},
		{"a and none or list", true},
		{"none or none and a", false},
		{"a and (none or list)", true},
		{"not (a and list)", false},
		{"not not a", true},
		{"  a  and  list  ", true},
	};
	static const char *const bad[] = {
		"",	     "a b",	"a ==",	   "(a",	"a)",	     "'text'", "any a",
		"any 3 > 2", "a == 'x", "count(a", "missing a", "a == == b", "3",      "a, b"};
	struct scratch *s = *state;
	struct lines lines = {"a=xyz\nzero=0\noff=no\nv=18.09.7\nn=10\nneg=-2\nbig=1000\n"
			      "list=a;b;c\nnums=1;4\ndash=-;-\n",
			      &s->arena};
	struct condition_world world = {line_of, no_difference, &lines};
	struct condition *c;
	struct error err = {0};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_fine(condition_parse(rows[i].condition, NULL, &s->arena, &c, &err));
		if (condition_holds(c, &world) != rows[i].holds)
			fail_msg("%s", rows[i].condition);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_fails(condition_parse(bad[i], NULL, &s->arena, &c, &err), ERROR_USAGE,
			     "at character");
	{
		char deep[400];

		memset(deep, '(', sizeof(deep));
		deep[sizeof(deep) - 1] = '\0';
		assert_fails(condition_parse(deep, NULL, &s->arena, &c, &err), ERROR_USAGE,
			     "too many brackets");
	}
}

/* ---- findings ---- */

/* The hosts of "so" or "not so" in a case. */
static size_t hosts_of(struct scratch *s, char *block, struct patient *patients)
{
	size_t count = 0;
	char *one;

	while (block && count < HOSTS_MAX) {
		struct facts *facts = ARENA_NEW(&s->arena, struct facts);
		char *next = strstr(block, "--\n");
		struct error err = {0};

		if (next)
			*next = '\0';
		one = arena_printf(&s->arena, "kernel=6.1\n%s", block);
		assert_fine(facts_parse(arena_printf(&s->arena, "node%02zu", count + 1), one, NULL,
					&s->arena, facts, &err));
		facts->clock_skew_seconds =
			strtod(remote_value(one, "clock_skew_seconds", &s->arena), NULL);
		patients[count++] = (struct patient){facts, one};
		block = next ? next + 3 : NULL;
	}
	return count;
}

static bool is_found(struct scratch *s, const struct findings *findings, const char *id,
		     char *block)
{
	struct patient patients[HOSTS_MAX];
	size_t hosts = hosts_of(s, block, patients), count;
	struct finding *list;

	count = findings_of(findings, patients, hosts, &s->arena, &list);
	for (size_t i = 0; i < count; i++) {
		assert_lacks(list[i].what, "@{");
		assert_lacks(list[i].fix, "@{");
		if (strcmp(list[i].row->id, id) == 0)
			return true;
	}
	return false;
}

static void test_every_finding(void **state)
{
	struct scratch *s = *state;
	const struct findings *findings = table_of(s);

	assert_true(findings->count >= 80);
	for (size_t i = 0; i < findings->count; i++) {
		const char *id = findings->rows[i].id;
		char *text = slurp(s, arena_printf(&s->arena, "%s/tests/cases/doctor/%s.txt",
						   source_root(s), id));
		char *not_so = strstr(text, "not so\n");

		if (!starts_with(text, "so\n") || !not_so)
			fail_msg("%s: the case has no 'so' and 'not so'", id);
		*not_so = '\0';
		if (!is_found(s, findings, id, text + 3))
			fail_msg("%s is not found where it is so", id);
		if (is_found(s, findings, id, not_so + 7))
			fail_msg("%s is found where it is not so", id);
		if (!starts_with(findings->rows[i].source, "https://"))
			fail_msg("%s: its source is no page", id);
		if (ends_with(findings->rows[i].what, ".") || ends_with(findings->rows[i].fix, "."))
			fail_msg("%s: a full stop", id);
	}
}

/* Every case belongs to a finding, so that a renamed row does not leave one behind. */
static void test_every_case(void **state)
{
	struct scratch *s = *state;
	const struct findings *findings = table_of(s);
	struct error err = {0};
	const char **names;
	size_t count = 0;

	assert_fine(folder_list(arena_printf(&s->arena, "%s/tests/cases/doctor", source_root(s)),
				".txt", &s->arena, &names, &err));
	while (names[count])
		count++;
	assert_int_equal(count, findings->count);
}

/* Hosts that say the same share a finding, and a fleet's finding says who differs. */
static void test_groups(void **state)
{
	struct scratch *s = *state;
	const struct findings *findings = table_of(s);
	char block[] = "driver=535.54.03\ncpu_governor=powersave\n--\ndriver=550.54.15\n"
		       "cpu_governor=powersave\n--\ndriver=535.54.03\ncpu_governor=ondemand\n";
	struct patient patients[HOSTS_MAX];
	struct finding *list;
	size_t hosts = hosts_of(s, block, patients),
	       count = findings_of(findings, patients, hosts, &s->arena, &list), seen = 0;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i].row->id, "driver-mixed") == 0) {
			assert_string_equal(list[i].what,
					    "the hosts have different drivers: 535.54.03 on "
					    "node[01,03]; 550.54.15 on node02");
			seen++;
		}
		if (strcmp(list[i].row->id, "governor") == 0 && list[i].hosts.count == 2) {
			assert_string_equal(list[i].hosts.list[1], "node02");
			seen++;
		}
		if (i)
			assert_true(list[i - 1].row->severity <= list[i].row->severity);
	}
	assert_int_equal(seen, 2);
}

/* The sentence of a finding of one host; "" where it is not found. */
static const char *what_of(struct scratch *s, const char *id, char *block)
{
	struct patient patients[HOSTS_MAX];
	struct finding *list;
	size_t count =
		findings_of(table_of(s), patients, hosts_of(s, block, patients), &s->arena, &list);

	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].row->id, id) == 0)
			return list[i].what;
	return "";
}

/* Sizes have a unit, and a value that is not known leaves no hole in the sentence. */
static void test_values(void **state)
{
	static const struct {
		const char *id, *block, *what;
	} rows[] = {
		{"shm-small", "shm_bytes=67108864\n", "/dev/shm of the host has 64 MiB"},
		{"swap-used", "swap_used_bytes=8589934592\n", "8.0 GiB are swapped out"},
		{"memlock-low", "infiniband=mlx5_0\nlimit_memlock=65536\n",
		 "a login may lock 64 KiB of memory"},
		{"driver-library-mismatch",
		 "driver=396.54\ngpu_error=nvidia-smi ends with status 18: version mismatch\n",
		 "the driver in the kernel is 396.54 and the libraries on disk are of another "
		 "version: (unknown)"},
	};
	static const char *const ended[] = {"rhel7.9",	"rhel6.10",    "centos7",    "debian10",
					    "debian11", "ubuntu20.04", "ubuntu18.04"};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(what_of(s, rows[i].id, arena_strdup(&s->arena, rows[i].block)),
				    rows[i].what);
	for (size_t i = 0; i < ARRAY_LEN(ended); i++)
		assert_has(what_of(s, "os-ended", arena_printf(&s->arena, "os=%s\n", ended[i])),
			   ended[i]);
}

/* What a host says is data: it is cut, cleaned, and cannot become what ringup itself says. */
static void test_hostile(void **state)
{
	struct scratch *s = *state;
	const struct findings *findings = table_of(s);
	char *block =
		arena_printf(&s->arena,
			     "cluster_engine=docker\nengine=docker\nengine_error=\033[2J%0600d\n"
			     "cluster_engine=none\n",
			     7);
	struct patient patients[HOSTS_MAX];
	struct finding *list;
	size_t count =
		findings_of(findings, patients, hosts_of(s, block, patients), &s->arena, &list);

	assert_true(count > 0);
	for (size_t i = 0; i < count; i++) {
		assert_lacks(list[i].what, "\033");
		assert_true(strlen(list[i].what) < 400);
	}
}

static void test_wrong_tables(void **state)
{
	static const struct {
		const char *row, *error;
	} rows[] = {
		{"a,bad,host,gpus,w,y,f,,u", "t:2: 'severity'"},
		{"a,error,stack,gpus,w,y,f,,u", "'scope'"},
		{"a,error,host,gpu,w,y,f,,u", "an unknown name"},
		{"a,error,host,gpus ==,w,y,f,,u", "t:2: condition"},
		{"a,error,host,gpus,w @{gpu},y,f,,u", "names nothing"},
		{"a,error,host,gpus,w @{gpus,y,f,,u", "names nothing"},
		{"a,error,host,gpus,,y,f,,u", "a cell is empty"},
		{"a,error,host,gpus,w,y,f,,", "a cell is empty"},
		{"a,error,host,gpus,w,y,f,,u\na,note,host,gpus,w,y,f,,u", "t:3: a second row"},
	};
	struct scratch *s = *state;
	struct findings findings;
	struct error err;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *text = arena_printf(
			&s->arena, "id,severity,scope,condition,what,why,fix,command,source\n%s",
			rows[i].row);

		assert_fails(findings_parse("t", text, strlen(text), &s->arena, &findings, &err),
			     ERROR_USAGE, rows[i].error);
	}
}

static void test_overlap(void **state)
{
	static const struct {
		const char *cidr, *networks, *overlap;
	} rows[] = {
		{"10.0.0.0/24", "eth0 10.0.0.1/24;docker0 172.17.0.1/16", ""},
		{"172.17.4.0/24", "eth0 172.17.4.1/24;docker0 172.17.0.1/16",
		 "docker0 172.17.0.1/16"},
		{"172.16.0.0/12", "eth0 172.16.0.1/12;docker0 172.17.0.1/16",
		 "docker0 172.17.0.1/16"},
		{"10.0.0.0/24", "eth0 10.0.0.1/24;eth0 10.0.0.2/32", ""},
		{"", "docker0 172.17.0.1/16", ""},
		{"fd00::/64", "docker0 172.17.0.1/16", ""},
		{"10.0.0.0/99", "docker0 10.0.0.1/16", ""},
		{"10.0.0.0/24", "x;y ;z 10.0.0.0/;w 300.0.0.0/8", ""},
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(
			doctor_overlap(rows[i].cidr, "eth0", rows[i].networks, &s->arena),
			rows[i].overlap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_conditions),	 SCRATCH_TEST(test_every_finding),
		SCRATCH_TEST(test_every_case),	 SCRATCH_TEST(test_groups),
		SCRATCH_TEST(test_values),	 SCRATCH_TEST(test_hostile),
		SCRATCH_TEST(test_wrong_tables), SCRATCH_TEST(test_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
