/* SPDX-License-Identifier: MIT */
/* What a Dockerfile names without a version, and the same with versions. */
#include "tests/unit/support.h"

#include "builder/recipe/pinning.h"

#define DIGEST "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* package_manager.csv, as far as it is read here. */
static const struct table *managers(struct scratch *s)
{
	static const char text[] = "name,install,exact\napt,apt-get install,NAME=VERSION\n"
				   "dnf,dnf install,NAME-VERSION\nyum,yum install,NAME-VERSION\n"
				   "zypper,zypper -n install,NAME=VERSION\nnone,,\n";
	struct table *table = ARENA_NEW(&s->arena, struct table);
	struct error err = {0};

	assert_fine(table_load(put(s, "package_manager.csv", text), &s->arena, table, &err));
	return table;
}

static const char *names_of(struct scratch *s, const char *dockerfile)
{
	struct words names = WORDS_INIT(&s->arena);

	pinning_packages(dockerfile, managers(s), &names);
	return words_join(&names, " ");
}

static const char *images_of(struct scratch *s, const char *dockerfile)
{
	struct words names = WORDS_INIT(&s->arena);

	pinning_images(dockerfile, &names);
	return words_join(&names, " ");
}

static void test_names(void **state)
{
	static const struct {
		const char *dockerfile, *names;
	} cases[] = {
		{"", ""},
		{"RUN apt-get update", ""},
		{"RUN apt-get install -y a b; c", "a b"},
		{"RUN apt-get install -y \\\n      a \\\n      b; \\\n    rm c\nRUN d\n", "a b"},
		{"RUN apt-get install a&&b\nRUN apt-get install c||d | e", "a c"},
		{"RUN x; apt-get install a b; yum install c; dnf install d", "a b c d"},
		{"RUN apt-get install a a\nRUN apt-get install a", "a"},
		{"# apt-get install of old\nRUN apt-get install a", "a"},
		{"RUN apt-get install a \\\n# or b\n  c", "a c"},
		{"RUN apt-get install a >/dev/null", "a"},
		{"RUN x; \\\n# RUN apt-get install b\n  yum install c", "c"},
		{"RUN apt-get install a=1 b/stable c:i386 d* 'e' ./f.deb g", "g"},
		{"RUN yum install -y ${Y:+--setopt=x} @g http://h/i.rpm j", "j"},
		{"RUN dnf install gcc-toolset-12-gcc gcc-toolset-12-gcc-c++ glibc-devel",
		 "gcc-toolset-12-gcc gcc-toolset-12-gcc-c++ glibc-devel"},
		{"RUN dnf install cuda-toolkit-9-0-9.0.176-1 libnccl-2.5.6-1+cuda9.0 python3-3.6",
		 "python3-3.6"},
		{"RUN dnf install cuda-compat-12-1 -x", "cuda-compat-12-1"},
		{"RUN dnf install less-530-3.el9 tzdata-2024a-1.el9 a-1-2", "a-1-2"},
		{"ENV N=\"dnf install b \\\nRUN dnf install c\"\nLABEL x='yum install d'\nRUN e\n",
		 ""},
		{"RUN apt-get install", ""},
		{"RUN apt-get install a", "a"},
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(names_of(s, cases[i].dockerfile), cases[i].names);
}

static void test_images(void **state)
{
	struct scratch *s = *state;

	assert_string_equal(images_of(s, "FROM debian:12 AS stack\nRUN x\nFROM stack AS b\n"
					 "FROM scratch\nFROM oci:dir:name\nFROM a.b/c@" DIGEST "\n"
					 "FROM ringup-base:debian12-ab AS d\nFROM a.b/c:1\n"
					 "FROM a.b/c:1\nCOPY --from=b / /"),
			    "debian:12 a.b/c:1");
	assert_string_equal(images_of(s, "FROM a.b/c"), "a.b/c");
	assert_string_equal(images_of(s, "FROM debian AS stack\nFROM stack\nFROM build"),
			    "debian build");
}

static void test_apply(void **state)
{
	struct pin packages[] = {{"a", "1:2-3~x"}, {"b", ""}, {"tar", "2:1.34-7.el9"}};
	struct pin images[] = {
		{"a.b/c:1", DIGEST}, {"d:2", ""}, {"x", DIGEST}}; /* a stage's name */
	struct pinned pinned = {"2026-11-22T13:00:00Z", {3, packages}, {3, images}};
	static const char text[] = "# FROM a.b/c:1\nFROM a.b/c:1 AS x\nFROM d:2\nFROM x\n"
				   "RUN apt-get install \\\n  a \\\n  b a=4; a\n"
				   "RUN dnf install tar a; tar";
	struct scratch *s = *state;

	assert_string_equal(pinning_apply(text, managers(s), &pinned, &s->arena),
			    "# FROM a.b/c:1\nFROM a.b/c:1@" DIGEST " AS x\nFROM d:2\nFROM x\n"
			    "RUN apt-get install \\\n  a=1:2-3~x \\\n  b a=4; a\n"
			    "RUN dnf install tar-1.34-7.el9 a-2-3~x; tar");
	assert_string_equal(pinning_image("a.b/c:1", &pinned, &s->arena), "a.b/c:1@" DIGEST);
	assert_string_equal(pinning_image("d:2", &pinned, &s->arena), "d:2");
	assert_string_equal(pinning_image("e", &pinned, &s->arena), "e");
	pinned.at = NULL; /* nobody was asked */
	assert_ptr_equal(pinning_apply(text, managers(s), &pinned, &s->arena), text);
}

/* What is pinned has nothing more to pin. */
static void test_apply_is_whole(void **state)
{
	static const char text[] = "FROM a.b/c:1 AS x\nRUN apt-get install a b-c libc++ d.e\n"
				   "RUN yum install f g-h gcc-toolset-12-gcc";
	struct scratch *s = *state;
	struct words names = WORDS_INIT(&s->arena);
	struct pin packages[16], images[] = {{"a.b/c:1", DIGEST}};
	struct pinned pinned = {"2026", {0, packages}, {1, images}};
	const char *made;

	pinning_packages(text, managers(s), &names);
	assert_int_equal(names.count, 7);
	for (size_t i = 0; i < names.count; i++)
		packages[pinned.packages.count++] = (struct pin){names.list[i], "1:4.5-6.x"};
	made = pinning_apply(text, managers(s), &pinned, &s->arena);
	assert_string_equal(names_of(s, made), "");
	assert_string_equal(images_of(s, made), "");
	assert_string_equal(pinning_apply(made, managers(s), &pinned, &s->arena), made);
}

/* The table says which words install packages: a row more is a package manager more. */
static void test_manager_of_a_row(void **state)
{
	static const char text[] = "FROM x:1\nRUN zypper -n install a b=1 -y; zypper install c";
	struct pin packages[] = {{"a", "2:3-4"}};
	struct pinned pinned = {"2026", {1, packages}, {0, NULL}};
	struct scratch *s = *state;

	assert_string_equal(names_of(s, text), "a");
	assert_string_equal(pinning_apply(text, managers(s), &pinned, &s->arena),
			    "FROM x:1\nRUN zypper -n install a=2:3-4 b=1 -y; zypper install c");
	assert_string_equal(pinning_apply(text, NULL, &pinned, &s->arena), text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_names),	   SCRATCH_TEST(test_manager_of_a_row),
		SCRATCH_TEST(test_images),	   SCRATCH_TEST(test_apply),
		SCRATCH_TEST(test_apply_is_whole),
	};

	return cmocka_run_group_tests_name("pinning", tests, NULL, NULL);
}
