/* SPDX-License-Identifier: MIT */
/* Who logs in: the order of the places, and what a login leaves alone. */
#include "tests/unit/support.h"

#include "core/json.h"
#include "plan/credentials.h"

#include <sys/stat.h>
#include <sys/wait.h>

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

/* Every shape but Docker's is an error that names the file and the key. */
static void test_shapes(void **state)
{
	struct scratch *s = *state;
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"[]", "must be an object, not a list"},
		{"null", "not null"},
		{"5", "not a number"},
		{"{\"auths\": [1, 2]}", "'auths' must be an object, not a list"},
		{"{\"auths\": \"x\"}", "'auths' must be an object, not a text"},
		{"{\"auths\": {\"a\": []}}", "'auths'.'a' must be an object"},
		{"{\"auths\": {\"a\": true}}", "'auths'.'a' must be an object, not true or false"},
		{"{\"auths\": {\"a\": {\"auth\": 5}}}", "'auths'.'a'.'auth' must be a text"},
		{"{\"auths\": {\"a\": {\"identitytoken\": {}}}}", "'auths'.'a'.'identitytoken'"},
		{"{\"auths\": {\"a\": {\"auth\": \"\\u0000\"}}}", "NUL"},
		{"{\"credHelpers\": [1]}", "'credHelpers' must be an object"},
		{"{\"credHelpers\": {\"a\": 1}}", "'credHelpers'.'a' must be a text"},
		{"{\"credsStore\": [\"x\"]}", "'credsStore' must be a text"},
		{"{\"auths\": {}, \"auths\": {}}", "'auths' stands twice in the file"},
		{"{\"auths\": {\"a\": {}, \"a\": {}}}", "'a' stands twice in 'auths'"},
		{"{\"auths\": {\"a\": {\"auth\": \"\", \"auth\": \"\"}}}", "'auth' stands twice"},
		{"{", "not valid JSON"},
	};
	struct cluster *cluster = setup(s);
	struct credentials c = {.user = "u", .password = {"p"}};
	struct error err = {0};
	bool was_there;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *path = put(s, "cluster/.ringup/auth.json", cases[i].text);

		assert_fails(credentials_find(cluster, REGISTRY, &s->arena, &c, &err), ERROR_USAGE,
			     cases[i].says);
		assert_has(err.text, path);
		c = (struct credentials){.user = "u", .password = {"p"}};
		assert_fails(credentials_store(cluster, REGISTRY, &c, &err), ERROR_USAGE,
			     cases[i].says);
		assert_fails(credentials_forget(cluster, REGISTRY, &was_there, &err), ERROR_USAGE,
			     cases[i].says);
		assert_string_equal(slurp(s, path), cases[i].text);
	}
}

/* What Docker takes for "nothing" is nothing: an empty file, and null. */
static void test_nothing(void **state)
{
	static const char *const texts[] = {
		"", "\n", "{}", "{\"auths\": null, \"credHelpers\": null, \"credsStore\": null}",
		"{\"auths\": {\"other:5000\": null, \"a\": {\"auth\": null}}}"};
	struct scratch *s = *state;
	struct cluster *cluster = setup(s);

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		put(s, "cluster/.ringup/auth.json", texts[i]);
		assert_null(find(s, cluster).user);
	}
}

/* Nothing is cut: what is too long to keep is refused, and other tools' long tokens are read whole. */
static void test_long(void **state)
{
	struct scratch *s = *state;
	struct cluster *cluster = setup(s);
	char *password = arena_alloc(&s->arena, 5001), *token = arena_alloc(&s->arena, 100001);
	struct credentials c = {.user = "u", .password = {password}};
	struct error err = {0};

	memset(password, 'p', 5000);
	password[4999] = 'q';
	password[5000] = '\0';
	assert_fine(credentials_store(cluster, REGISTRY, &c, &err));
	assert_string_equal(secret_reveal(find(s, cluster).password), password);
	memset(token, 't', 100000);
	token[100000] = '\0';
	put(s, "cluster/.ringup/auth.json",
	    secret_reveal(credentials_text(&(struct credentials){.identity = {token}}, REGISTRY,
					   &s->arena)));
	assert_string_equal(secret_reveal(find(s, cluster).identity), token);
	put(s, "cluster/.ringup/auth.json",
	    secret_reveal(credentials_text(&(struct credentials){.user = "u", .password = {token}},
					   REGISTRY, &s->arena)));
	assert_string_equal(secret_reveal(find(s, cluster).password), token);
}

/* base64 of "u:p\0q" and of "u:p\0\0": the first would be cut, the second is old padding. */
static void test_nul_in_auth(void **state)
{
	struct scratch *s = *state;
	struct cluster *cluster = setup(s);
	struct credentials c;
	struct error err = {0};

	put(s, "cluster/.ringup/auth.json", AUTHS("dTpwAHE="));
	assert_fails(credentials_find(cluster, REGISTRY, &s->arena, &c, &err), ERROR_USAGE,
		     "not base64 of user:password");
	put(s, "cluster/.ringup/auth.json", AUTHS("dTpwAAA="));
	assert_string_equal(secret_reveal(find(s, cluster).password), "p");
}

/* Six logins at once keep six. */
static void test_at_once(void **state)
{
	struct scratch *s = *state;
	struct cluster *cluster = setup(s);
	_cleanup_(json_free) cJSON *json = NULL;
	struct error err = {0};
	int status;

	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 6; i++) {
			struct credentials c = {.user = "u", .password = {"p"}};
			const char *registry = arena_printf(&s->arena, "r%d:%d", round, 5000 + i);

			if (fork() == 0)
				_exit(credentials_store(cluster, registry, &c, &err) ? 1 : 0);
		}
		for (int i = 0; i < 6; i++) {
			assert_true(wait(&status) > 0);
			assert_int_equal(status, 0);
		}
	}
	assert_fine(json_read(in(s, "cluster/.ringup/auth.json"), &json, &err));
	assert_int_equal(cJSON_GetArraySize(json_member(json, "auths")), 30);
}

/* A link to the file stays one, and a stricter mode is kept. */
static void test_link_and_mode(void **state)
{
	struct scratch *s = *state;
	struct cluster *cluster = setup(s);
	struct credentials c = {.user = "u", .password = {"p"}};
	const char *real = put(s, "elsewhere.json", "{}");
	struct error err = {0};
	struct stat st;

	assert_fine(folder_make(in(s, "cluster/.ringup"), 0700, &err));
	assert_int_equal(symlink(real, in(s, "cluster/.ringup/auth.json")), 0);
	assert_int_equal(chmod(real, 0400), 0);
	assert_fine(credentials_store(cluster, REGISTRY, &c, &err));
	assert_int_equal(lstat(in(s, "cluster/.ringup/auth.json"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(real, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0400);
	assert_has(slurp(s, real), REGISTRY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_none),	  SCRATCH_TEST(test_order),
		SCRATCH_TEST(test_bad_entries),	  SCRATCH_TEST(test_store),
		SCRATCH_TEST(test_text),	  SCRATCH_TEST(test_store_makes_the_folder),
		SCRATCH_TEST(test_store_refuses), SCRATCH_TEST(test_shapes),
		SCRATCH_TEST(test_nothing),	  SCRATCH_TEST(test_long),
		SCRATCH_TEST(test_nul_in_auth),	  SCRATCH_TEST(test_at_once),
		SCRATCH_TEST(test_link_and_mode),
	};

	return cmocka_run_group_tests_name("credentials", tests, NULL, NULL);
}
