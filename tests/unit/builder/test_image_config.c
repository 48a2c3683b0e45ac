/* SPDX-License-Identifier: MIT */
/* An image's config while it is built. */
#include "tests/unit/support.h"

#include "builder/native/image_config.h"

static const char *written(struct scratch *s, cJSON *config)
{
	return image_config_write(config, 0, &s->arena);
}

static void test_new(void **state)
{
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *config = image_config_new("arm64");

	assert_string_equal(
		written(s, config),
		"{\"created\":\"1970-01-01T00:00:00Z\",\"architecture\":\"arm64\",\"os\":\"linux\",\"config\":{},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[]},\"history\":[]}");
	assert_null(image_config_env(config, "PATH"));
	assert_null(image_config_env_list(config, &s->arena)[0]);
	assert_string_equal(image_config_text(config, "User"), "");
	assert_null(image_config_list(config, "Cmd", &s->arena));
}

static void test_environment(void **state)
{
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *config = image_config_new("amd64");
	const char *const *list;

	image_config_set_env(config, "AB", "1");
	image_config_set_env(config, "A", "x=y z");
	image_config_set_env(config, "EMPTY", "");
	image_config_set_env(config, "AB", "2");
	assert_string_equal(image_config_env(config, "A"), "x=y z");
	assert_string_equal(image_config_env(config, "AB"), "2");
	assert_string_equal(image_config_env(config, "EMPTY"), "");
	assert_null(image_config_env(config, "ABC"));
	assert_null(image_config_env(config, ""));
	list = image_config_env_list(config, &s->arena);
	assert_string_equal(list[0], "AB=2");
	assert_string_equal(list[1], "A=x=y z");
	assert_string_equal(list[2], "EMPTY=");
	assert_null(list[3]);
}

static void test_settings(void **state)
{
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *config = image_config_new("amd64");

	image_config_set_text(config, "User", "one");
	image_config_set_text(config, "User", "two");
	image_config_set_list(config, "Cmd", (const char *const[]){"a b", "\"c\"", NULL});
	image_config_set_list(config, "Entrypoint", (const char *const[]){NULL});
	image_config_set_list(config, "Shell", (const char *const[]){"x", NULL});
	image_config_drop(config, "Shell");
	image_config_drop(config, "Never");
	image_config_add_key(config, "ExposedPorts", "80/tcp");
	image_config_add_key(config, "ExposedPorts", "80/tcp");
	image_config_add_key(config, "ExposedPorts", "81/udp");
	image_config_set_label(config, "a.b", "1");
	image_config_set_label(config, "a.b", "\xc3\xa9");
	image_config_set_label(config, "A.B", "2");
	assert_string_equal(image_config_text(config, "User"), "two");
	assert_string_equal(image_config_list(config, "Cmd", &s->arena)[1], "\"c\"");
	assert_has(
		written(s, config),
		"\"config\":{\"User\":\"two\",\"Cmd\":[\"a b\",\"\\\"c\\\"\"],\"Entrypoint\":[],\"ExposedPorts\":{\"80/tcp\":{},\"81/udp\":{}},\"Labels\":{\"a.b\":\"\xc3\xa9\",\"A.B\":\"2\"}}");
}

static void test_history(void **state)
{
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *config = image_config_new("amd64");
	const char *text;

	image_config_add_history(config, "ENV A=b", 0, 0);
	image_config_add_history(config, "RUN x", 1, 0);
	image_config_add_history(config, "COPY y", 2, 0);
	image_config_add_diff_id(config, "sha256:1");
	image_config_add_diff_id(config, "sha256:2");
	text = image_config_write(config, 1700000000, &s->arena);
	assert_has(text, "\"diff_ids\":[\"sha256:1\",\"sha256:2\"]");
	assert_has(
		text,
		"\"history\":[{\"created\":\"2023-11-14T22:13:20Z\",\"created_by\":\"ENV A=b\",\"empty_layer\":true},{\"created\":\"2023-11-14T22:13:20Z\",\"created_by\":\"RUN x\"},{\"created\":\"2023-11-14T22:13:20Z\",\"created_by\":\"COPY y\"},{\"created\":\"2023-11-14T22:13:20Z\",\"created_by\":\"COPY y\"}]");
}

static cJSON *parse(const char *text)
{
	cJSON *config = NULL;
	struct error err = {0};

	assert_fine(image_config_parse(text, strlen(text), "base", &config, &err));
	return config;
}

/* What a base has and we do not know of stays; what tells of the machine that built it goes. */
static void test_base(void **state)
{
	static const char text[] =
		"{\"id\":\"1\",\"parent\":\"2\",\"container\":\"3\",\"container_config\":{\"Cmd\":[\"x\"]},\"docker_version\":\"20\",\"created\":\"2020-01-01T00:00:00.123Z\",\"os\":\"linux\",\"os.version\":\"9\",\"variant\":\"v8\",\"config\":{\"Hostname\":\"h\",\"Domainname\":\"d\",\"Image\":\"i\",\"OnBuild\":[\"RUN y\"],\"Env\":[\"A=b\",7,\"B\"],\"Healthcheck\":{\"Test\":[\"NONE\"]},\"Labels\":null,\"User\":null},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha256:1\"]}}";
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *config = parse(text);
	const char *const *env = image_config_env_list(config, &s->arena);

	assert_string_equal(env[0], "A=b");
	assert_string_equal(env[1], "B");
	assert_null(env[2]);
	assert_null(image_config_env(config, "B"));
	assert_string_equal(image_config_text(config, "User"), "");
	image_config_set_label(config, "l", "1");
	image_config_add_history(config, "RUN", 1, 0);
	assert_string_equal(
		image_config_write(config, 1, &s->arena),
		"{\"created\":\"1970-01-01T00:00:01Z\",\"os\":\"linux\",\"os.version\":\"9\",\"variant\":\"v8\",\"config\":{\"OnBuild\":[\"RUN y\"],\"Env\":[\"A=b\",7,\"B\"],\"Healthcheck\":{\"Test\":[\"NONE\"]},\"User\":null,\"Labels\":{\"l\":\"1\"}},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha256:1\"]},\"history\":[{\"created\":\"1970-01-01T00:00:01Z\",\"created_by\":\"RUN\"}]}");
}

static void test_no_settings(void **state)
{
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *config =
		parse("{\"config\":null,\"rootfs\":{\"diff_ids\":[]}}");

	assert_null(image_config_env(config, "A"));
	assert_null(image_config_list(config, "Cmd", &s->arena));
	image_config_set_env(config, "A", "b");
	assert_string_equal(image_config_env(config, "A"), "b");
	assert_has(written(s, config), "\"created\":\"1970-01-01T00:00:00Z\"");
}

static void test_refused(void **state)
{
	static const char *const texts[] = {"",
					    "[]",
					    "7",
					    "{}",
					    "{\"rootfs\":{}}",
					    "{\"rootfs\":{\"diff_ids\":{}}}",
					    "{\"rootfs\":[\"diff_ids\"]}"};
	struct error err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		cJSON *config = NULL;

		err = (struct error){0};
		assert_int_equal(
			image_config_parse(texts[i], strlen(texts[i]), "base x", &config, &err),
			-1);
		assert_has(err.text, "base x");
		cJSON_Delete(config);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_new),	     SCRATCH_TEST(test_environment),
		SCRATCH_TEST(test_settings), SCRATCH_TEST(test_history),
		SCRATCH_TEST(test_base),     SCRATCH_TEST(test_no_settings),
		SCRATCH_TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
