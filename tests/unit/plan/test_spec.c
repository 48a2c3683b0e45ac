/* SPDX-License-Identifier: MIT */
/* The content hash of what an image is built from. */
#include "tests/unit/support.h"

#include "plan/spec.h"

/* A spec with two files; one of them lies on disk. */
static struct spec *sample(struct scratch *s)
{
	struct spec *spec = ARENA_NEW(&s->arena, struct spec);

	spec->dockerfile = "FROM x\n";
	spec->base_name = "ringup-base:debian12";
	spec->base_script = put(s, "base.sh", "echo base\n");
	spec->os = "debian12";
	spec->build_args = WORDS(NULL);
	spec_add_file(spec, &s->arena);
	spec_add_file(spec, &s->arena);
	spec->files[0] = (struct spec_file){
		.path = "worker/main.c", .source = put(s, "main.c", "int main;\n"), .mode = 0644};
	spec->files[1] = (struct spec_file){
		.path = "entry/run", .text = "#!/bin/sh\n", .size_bytes = 10, .mode = 0755};
	return spec;
}

static const char *hash(struct scratch *s, struct spec *spec)
{
	struct error err = {0};

	assert_fine(spec_hash(spec, &err));
	assert_true(digest_is_valid(spec->hash));
	return arena_strdup(&s->arena, spec->hash);
}

static void test_same(void **state)
{
	struct scratch *s = *state;
	struct spec *spec = sample(s);
	const char *first = hash(s, spec);

	assert_string_equal(hash(s, spec), first);
	assert_string_equal(hash(s, sample(s)), first);
	/* where the source lies is not what is built */
	spec->files[0].source = put(s, "elsewhere/other.c", "int main;\n");
	assert_string_equal(hash(s, spec), first);
}

static void test_mirrors_do_not_count(void **state)
{
	struct scratch *s = *state;
	struct spec *spec = sample(s);
	const char *first = hash(s, spec);

	spec->build_args = (const char *const[]){"APT_MIRROR=http://other/debian", NULL};
	assert_string_equal(hash(s, spec), first);
}

static void test_each_change_counts(void **state)
{
	struct scratch *s = *state;
	struct spec *spec = sample(s);
	const char *hashes[10];
	size_t n = 0;

	hashes[n++] = hash(s, spec);
	spec->dockerfile = "FROM y\n";
	hashes[n++] = hash(s, spec);
	spec->base_name = "ringup-base:debian13";
	hashes[n++] = hash(s, spec);
	put(s, "base.sh", "echo other\n");
	hashes[n++] = hash(s, spec);
	put(s, "main.c", "int Main;\n");
	hashes[n++] = hash(s, spec);
	spec->files[0].mode = 0755;
	hashes[n++] = hash(s, spec);
	spec->files[0].path = "worker/other.c";
	hashes[n++] = hash(s, spec);
	spec->files[1].text = "#!/bin/SH\n";
	hashes[n++] = hash(s, spec);
	spec->files[1].size_bytes = 9;
	hashes[n++] = hash(s, spec);
	spec->file_count = 1;
	hashes[n++] = hash(s, spec);
	assert_int_equal(n, ARRAY_LEN(hashes));
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(hashes[i], hashes[j]);
}

/* Texts that touch each other are not the same as texts that are shifted. */
static void test_borders_count(void **state)
{
	struct scratch *s = *state;
	struct spec *a = sample(s), *b = sample(s);

	a->dockerfile = "FROM xy";
	a->base_name = "z";
	b->dockerfile = "FROM x";
	b->base_name = "yz";
	assert_string_not_equal(hash(s, a), hash(s, b));
}

static void test_missing_source(void **state)
{
	struct scratch *s = *state;
	struct spec *spec = sample(s);
	struct error err = {0};

	spec->files[0].source = in(s, "none.c");
	assert_fails(spec_hash(spec, &err), ERROR_FAILED, in(s, "none.c"));
}

static void test_tag_and_json(void **state)
{
	struct scratch *s = *state;
	struct spec *spec = sample(s);
	const char *full = hash(s, spec), *tag = spec_tag(spec, &s->arena);
	_cleanup_(json_free) cJSON *json = spec_to_json(spec);

	assert_int_equal(strlen(tag), 12);
	assert_int_equal(strncmp(full + 7, tag, 12), 0);
	assert_true(json_number(json, "schema", 0) == 1);
	assert_string_equal(json_text(json, "hash", &s->arena), full);
	assert_string_equal(json_text(json, "dockerfile", &s->arena), "FROM x\n");
	assert_int_equal(cJSON_GetArraySize(json_member(json, "files")), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_same),
		SCRATCH_TEST(test_mirrors_do_not_count),
		SCRATCH_TEST(test_each_change_counts),
		SCRATCH_TEST(test_borders_count),
		SCRATCH_TEST(test_missing_source),
		SCRATCH_TEST(test_tag_and_json),
	};

	return cmocka_run_group_tests_name("spec", tests, NULL, NULL);
}
