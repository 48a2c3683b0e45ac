/* SPDX-License-Identifier: MIT */
/* Who logs in: the order of the places, and what a login leaves alone. */
#include "tests/unit/support.h"

#include "core/json.h"
#include "plan/credentials.h"

#include <sys/stat.h>

#define REGISTRY "10.0.0.1:5000"
/* {"auths": {REGISTRY: {"auth": AUTH}}} */
#define AUTHS(auth) "{\"auths\": {\"" REGISTRY "\": {\"auth\": \"" auth "\"}}}"

/* base64 of "one:1", "two:2", "three:3", "four:4" */
#define ONE "b25lOjE="
#define TWO "dHdvOjI="
#define THREE "dGhyZWU6Mw=="
#define FOUR "Zm91cjo0"

/* A cluster in the test's folder, and no place to look in but the test's own. */
static struct cluster *setup(struct scratch *s)
{
	struct cluster *cluster = ARENA_NEW(&s->arena, struct cluster);

	cluster->folder = in(s, "cluster");
	setenv("HOME", in(s, "home"), 1);
	unsetenv("REGISTRY_AUTH_FILE");
	unsetenv("DOCKER_CONFIG");
	return cluster;
}

static struct credentials find(struct scratch *s, const struct cluster *cluster)
{
	struct credentials c;
	struct error err = {0};

	assert_fine(credentials_find(cluster, REGISTRY, &s->arena, &c, &err));
	return c;
}

static void test_none(void **state)
{
	struct scratch *s = *state;
	struct cluster *cluster = setup(s);

	assert_null(find(s, cluster).user);
	put(s, "home/.docker/config.json", "{\"auths\": {\"other\": {\"auth\": \"" ONE "\"}}}");
	assert_null(find(s, cluster).user);
	put(s, "home/.docker/config.json", "{\"auths\": {\"" REGISTRY "\": {}}, \"x\": 1}");
	assert_null(find(s, cluster).user);
	put(s, "home/.docker/config.json", "{}");
	assert_null(find(s, cluster).user);
}

static void test_order(void **state)
{
	struct scratch *s = *state;
	struct cluster *cluster = setup(s);
	struct credentials c;

	put(s, "home/.docker/config.json", AUTHS(FOUR));
	assert_string_equal(find(s, cluster).user, "four");
	setenv("DOCKER_CONFIG", in(s, "docker"), 1);
	put(s, "docker/config.json", AUTHS(THREE));
	assert_string_equal(find(s, cluster).user, "three");
	setenv("REGISTRY_AUTH_FILE", put(s, "auth-file", AUTHS(TWO)), 1);
	assert_string_equal(find(s, cluster).user, "two");
	put(s, "cluster/.ringup/auth.json", AUTHS(ONE));
	c = find(s, cluster);
	assert_string_equal(c.user, "one");
	assert_string_equal(secret_reveal(c.password), "1");
	assert_string_equal(c.path, in(s, "cluster/.ringup/auth.json"));
	/* a place that says nothing of this registry is passed over */
	put(s, "cluster/.ringup/auth.json", "{\"auths\": {\"x\": {\"auth\": \"" ONE "\"}}}");
	assert_string_equal(find(s, cluster).user, "two");
}

static void test_bad_entries(void **state)
{
	struct scratch *s = *state;
	static const char *const bad[] = {
		"", "x=", "!!!!", "b25l" /* "one": no colon */, "b25lOjE", "b25lOjE=b"};
	struct cluster *cluster = setup(s);
	struct credentials c;
	struct error err = {0};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		put(s, "cluster/.ringup/auth.json",
		    arena_printf(&s->arena, "{\"auths\": {\"" REGISTRY "\": {\"auth\": \"%s\"}}}",
				 bad[i]));
		assert_fails(credentials_find(cluster, REGISTRY, &s->arena, &c, &err), ERROR_USAGE,
			     in(s, "cluster/.ringup/auth.json"));
		assert_has(err.text, "ringup login " REGISTRY);
		if (*bad[i])
			assert_lacks(err.text, bad[i]);
	}
	put(s, "cluster/.ringup/auth.json", "{");
	assert_int_equal(credentials_find(cluster, REGISTRY, &s->arena, &c, &err), -1);
	assert_has(err.text, "auth.json");
}

static void test_store(void **state)
{
	struct scratch *s = *state;
	struct cluster *cluster = setup(s);
	const char *path = put(s, "cluster/.ringup/auth.json",
			       "{\"auths\": {\"other:1\": {\"auth\": \"" TWO "\"}}, \"kept\": 7}");
	struct credentials c = {.user = "lab", .password = {"p:w \"\\\xc3\xbc"}}, got;
	_cleanup_(json_free) cJSON *json = NULL;
	struct error err = {0};
	struct stat st;

	assert_fine(credentials_store(cluster, REGISTRY, &c, &err));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	got = find(s, cluster);
	assert_string_equal(got.user, "lab");
	assert_string_equal(secret_reveal(got.password), "p:w \"\\\xc3\xbc");
	assert_fine(json_read(path, &json, &err));
	assert_true(json_number(json, "kept", 0) == 7);
	assert_string_equal(
		json_text(json_member(json_member(json, "auths"), "other:1"), "auth", &s->arena),
		TWO);
	/* the second login replaces the first */
	c.password.hidden = "new";
	assert_fine(credentials_store(cluster, REGISTRY, &c, &err));
	assert_string_equal(secret_reveal(find(s, cluster).password), "new");
	json_free(&json);
	assert_fine(json_read(path, &json, &err));
	assert_int_equal(cJSON_GetArraySize(json_member(json, "auths")), 2);
}

/* What an engine elsewhere is given is read by it as we read it. */
static void test_text(void **state)
{
	struct scratch *s = *state;
	struct cluster *cluster = setup(s);
	struct credentials c = {0};

	assert_string_equal(secret_reveal(credentials_text(&c, REGISTRY, &s->arena)), "");
	assert_false(credentials_are_there(&c));
	c = (struct credentials){.user = "one", .password = {"a:\"b"}};
	put(s, "home/.docker/config.json",
	    secret_reveal(credentials_text(&c, REGISTRY, &s->arena)));
	c = find(s, cluster);
	assert_string_equal(c.user, "one");
	assert_string_equal(secret_reveal(c.password), "a:\"b");
	assert_null(c.identity.hidden);
	c = (struct credentials){.identity = {"token"}};
	put(s, "home/.docker/config.json",
	    secret_reveal(credentials_text(&c, REGISTRY, &s->arena)));
	c = find(s, cluster);
	assert_null(c.user);
	assert_string_equal(secret_reveal(c.identity), "token");
	c = (struct credentials){.user = "two", .password = {"2"}};
	assert_string_equal(secret_reveal(credentials_text(&c, "docker.io", &s->arena)),
			    "{\"auths\":{\"https://index.docker.io/v1/\":{\"auth\":\"" TWO "\"}}}");
}

static void test_store_makes_the_folder(void **state)
{
	struct scratch *s = *state;
	struct cluster *cluster = setup(s);
	struct credentials c = {.user = "u", .password = {""}};
	struct error err = {0};
	struct stat st;

	assert_fine(credentials_store(cluster, REGISTRY, &c, &err));
	assert_int_equal(stat(in(s, "cluster/.ringup"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_string_equal(find(s, cluster).user, "u");
	assert_string_equal(secret_reveal(find(s, cluster).password), "");
	assert_int_equal(chmod(in(s, "cluster/.ringup"), 0755), 0);
	assert_fine(credentials_store(cluster, REGISTRY, &c, &err));
	assert_int_equal(stat(in(s, "cluster/.ringup"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

/* What would come back otherwise than it was given is refused. */
static void test_store_refuses(void **state)
{
	struct scratch *s = *state;
	struct cluster *cluster = setup(s);
	char *longer = arena_alloc(&s->arena, 10001);
	struct credentials c = {.user = "a:b", .password = {"x"}};
	struct error err = {0};

	assert_fails(credentials_store(cluster, REGISTRY, &c, &err), ERROR_USAGE, ":");
	memset(longer, 'p', 10000);
	c = (struct credentials){.user = "a", .password = {longer}};
	assert_fails(credentials_store(cluster, REGISTRY, &c, &err), ERROR_USAGE, "too long");
	assert_lacks(err.text, "pppp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_none),	  SCRATCH_TEST(test_order),
		SCRATCH_TEST(test_bad_entries),	  SCRATCH_TEST(test_store),
		SCRATCH_TEST(test_text),	  SCRATCH_TEST(test_store_makes_the_folder),
		SCRATCH_TEST(test_store_refuses),
	};

	return cmocka_run_group_tests_name("credentials", tests, NULL, NULL);
}
