/* SPDX-License-Identifier: MIT */
/* Builds that need no container: from nothing and from a layout, by COPY and the config alone. */
#include "tests/unit/builder/native_support.h"

#include "core/log.h"

#define EPOCH "ARG SOURCE_DATE_EPOCH=1700000000\n"

typedef const char *const files[][2];

static const files small = {{"a.txt", "aa"},
			    {"d/one", "1"},
			    {"d/run", "#!/bin/sh\n"},
			    {"d/sub", NULL},
			    {"d/sub/deep/two", "22"},
			    {"d/link", "->one"},
			    {"e", NULL},
			    {NULL, NULL}};

static const char *layers(struct scratch *s, const char *dockerfile, files in_context)
{
	struct built built = build(s, make_spec(s, dockerfile, in_context));

	return layers_of(s, &built);
}

static const char *config(struct scratch *s, const char *dockerfile)
{
	struct built built = build(s, make_spec(s, dockerfile, small));

	return config_of(s, &built);
}

static void test_copy(void **state)
{
	static const struct {
		const char *copy, *expected;
	} rows[] = {
		{"COPY a.txt /x/y\n", "--\nd 0755 0:0 x\n- 0644 0:0 x/y 2\n"},
		{"COPY a.txt /x/\n", "--\nd 0755 0:0 x\n- 0644 0:0 x/a.txt 2\n"},
		{"COPY a.txt /\n", "--\n- 0644 0:0 a.txt 2\n"},
		{"COPY a.txt .\n", "--\n- 0644 0:0 a.txt 2\n"},
		{"COPY [\"a.txt\", \"/b c\"]\n", "--\n- 0644 0:0 b c 2\n"},
		{"COPY a.txt d/one /x/\n",
		 "--\nd 0755 0:0 x\n- 0644 0:0 x/a.txt 2\n- 0644 0:0 x/one 1\n"},
		{"COPY a.txt d/one /x\n",
		 "--\nd 0755 0:0 x\n- 0644 0:0 x/a.txt 2\n- 0644 0:0 x/one 1\n"},
		{"COPY d /x\n",
		 "--\nd 0755 0:0 x\nl 0777 0:0 x/link -> one\n- 0644 0:0 x/one 1\n- 0755 0:0 x/run 10\nd 0755 0:0 x/sub\nd 0755 0:0 x/sub/deep\n- 0644 0:0 x/sub/deep/two 2\n"},
		{"COPY d/sub/ /\n", "--\nd 0755 0:0 deep\n- 0644 0:0 deep/two 2\n"},
		{"COPY ./d/../d/sub /x/../y/\n",
		 "--\nd 0755 0:0 y\nd 0755 0:0 y/deep\n- 0644 0:0 y/deep/two 2\n"},
		{"COPY e /x\n", "--\nd 0755 0:0 x\n"},
		{"COPY --chown=7:8 --chmod=0600 d/one /n/o\n",
		 "--\nd 0755 7:8 n\n- 0600 7:8 n/o 1\n"},
		{"COPY --chown=7 d/sub/deep /n\n", "--\nd 0755 7:7 n\n- 0644 7:7 n/two 2\n"},
		{"COPY a.txt /x\nCOPY d/one /x\n", "--\n- 0644 0:0 x 2\n--\n- 0644 0:0 x 1\n"},
		{"COPY d/sub /x\nCOPY a.txt /x\n",
		 "--\nd 0755 0:0 x\nd 0755 0:0 x/deep\n- 0644 0:0 x/deep/two 2\n"
		 "--\nd 0755 0:0 x\n- 0644 0:0 x/a.txt 2\n"},
		{"WORKDIR /w\nWORKDIR v\nCOPY a.txt b\n",
		 "--\nd 0755 0:0 w\n--\nd 0755 0:0 w\nd 0755 0:0 w/v\n"
		 "--\nd 0755 0:0 w\nd 0755 0:0 w/v\n- 0644 0:0 w/v/b 2\n"},
		{"ARG N=x\nENV M=y\nCOPY a.txt /${N}/$M${NO:-z}\n",
		 "--\nd 0755 0:0 x\n- 0644 0:0 x/yz 2\n"},
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *dockerfile =
			arena_printf(&s->arena, EPOCH "FROM scratch\n%s", rows[i].copy);

		assert_lines(layers(s, dockerfile, small), rows[i].expected);
	}
}

static void test_copy_all(void **state)
{
	struct scratch *s = *state;

	assert_lines(layers(s, "FROM scratch\nCOPY . /x\n", small),
		     "--\nd 0755 0:0 x\n- 0644 0:0 x/a.txt 2\nd 0755 0:0 x/d\n"
		     "l 0777 0:0 x/d/link -> one\n- 0644 0:0 x/d/one 1\n- 0755 0:0 x/d/run 10\n"
		     "d 0755 0:0 x/d/sub\nd 0755 0:0 x/d/sub/deep\n- 0644 0:0 x/d/sub/deep/two 2\n"
		     "d 0755 0:0 x/e\n");
}

static void test_times(void **state)
{
	struct scratch *s = *state;
	struct built built =
		build(s, make_spec(s, EPOCH "FROM scratch\nCOPY d /x\nWORKDIR /y\n", small));
	const struct manifest *manifest = manifest_of(s, &built);
	struct error err = {0};

	for (size_t i = 0; i < manifest->layer_count; i++) {
		struct layer_part part = {.blob = manifest->layers[i]};
		struct tree tree;

		tree_init(&tree);
		assert_fine(layer_list(blob_path(s, built.layout, &part), NULL, NULL, &tree, &err));
		for (size_t k = 0; k < tree.count; k++)
			assert_int_equal(tree.list[k].mtime_s, 1700000000);
		tree_release(&tree);
	}
	assert_has(config_of(s, &built), "\"created\":\"2023-11-14T22:13:20Z\"");
}

static void test_hard_links(void **state)
{
	static const files context = {{"d/a", "shared"},
				      {"d/b", "=>d/a"},
				      {"o/c", "=>d/a"},
				      {"p/a", "new"},
				      {NULL, NULL}};
	struct scratch *s = *state;
	struct built built;

	assert_lines(
		layers(s, "FROM scratch\nCOPY d /x/y\n", context),
		"--\nd 0755 0:0 x\nd 0755 0:0 x/y\n- 0644 0:0 x/y/a 6\nh 0644 0:0 x/y/b -> x/y/a\n");
	/* the file itself stays behind, or has given way to another */
	assert_lines(layers(s, "FROM scratch\nCOPY d/b /x\n", context), "--\n- 0644 0:0 x 6\n");
	assert_lines(layers(s, "FROM scratch\nCOPY o /x\n", context),
		     "--\nd 0755 0:0 x\n- 0644 0:0 x/c 6\n");
	built = build(s, make_spec(s, "FROM scratch\nCOPY d p /x/\n", context));
	assert_lines(layers_of(s, &built),
		     "--\nd 0755 0:0 x\n- 0644 0:0 x/a 3\n- 0644 0:0 x/b 6\n");
	assert_string_equal(content_of(s, &built, "x/b"), "shared");
	assert_string_equal(content_of(s, &built, "x/a"), "new");
}

static void test_config(void **state)
{
	struct scratch *s = *state;
	const char *text = config(
		s, EPOCH
		"ARG OUTSIDE=\"o p\"\nFROM scratch\nARG OUTSIDE\nARG INSIDE=i\n"
		"ENV A=1 B=\"x y\" C=$A-${INSIDE}-$OUTSIDE\nENV OLD some\nENV A=2 D=$A\n"
		"LABEL l.one=1 \"l two\"='2 3'\nEXPOSE 80 81/udp ${INSIDE:+82}\n"
		"VOLUME /v /w\nVOLUME [\"/z z\"]\nUSER 7:${A}\nSTOPSIGNAL SIGINT\n"
		"SHELL [\"/bin/bash\", \"-c\"]\nENTRYPOINT [\"/e\", \"$A\"]\nCMD run $A it\n");

	assert_has(
		text,
		"\"Env\":[\"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\",\"A=2\",\"B=x y\",\"C=-i-o p\",\"OLD=some\",\"D=1\"]");
	assert_has(text, "\"Labels\":{\"l.one\":\"1\",\"l two\":\"2 3\"}");
	assert_has(text, "\"ExposedPorts\":{\"80/tcp\":{},\"81/udp\":{},\"82/tcp\":{}}");
	assert_has(text, "\"Volumes\":{\"/v\":{},\"/w\":{},\"/z z\":{}}");
	assert_has(text, "\"User\":\"7:2\"");
	assert_has(text, "\"StopSignal\":\"SIGINT\"");
	assert_has(text, "\"Shell\":[\"/bin/bash\",\"-c\"]");
	assert_has(text, "\"Entrypoint\":[\"/e\",\"$A\"]");
	assert_has(text, "\"Cmd\":[\"/bin/bash\",\"-c\",\"run $A it\"]");
	assert_has(text, "\"created_by\":\"USER 7:${A}\",\"empty_layer\":true}");
	assert_has(text, "\"diff_ids\":[]");
}

static void test_commands(void **state)
{
	struct scratch *s = *state;

	assert_has(config(s, "FROM scratch\nCMD a b\n"), "\"Cmd\":[\"/bin/sh\",\"-c\",\"a b\"]");
	assert_has(config(s, "FROM scratch\nCMD [\"a\"]\nCMD []\n"), "\"Cmd\":[]");
	assert_has(config(s, "FROM scratch\nCMD [\"a\"]\nENTRYPOINT [\"b\"]\n"), "\"Cmd\":[\"a\"]");
	/* the base's CMD was not meant for another ENTRYPOINT */
	assert_lacks(config(s, "FROM scratch AS x\nCMD [\"a\"]\nFROM x\nENTRYPOINT [\"b\"]\n"),
		     "\"Cmd\"");
	assert_has(config(s, "FROM scratch AS x\nCMD [\"a\"]\nENV B=c\nFROM x\nUSER 5\n"),
		   "\"Cmd\":[\"a\"]");
}

/* Build arguments of the spec count where they are asked for, and leave no trace. */
static void test_build_arguments(void **state)
{
	struct scratch *s = *state;
	struct spec *spec = make_spec(s, "FROM scratch\nARG MIRROR=\nCOPY a.txt /x\n", small);
	struct built with, without = build(s, spec);

	spec->build_args = WORDS("MIRROR=http://secret.lan/");
	with = build_in(s, "other", spec);
	assert_int_equal(with.rc, 0);
	assert_string_equal(with.manifest.digest, without.manifest.digest);
	assert_lacks(config_of(s, &with), "secret.lan");
}

static void test_stages(void **state)
{
	struct scratch *s = *state;
	static const char dockerfile[] =
		EPOCH "ARG BASE=two\nFROM scratch AS one\nCOPY d /d\nENV A=1\n"
		      "FROM scratch AS two\nCOPY --chown=3:4 a.txt /t\nUSER 9\n"
		      "FROM nowhere.lan/never:1 AS unused\nCOPY missing /\n"
		      "FROM ${BASE}\nCOPY --from=one /d/sub /s\nCOPY --from=0 /d/one /d/run /o/\n"
		      "COPY --from=two --chown=5:6 t /u\n";
	struct built built = build(s, make_spec(s, dockerfile, small));

	assert_lines(layers_of(s, &built),
		     "--\n- 0644 3:4 t 2\n"
		     "--\nd 0755 0:0 s\nd 0755 0:0 s/deep\n- 0644 0:0 s/deep/two 2\n"
		     "--\nd 0755 0:0 o\n- 0644 0:0 o/one 1\n- 0755 0:0 o/run 10\n"
		     "--\n- 0644 5:6 u 2\n");
	assert_has(config_of(s, &built), "\"User\":\"9\"");
	assert_lacks(config_of(s, &built), "A=1");
}

/* As the recipes take CUDA's toolkit out of an image of its own, over the libraries of the stack,
 * and its stub out of that. */
static void test_stage_without_instructions(void **state)
{
	static const char *const cuda[][2] = {{"devel/lib64", "->targets/lib"},
					      {"devel/targets/lib/libcudart.so", "runtime"},
					      {"devel/targets/lib/stubs/libcuda.so", "stub"},
					      {"devel/bin/nvcc", "#!compiler"},
					      {"run/lib64", "->targets/lib"},
					      {"run/targets/lib/libcudart.so", "runtime"},
					      {NULL, NULL}};
	static const char dockerfile[] = EPOCH
		"FROM scratch AS nvidia\nCOPY devel/ /cuda/\nFROM nvidia AS toolkit\n"
		"FROM scratch AS stack\nCOPY run/ /cuda/\n"
		"FROM stack AS build\nCOPY --from=toolkit /cuda/ /cuda/\n"
		"FROM stack\nCOPY --from=build /cuda/bin/nvcc /cuda/targets/lib/libcudart.so /all/\n"
		"COPY --from=build /cuda/targets/lib/stubs/libcuda.so /tmp/stub/libcuda.so.1\n";
	struct scratch *s = *state;
	struct built built = build(s, make_spec(s, dockerfile, cuda));

	assert_string_equal(content_of(s, &built, "tmp/stub/libcuda.so.1"), "stub");
	assert_string_equal(content_of(s, &built, "all/libcudart.so"), "runtime");
	assert_string_equal(content_of(s, &built, "all/nvcc"), "#!compiler");
	assert_lacks(layers_of(s, &built), "cuda/bin");
}

/* The history names an instruction for each layer, in their order. */
static void check_history(struct scratch *s, const struct built *built)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const char *text = config_of(s, built);
	struct error err = {0};
	const cJSON *entry;
	size_t count = 0;

	assert_fine(json_parse(text, strlen(text), "config", &json, &err));
	cJSON_ArrayForEach (entry, json_member(json, "history"))
		count += !cJSON_IsTrue(json_member(entry, "empty_layer"));
	assert_int_equal(count, manifest_of(s, built)->layer_count);
	assert_int_equal(cJSON_GetArraySize(json_member(json_member(json, "rootfs"), "diff_ids")),
			 count);
}

static void test_history(void **state)
{
	struct scratch *s = *state;
	struct built built =
		build(s, make_spec(s,
				   "FROM scratch AS x\nCOPY d /d\nENV A=b\nFROM x\nWORKDIR /d\n"
				   "WORKDIR /w\nCOPY --from=x --chown=1 d/one .\nCMD [\"a\"]\n",
				   small));
	const char *text = config_of(s, &built);

	check_history(s, &built);
	assert_has(text, "\"created_by\":\"COPY d /d\"},");
	assert_has(text, "\"created_by\":\"WORKDIR /d\",\"empty_layer\":true}");
	assert_has(text, "\"created_by\":\"WORKDIR /w\"},");
	assert_has(text, "\"created_by\":\"COPY --from=x --chown=1 d/one .\"},");
	assert_has(text, "\"created_by\":\"CMD [\\\"a\\\"]\",\"empty_layer\":true}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_copy),
		SCRATCH_TEST(test_copy_all),
		SCRATCH_TEST(test_times),
		SCRATCH_TEST(test_hard_links),
		SCRATCH_TEST(test_config),
		SCRATCH_TEST(test_commands),
		SCRATCH_TEST(test_build_arguments),
		SCRATCH_TEST(test_stages),
		SCRATCH_TEST(test_stage_without_instructions),
		SCRATCH_TEST(test_history),
	};

	umask(022);
	log_setup(LOG_QUIET, false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
