/* SPDX-License-Identifier: MIT */
/* Which steps hosts need (tests/cases/setup), and how daemon.json is merged. */
#include "tests/unit/support.h"

#include "core/str.h"
#include "deployer/doctor/findings.h"
#include "deployer/remote.h"
#include "deployer/setup/daemon_json.h"
#include "deployer/setup/setup.h"

static struct setup_steps *steps_of(struct scratch *s)
{
	struct setup_steps *steps = ARENA_NEW(&s->arena, struct setup_steps);
	struct error err = {0};

	source_root(s);
	assert_fine(setup_load(&s->arena, steps, &err));
	return steps;
}

static const char *or_else(const char *text, const char *otherwise)
{
	return *text ? text : otherwise;
}

/* The ids of the steps that the facts need, one a line. */
static const char *needs_of(struct scratch *s, const struct setup_steps *steps, const char *lines,
			    const char *const *skip)
{
	_cleanup_(str_release) struct str out = STR_INIT;
	bool *needs = ARENA_ARRAY(&s->arena, steps->count, bool);
	struct error err = {0};
	struct facts facts;
	struct catalog *catalog = ARENA_NEW(&s->arena, struct catalog);
	struct setup_wish wish = {
		.engine = or_else(remote_value(lines, "setup_engine", &s->arena), "docker"),
		.driver = remote_value(lines, "setup_driver", &s->arena),
		.skip = skip,
		.catalog = catalog,
	};

	assert_fine(catalog_load(arena_printf(&s->arena, "%s/recipes/catalog", source_root(s)),
				 &s->arena, catalog, &err));
	assert_fine(facts_parse("h", arena_printf(&s->arena, "kernel=6.1\n%s", lines), NULL,
				&s->arena, &facts, &err));
	facts.clock_skew_seconds =
		strtod(remote_value(lines, "clock_skew_seconds", &s->arena), NULL);
	setup_needs(steps, &wish, &facts, &s->arena, needs);
	for (size_t i = 0; i < steps->count; i++)
		if (needs[i])
			str_addf(&out, "%s\n", steps->steps[i].id);
	return arena_strdup(&s->arena, out.text);
}

static void test_cases(void **state)
{
	static const char *const none[] = {NULL};
	struct scratch *s = *state;
	const struct setup_steps *steps = steps_of(s);
	const char **names,
		*folder = arena_printf(&s->arena, "%s/tests/cases/setup", source_root(s));
	struct error err = {0};
	size_t count = 0;

	assert_fine(folder_list(folder, ".txt", &s->arena, &names, &err));
	for (; names[count]; count++) {
		char *text = arena_strdup(&s->arena, slurp(s, arena_printf(&s->arena, "%s/%s",
									   folder, names[count])));
		char *expected = strstr(text, "\n=\n");
		const char *needs;

		assert_non_null(expected);
		*expected = '\0';
		expected += 3;
		needs = needs_of(s, steps, text, none);
		if (strcmp(needs, expected[0] == '\n' ? "" : expected) != 0)
			fail_msg("%s: it needs\n%snot\n%s", names[count], needs, expected);
	}
	assert_true(count >= 10);
}

/* The step that mends what a finding names, by the beginnings of both ids. */
static const char *step_for(const char *finding)
{
	static const char *const steps[][2] = {
		{"driver-missing", "driver-"},	  {"fabric-manager-missing", "fabric-"},
		{"toolkit-", "toolkit-"},	  {"nvml-after-reload", "toolkit-cdi"},
		{"engine-missing", "docker-apt"}, {"docker-old", "docker-newer"},
		{"docker-snap", "docker-snap"},	  {"clock-", "time-"},
		{"memlock-low", "limits"},	  {"files-low", "limits"},
	};

	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		if (starts_with(finding, steps[i][0]))
			return steps[i][1];
	fail_msg("%s sends to ringup setup: which step mends it?", finding);
	return "";
}

/* What 'ringup doctor' sends to 'ringup setup', setup does: the facts of the finding's case need that step. */
static void test_findings_have_steps(void **state)
{
	/* what a host of the case has besides */
	static const char base[] = "os=ubuntu22.04\npackage_manager=apt\ninit=systemd\ngpus=H100\n"
				   "setup_driver=580.65.06\n";
	static const char *const none[] = {NULL};
	struct scratch *s = *state;
	const struct setup_steps *steps = steps_of(s);
	struct findings findings;
	struct error err = {0};

	assert_fine(findings_load(&s->arena, &findings, &err));
	for (size_t i = 0; i < findings.count; i++) {
		const struct finding_row *row = &findings.rows[i];
		char *text;

		/* the log limits are no step, but settings of daemon.json; a fleet's row is of several hosts */
		if (!strstr(row->fix, "ringup setup") || row->is_fleet ||
		    strcmp(row->id, "docker-log-limit") == 0)
			continue;
		text = arena_strdup(&s->arena,
				    slurp(s, arena_printf(&s->arena, "%s/tests/cases/doctor/%s.txt",
							  source_root(s), row->id)));
		assert_non_null(strstr(text, "not so\n"));
		*strstr(text, "not so\n") = '\0';
		text = arena_printf(
			&s->arena, "\n%s",
			needs_of(s, steps, arena_printf(&s->arena, "%s%s", text + 3, base), none));
		if (!strstr(text, arena_printf(&s->arena, "\n%s", step_for(row->id))))
			fail_msg("%s: setup does nothing for it:%s", row->id, text);
	}
}

static void test_skip(void **state)
{
	static const char *const skip[] = {"time", "limits", NULL};
	struct scratch *s = *state;

	assert_string_equal(
		needs_of(
			s, steps_of(s),
			"os=debian12\npackage_manager=apt\nlimit_memlock=8\nclock_synchronized=no\n",
			skip),
		"docker-apt\n");
}

/* No command holds a place that was meant to be filled, and each has a source. */
static void test_rows(void **state)
{
	struct scratch *s = *state;
	const struct setup_steps *steps = steps_of(s);

	assert_true(steps->count > 25);
	for (size_t i = 0; i < steps->count; i++) {
		assert_lacks(steps->steps[i].command, "@{");
		assert_true(starts_with(steps->steps[i].source, "https://"));
	}
}

static void test_wrong_tables(void **state)
{
	static const struct {
		const char *row, *error;
	} rows[] = {
		{"a,engine,gpus,w,,nothing,u", "a cell is empty"},
		{"a,motor,gpus,w,c,nothing,u", "no part 'motor'"},
		{"a,engine,gpu,w,c,nothing,u", "an unknown name"},
		{"a,engine,gpus,w,c,yes,u", "'after' is not"},
	};
	struct scratch *s = *state;
	struct setup_steps steps;
	struct error err;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *text = arena_printf(
			&s->arena, "id,part,condition,what,command,after,source\n%s", rows[i].row);

		assert_fails(setup_parse("t", text, strlen(text), &s->arena, &steps, &err),
			     ERROR_USAGE, rows[i].error);
	}
}

#define LOG_LIMITS "{\"log-driver\":\"json-file\",\"log-opts\":{\"max-size\":\"9m\"}}"

static void test_daemon_json(void **state)
{
	static const struct {
		const char *there, *wanted, *merged, *added, *kept;
	} rows[] = {
		{"", "{\"a\":1}", "{\"a\":1}", "a", ""},
		{" \n", "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}", "a", ""},
		{"{\"a\":1}", "{\"a\":1}", NULL, "", ""},
		{"{\"a\":2}", "{\"a\":1}", NULL, "", "a"},
		{"{\"a\":2,\"x\":[]}", "{\"a\":1,\"b\":2}", "{\"a\":2,\"x\":[],\"b\":2}", "b", "a"},
		{"{\"log-opts\":{\"max-size\":\"1m\"}}",
		 "{\"log-opts\":{\"max-size\":\"9m\",\"max-file\":\"5\"}}",
		 "{\"log-opts\":{\"max-size\":\"1m\",\"max-file\":\"5\"}}", "log-opts.max-file",
		 "log-opts.max-size"},
		{"{\"m\":[\"u\"]}", "{\"m\":[\"u\",\"v\"]}", "{\"m\":[\"u\",\"v\"]}", "m", ""},
		{"{\"m\":\"u\"}", "{\"m\":[\"u\"]}", NULL, "", "m"},
		/* options of a driver that does not know them keep dockerd from starting */
		{"{\"log-driver\":\"journald\",\"log-opts\":{\"tag\":\"x\"}}", LOG_LIMITS, NULL, "",
		 "log-driver"},
		{"{\"log-driver\":\"none\",\"x\":1}", LOG_LIMITS, NULL, "", "log-driver"},
		{"{\"log-driver\":\"local\"}", LOG_LIMITS,
		 "{\"log-driver\":\"local\",\"log-opts\":{\"max-size\":\"9m\"}}", "log-opts",
		 "log-driver"},
		{"{\"log-driver\":\"json-file\",\"log-opts\":{\"tag\":\"x\"}}", LOG_LIMITS,
		 "{\"log-driver\":\"json-file\",\"log-opts\":{\"tag\":\"x\",\"max-size\":\"9m\"}}",
		 "log-opts.max-size", ""},
		{"{\"graph\":\"/a\"}", "{\"data-root\":\"/b\"}", NULL, "", "graph"},
		{"{\"log-driver\":3}", LOG_LIMITS, NULL, "", "log-driver"},
	};
	struct scratch *s = *state;
	struct error err = {0};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(json_free) cJSON *wanted = NULL, *got = NULL, *right = NULL;
		struct words added = WORDS_INIT(&s->arena), kept = WORDS_INIT(&s->arena);
		const char *merged;

		assert_fine(json_parse(rows[i].wanted, strlen(rows[i].wanted), "w", &wanted, &err));
		assert_fine(daemon_json_merge(rows[i].there, NULL, wanted, &s->arena, &merged,
					      &added, &kept, &err));
		assert_string_equal(words_join(&added, " "), rows[i].added);
		assert_string_equal(words_join(&kept, " "), rows[i].kept);
		if (!rows[i].merged) {
			assert_null(merged);
			continue;
		}
		assert_fine(json_parse(merged, strlen(merged), "m", &got, &err));
		assert_fine(json_parse(rows[i].merged, strlen(rows[i].merged), "r", &right, &err));
		assert_true(cJSON_Compare(got, right, true));
	}
}

/* dockerd does not start with a setting that is its flag and stands in the file. */
static void test_flags(void **state)
{
	static const struct {
		const char *flags, *added, *kept;
	} rows[] = {
		{"", "log-driver log-opts data-root", ""},
		{"flag_log-driver=journald\n", "data-root", "log-driver"},
		{"flag_log-driver=json-file\n", "log-opts data-root", "log-driver"},
		{"flag_log-opt=max-size=1m\n", "log-driver data-root", "log-opts"},
		{"x=1\nflag_data-root=/d\nflag_host=fd://\n", "log-driver log-opts", "data-root"},
	};
	static const char text[] =
		"{\"log-driver\":\"json-file\",\"log-opts\":{\"max-size\":\"9m\"},\"data-root\":\"/b\"}";
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *wanted = NULL;
	struct error err = {0};

	assert_fine(json_parse(text, strlen(text), "w", &wanted, &err));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct words added = WORDS_INIT(&s->arena), kept = WORDS_INIT(&s->arena);
		const char *merged;

		assert_fine(daemon_json_merge("{}", rows[i].flags, wanted, &s->arena, &merged,
					      &added, &kept, &err));
		assert_string_equal(words_join(&added, " "), rows[i].added);
		assert_string_equal(words_join(&kept, " "), rows[i].kept);
	}
	assert_true(daemon_json_reloads("registry-mirrors"));
	assert_true(daemon_json_reloads("insecure-registries"));
	assert_false(daemon_json_reloads("log-opts.max-size"));
	assert_false(daemon_json_reloads("data-root"));
	assert_false(daemon_json_reloads("something"));
}

static void test_broken_daemon_json(void **state)
{
	static const char *const broken[] = {"{",    "[]", "3", "{\"a\":1}x", "{\"a\":1,\"a\":2}",
					     "// no"};
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *wanted = cJSON_CreateObject();
	struct words words = WORDS_INIT(&s->arena);
	const char *merged;
	struct error err;

	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		err = (struct error){0};
		if (daemon_json_merge(broken[i], NULL, wanted, &s->arena, &merged, &words, &words,
				      &err) == 0)
			fail_msg("%s was taken", broken[i]);
		assert_has(err.text, "daemon.json");
	}
}

#define RUNS "engine_process=7\nmanaged=systemd\n"

static struct words words_of(struct scratch *s, const char *text)
{
	struct words words = WORDS_INIT(&s->arena);
	char *rest = arena_strdup(&s->arena, text), *word;

	while ((word = strsep(&rest, " ")))
		if (*word)
			words_add(&words, word);
	return words;
}

/* When dockerd is reloaded, restarted, or left alone for the sake of its containers. */
static void test_daemon_turn(void **state)
{
	static const struct {
		const char *look, *added, *steps;
		bool is_fresh;
		enum daemon_after after;
		const char *script, *why;
	} rows[] = {
		{"", "log-driver", "", false, DAEMON_STAYS, "", ""},
		{"", "log-driver", "toolkit-apt", true, DAEMON_RESTARTS, "restart docker", "new"},
		{"", "", "toolkit-apt", false, DAEMON_STAYS, "", ""},
		{RUNS "containers=0\n", "", "", false, DAEMON_STAYS, "", ""},
		{RUNS "containers=2\n", "registry-mirrors", "", false, DAEMON_RELOADS,
		 "systemctl reload docker", ""},
		{"engine_process=7\n", "registry-mirrors", "", false, DAEMON_RELOADS, "kill -HUP",
		 ""},
		{RUNS "containers=0\n", "log-driver", "", false, DAEMON_RESTARTS,
		 "systemctl restart docker", "no container"},
		{RUNS "containers=0\n", "", "toolkit-apt", false, DAEMON_RESTARTS,
		 "systemctl restart docker", "no container"},
		{RUNS "containers=2\n", "log-driver", "", false, DAEMON_WAITS, "", ": 2"},
		{RUNS "containers=2\n", "log-driver insecure-registries", "", false, DAEMON_WAITS,
		 "systemctl reload docker", ": 2"},
		{RUNS "", "log-driver", "", false, DAEMON_WAITS, "", "unknown"},
		{RUNS "containers=2\nlive_restore=true\n", "log-driver", "", false, DAEMON_RESTARTS,
		 "systemctl restart docker", "live-restore"},
		{RUNS "containers=2\nlive_restore=true\n", "data-root", "", false, DAEMON_WAITS, "",
		 ": 2"},
		{"engine_process=7\ncontainers=0\n", "log-driver", "", false, DAEMON_WAITS, "",
		 "systemd does not"},
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct words added = words_of(s, rows[i].added), steps = words_of(s, rows[i].steps);
		struct daemon_turn turn;

		daemon_turn_plan(rows[i].look, &added, &steps, rows[i].is_fresh, &s->arena, &turn);
		if (turn.after != rows[i].after)
			fail_msg("row %zu: %s", i, daemon_after_names[turn.after]);
		assert_has(turn.script, rows[i].script);
		assert_has(turn.why, rows[i].why);
		assert_true(!*turn.script == !*rows[i].script);
		assert_true(!*turn.command == (turn.after == DAEMON_STAYS));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_cases),
		SCRATCH_TEST(test_findings_have_steps),
		SCRATCH_TEST(test_skip),
		SCRATCH_TEST(test_rows),
		SCRATCH_TEST(test_wrong_tables),
		SCRATCH_TEST(test_daemon_json),
		SCRATCH_TEST(test_flags),
		SCRATCH_TEST(test_daemon_turn),
		SCRATCH_TEST(test_broken_daemon_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
