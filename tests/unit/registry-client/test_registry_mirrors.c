/* SPDX-License-Identifier: MIT */
/* Where an image may be had: registries.conf as Podman reads it, and Docker Hub's mirror. */
#include "registry-client/places/mirrors.h"
#include "tests/unit/support.h"

#include "core/file.h"

#include <stdlib.h>

static const char conf[] = "unqualified-search-registries = [\"docker.io\", # first\n"
			   "  'quay.io']\n"
			   "short-name-mode=\"enforcing\"\n"
			   "[[registry]]\n"
			   "prefix = \"nvcr.io\"   # all of it\n"
			   "location = \"proxy.lab:5000/nvcr\"\n"
			   "[[registry.mirror]]\n"
			   "location = \"10.0.0.9:5000\"\n"
			   "insecure = true\n"
			   "[[registry.mirror]]\n"
			   "location = 'b.lab/x'\r\n"
			   "pull-from-mirror = \"digest-only\"\n"
			   "\n"
			   "[[registry]]\n"
			   "location=\"nvcr.io/nvidia\"\n"
			   "insecure = false\n"
			   "[[registry.mirror]]\n"
			   "location=\"c.lab/nv\"\n"
			   "pull-from-mirror = \"tag-only\"\n"
			   "[[registry]]\n"
			   "prefix=\"bad.io\"\n"
			   "blocked=true\n"
			   "[[registry]]\n"
			   "prefix=\"*.example.com\"\n"
			   "location=\"e.lab\"\n"
			   "[[registry]]\n"
			   "prefix=\"strict.io\"\n"
			   "mirror-by-digest-only = true\n"
			   "[[registry.mirror]]\n"
			   "location=\"s.lab\"\n"
			   "[[registry]]\n"
			   "location=\"plain.io\"\n"
			   "insecure = true\n"
			   "[aliases]\n"
			   "\"alpine\" = \"docker.io/library/alpine\"\n";

#define HEX "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
	const char *name, *hub, *places; /* "!": plain HTTP; places NULL: refused */
} rows[] = {
	{"nvcr.io/team/a:1", "", "!10.0.0.9:5000/team/a:1 proxy.lab:5000/nvcr/team/a:1"},
	{"nvcr.io/team/a@sha256:" HEX, "",
	 "!10.0.0.9:5000/team/a@sha256:" HEX " b.lab/x/team/a@sha256:" HEX
	 " proxy.lab:5000/nvcr/team/a@sha256:" HEX},
	/* the longest prefix, and only whole parts of a name */
	{"nvcr.io/nvidia/cuda:12", "", "c.lab/nv/cuda:12 nvcr.io/nvidia/cuda:12"},
	{"nvcr.io/nvidia/cuda@sha256:" HEX, "", "nvcr.io/nvidia/cuda@sha256:" HEX},
	{"nvcr.io/nvidiaa/cuda:12", "",
	 "!10.0.0.9:5000/nvidiaa/cuda:12 proxy.lab:5000/nvcr/nvidiaa/cuda:12"},
	{"nvcr.io.lab/a:1", "", "nvcr.io.lab/a:1"},
	{"bad.io/a:1", "", NULL},
	{"a.b.example.com/x/y:1", "", "e.lab/x/y:1"},
	{"example.com/x:1", "", "example.com/x:1"},
	{"strict.io/a:1", "", "strict.io/a:1"},
	{"strict.io/a@sha256:" HEX, "", "s.lab/a@sha256:" HEX " strict.io/a@sha256:" HEX},
	{"plain.io/a:1", "", "!plain.io/a:1"},
	{"quay.io/a:1", "https://hub.lab", "quay.io/a:1"},
	/* Docker Hub */
	{"docker.io/library/a:1", "", "docker.io/library/a:1"},
	{"docker.io/library/a:1", "https://hub.lab/", "hub.lab/library/a:1 docker.io/library/a:1"},
	{"docker.io/library/a:1", "http://hub.lab:5000/cache",
	 "!hub.lab:5000/cache/library/a:1 docker.io/library/a:1"},
};

static void test_rows(void **state)
{
	struct scratch *s = *state;
	const char *path = arena_printf(&s->arena, "%s/registries.conf", s->folder);
	struct error err = {0};

	assert_int_equal(file_write(path, conf, sizeof(conf) - 1, 0600, &err), 0);
	setenv("CONTAINERS_REGISTRIES_CONF", path, 1);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(str_release) struct str places = STR_INIT;
		struct mirrors mirrors;
		struct reference ref;
		int rc;

		err = (struct error){0};
		assert_int_equal(reference_parse(rows[i].name, &s->arena, &ref, &err), 0);
		rc = mirrors_find(&ref, rows[i].hub, &s->arena, &mirrors, &err);
		if (!rows[i].places) {
			assert_int_equal(rc, -1);
			assert_int_equal(err.kind, ERROR_USAGE);
			continue;
		}
		if (rc < 0)
			fail_msg("%s: %s", rows[i].name, err.text);
		for (size_t k = 0; k < mirrors.count; k++)
			str_addf(&places, "%s%s%s", k ? " " : "",
				 mirrors.list[k].plain_http ? "!" : "",
				 reference_text(&mirrors.list[k].ref, &s->arena));
		assert_string_equal(places.text, rows[i].places);
	}
}

static void test_insecure(void **state)
{
	static const struct {
		const char *address, *repository;
		bool insecure;
	} cases[] = {
		/* a host without a port stands for all of its ports, as Podman reads it */
		{"plain.io", NULL, true},
		{"plain.io", "a/b", true},
		{"plain.io:5000", NULL, true},
		{"plain.io:5000", "a", true},
		{"nvcr.io", NULL, false},
		{"10.0.0.9:5000", NULL, false},
		{"a.example.com", NULL, false},
		{"docker.io", NULL, false},
		{"moved.io", NULL, false},
		{"moved.io", "a", false},
		/* some repositories of a registry, and the same host under another path */
		{"some.io", NULL, false},
		{"some.io", "open/a", true},
		{"some.io", "opened/a", false},
		{"some.io", "old/a", true},
	};
	struct scratch *s = *state;
	const char *path = arena_printf(&s->arena, "%s/registries.conf", s->folder);
	const char *text = arena_printf(&s->arena,
					"[[registry]]\nprefix=\"moved.io\"\nlocation=\"x.io\"\n"
					"insecure=true\n"
					"[[registry]]\nlocation=\"some.io/open\"\n"
					"insecure=true\n"
					"[[registry]]\nprefix=\"some.io/old\"\n"
					"location=\"some.io/new\"\ninsecure=true\n%s",
					conf);
	struct error err = {0};

	assert_int_equal(file_write(path, text, strlen(text), 0600, &err), 0);
	setenv("CONTAINERS_REGISTRIES_CONF", path, 1);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct reference ref = {cases[i].address, cases[i].repository, NULL, NULL};
		bool insecure;

		assert_fine(mirrors_admit(&ref, &s->arena, &insecure, &err));
		if (insecure != cases[i].insecure)
			fail_msg("%s", cases[i].address);
	}
}

static void test_blocked(void **state)
{
	static const char text[] = "[[registry]]\nlocation=\"no.io\"\nblocked=true\n"
				   "[[registry]]\nlocation=\"half.io/no\"\nblocked=true\n";
	static const struct {
		struct reference ref;
		bool blocked;
	} cases[] = {
		{{"no.io", NULL, NULL, NULL}, true},	 {{"no.io", "a", "1", NULL}, true},
		{{"half.io", NULL, NULL, NULL}, false},	 {{"half.io", "yes", NULL, NULL}, false},
		{{"half.io", "no/a", NULL, NULL}, true},
	};
	struct scratch *s = *state;
	const char *path = arena_printf(&s->arena, "%s/registries.conf", s->folder);
	struct error err = {0};

	assert_int_equal(file_write(path, text, sizeof(text) - 1, 0600, &err), 0);
	setenv("CONTAINERS_REGISTRIES_CONF", path, 1);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bool insecure;
		int rc = mirrors_admit(&cases[i].ref, &s->arena, &insecure, &err);

		if (rc != (cases[i].blocked ? -1 : 0))
			fail_msg("%s/%s", cases[i].ref.registry, cases[i].ref.repository);
		if (rc < 0)
			assert_int_equal(err.kind, ERROR_USAGE);
		err = (struct error){0};
	}
}

/* Arrays of tables as values, and names as TOML lets them be written. */
static void test_inline(void **state)
{
	static const char text[] =
		"'registry' = [ # all of them\n"
		"  {prefix = \"a.io\", \"location\" = \"b.lab/a\", mirror = [\n"
		"    {location = \"m1.lab\"}, # the first\n"
		"    {insecure = true, location = 'm2.lab', pull-from-mirror = \"tag-only\"},\n"
		"  ], mirror-by-digest-only = false},\n"
		"  {location = \"bad.io\", blocked=true}]\n"
		"[[ registry ]]\n"
		"mirror = [{location = \"m3.lab\"}]\n"
		"location = \"c.io\" # behind its mirrors\n"
		"[[ \"registry\" . mirror ]]\n"
		"location = \"m4.lab\"\n"
		"[aliases]\n"
		"registry = [1, 2]\n"
		"\"a = b # c\" = \"d.io/e\"\n";
	struct scratch *s = *state;
	struct registry_entry *c = NULL, *blocked, *a;
	struct error err = {0};

	assert_fine(registries_conf_parse("f", text, &s->arena, &c, &err));
	blocked = c->next;
	a = blocked->next;
	assert_null(a->next);
	assert_string_equal(a->prefix, "a.io");
	assert_string_equal(a->location, "b.lab/a");
	assert_int_equal(a->mirror_count, 2);
	assert_string_equal(a->mirrors[0].location, "m1.lab");
	assert_false(a->mirrors[0].insecure);
	assert_string_equal(a->mirrors[1].location, "m2.lab");
	assert_true(a->mirrors[1].insecure);
	assert_string_equal(a->mirrors[1].pulls, "tag-only");
	assert_true(blocked->blocked);
	assert_int_equal(blocked->mirror_count, 0);
	assert_string_equal(c->prefix, "c.io");
	assert_int_equal(c->mirror_count, 2);
	assert_string_equal(c->mirrors[0].location, "m3.lab");
	assert_string_equal(c->mirrors[1].location, "m4.lab");
	/* nothing is mistaken for an entry */
	c = NULL;
	assert_fine(registries_conf_parse("f", "x = [{registry = [{a = 1}]}]\nregistry = [ ]\n",
					  &s->arena, &c, &err));
	assert_null(c);
}

/* With the line that is wrong. */
static void test_bad(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"[[registry]]\nlocation = nvcr.io\n", "f:2: the value must be a text"},
		{"[[registry]]\n\n# x\nlocation = \"nvcr.io\n", "f:4: a text without an end"},
		{"a = [1,\n2\n", "f:3: a list without an end"},
		{"[[registry.mirror]]\n", "f:1: a [[registry.mirror]] before"},
		{"[[registry]]\nlocation\n", "f:2: neither"},
		{"[[registry]]\nlocation = \n", "f:2: a key without a value"},
		{"[[registry]]\nlocation = \"a\" \"b\"\n", "f:2: something behind"},
		{"[[registry]]\ninsecure = \"yes\"\n", "f:2: the value must be true or false"},
		{"[[registry]]\nmirror = \"a\"\n", "f:2: a list of tables"},
		{"[[registry]]\nmirror = [\"a\"]\n", "f:2: a list of tables"},
		{"[[registry]]\nmirror = [\n{location = \"a\"\n", "f:4: a table without its"},
		{"[[registry]]\nmirror = [{location = \"a\"}\nx=1\n", "f:3: a list without an end"},
		{"[[registry]]\nmirror = [{location = \"a\"},,]\n", "f:2: a list of tables"},
		{"[[registry]]\nmirror = [{location\n", "f:2: neither"},
		{"[[registry]]\nlocation=\"a\"\nmirror = [{}]\n",
		 "a mirror of a without a location"},
		{"[[registry]]\nlocation=\"a\"\n[[registry.mirror]]\n", "a mirror of a without"},
		{"registry = {location = \"a\"}\n", "f:1: a list of tables"},
		{"registry = [{location = \"a\"\n", "f:2: a table without its"},
		{"\"a = 1\n", "f:1: a text without an end"},
		{"[[registry]]\nlocation = \"a\\u0041\"\n", "f:2: an escape"},
		{"[[registry\n", "f:1: a table's name"},
		{"[[registry]]\ninsecure = true\n", "without a prefix"},
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct registry_entry *list = NULL;
		struct error err = {0};

		if (registries_conf_parse("f", bad[i].text, &s->arena, &list, &err) == 0)
			fail_msg("taken: %s", bad[i].text);
		assert_int_equal(err.kind, ERROR_USAGE);
		if (!strstr(err.text, bad[i].says))
			fail_msg("not '%s': %s", bad[i].says, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rows, scratch_setup, scratch_teardown),
		cmocka_unit_test_setup_teardown(test_insecure, scratch_setup, scratch_teardown),
		cmocka_unit_test_setup_teardown(test_blocked, scratch_setup, scratch_teardown),
		cmocka_unit_test_setup_teardown(test_inline, scratch_setup, scratch_teardown),
		cmocka_unit_test_setup_teardown(test_bad, scratch_setup, scratch_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
