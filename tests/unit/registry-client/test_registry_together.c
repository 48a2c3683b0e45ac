/* SPDX-License-Identifier: MIT */
/*
 * Several images at once, each in a thread of its own: what they share travels once, what fails
 * spoils no other, and all keep within the connections of one.
 */
#include "core/pool.h"
#include "tests/unit/registry-client/protocol_support.h"

#define IMAGES 4

/* The fake keeps blobs for all names: with this, each name is found to lack them. */
#define LACKS                                                \
	{                                                    \
		"HEAD", "/blobs/", .status = "404 Not Found" \
	}

static struct fake fake;
static struct registry *registry;
static struct {
	struct error err;
	int rc;
} ends[IMAGES];

static void start(int flags, struct fake_rule *rules, size_t count)
{
	struct registry_config config = {
		.plain_http = true, .timeout_s = 5, .pause_usec = 2000, .connections = 2};
	struct error err = {0};

	for (size_t i = 0; i < count; i++)
		rules[i].path = rule_path(rules[i].path);
	assert_fine(folder_remove(stage.pulled, &err));
	fake_start(&fake, flags, rules, count);
	config.address = fake.address;
	config.user = flags & FAKE_BASIC ? "ops" : NULL;
	config.password.hidden = "s3cret";
	assert_fine(registry_open(&config, &registry, &err));
	memset(ends, 0, sizeof(ends));
}

static void end(void)
{
	registry_close(registry);
	fake_stop(&fake);
}

/* lab/0:1, lab/1:1, ... */
static struct reference name(char repository[16], size_t index)
{
	snprintf(repository, 16, "lab/%zu", index);
	return (struct reference){.registry = fake.address, .repository = repository, .tag = "1"};
}

static void push_one(void *arg, size_t index)
{
	char repository[16];
	struct reference ref = name(repository, index);
	struct push_report report;

	(void)arg;
	ends[index].rc = registry_push(registry, stage.layout, &stage.image, &ref, &report,
				       &ends[index].err);
}

static void pull_one(void *arg, size_t index)
{
	char repository[16];
	struct reference ref = name(repository, index);
	struct descriptor manifest;
	struct pull_report report;

	(void)arg;
	ends[index].rc = registry_pull(registry, &ref, stage.pulled, NULL, &report, &manifest,
				       &ends[index].err);
}

/* How many of them failed; `which`: that one, and with these words. */
static void assert_failed(size_t wanted, const char *words)
{
	size_t failed = 0;

	for (size_t i = 0; i < IMAGES; i++) {
		failed += ends[i].rc < 0;
		if (ends[i].rc < 0 && (!words || !strstr(ends[i].err.text, words)))
			fail_msg("image %zu: %s", i, ends[i].err.text);
	}
	assert_int_equal(failed, wanted);
}

static void fill(void)
{
	char repository[16];

	fill_blobs(&fake);
	for (size_t i = 0; i < IMAGES; i++) {
		name(repository, i);
		fake_put_manifest(&fake, repository, "1", MEDIA_OCI_MANIFEST, stage.image_text,
				  strlen(stage.image_text));
	}
}

static void test_push(void **state)
{
	struct fake_rule rules[] = {LACKS};
	char repository[32];

	(void)state;
	start(FAKE_MOUNTS | FAKE_BASIC, rules, 1);
	pool_each(IMAGES, IMAGES, push_one, NULL);
	end();
	assert_failed(0, NULL);
	assert_int_equal(fake_count(&fake, "PUT", "blobs/uploads"), 3);
	assert_int_equal(fake_count(&fake, "POST", "mount="), 3 * (IMAGES - 1));
	for (size_t i = 0; i < IMAGES; i++) {
		snprintf(repository, sizeof(repository), "lab/%zu 1", i);
		assert_non_null(fake_find(&fake, repository));
	}
	assert_true(fake.most_bodies <= 2);
	fake_free(&fake);
}

/* A registry that does not mount gets the blob for each name. */
static void test_push_without_mounts(void **state)
{
	struct fake_rule rules[] = {LACKS};

	(void)state;
	start(0, rules, 1);
	pool_each(IMAGES, IMAGES, push_one, NULL);
	end();
	assert_failed(0, NULL);
	assert_int_equal(fake_count(&fake, "PUT", "blobs/uploads"), 3 * IMAGES);
	assert_int_equal(fake.most_bodies, 2);
	fake_free(&fake);
}

static void test_push_tokens(void **state)
{
	struct fake_rule rules[] = {LACKS};

	(void)state;
	start(FAKE_MOUNTS | FAKE_BEARER, rules, 1);
	/* the fake's newest token alone is good */
	pool_each(1, 1, push_one, NULL);
	pool_each(2, 1, push_one, NULL);
	end();
	assert_int_equal(ends[1].rc, 0);
	/* the request that mounts may read the other name, the rest may not */
	assert_true(
		fake_count(
			&fake, "GET /token",
			"scope=repository%3Alab%2F1%3Apull%2Cpush&scope=repository%3Alab%2F0%3Apull HTTP") >
		0);
	fake_free(&fake);
}

static void test_push_one_fails(void **state)
{
	struct fake_rule rules[] = {LACKS, {"PUT", "/v2/lab/2/manifests/1", .status = "403 No"}};

	(void)state;
	start(FAKE_MOUNTS, rules, 2);
	pool_each(IMAGES, IMAGES, push_one, NULL);
	end();
	assert_failed(1, "/lab/2");
	assert_true(ends[2].rc < 0);
	fake_free(&fake);
}

/* Who brings the blob fails: another one brings it. */
static void test_push_first_fails(void **state)
{
	struct fake_rule rules[] = {LACKS, {"PUT", "@LARGE@", .times = 1, .status = "403 No"}};

	(void)state;
	start(FAKE_MOUNTS, rules, 2);
	pool_each(IMAGES, IMAGES, push_one, NULL);
	end();
	assert_failed(1, "HTTP 403");
	assert_int_equal(fake_count(&fake, "PUT", stage.large.digest + 7), 2);
	fake_free(&fake);
}

static void test_pull(void **state)
{
	(void)state;
	start(FAKE_BASIC, NULL, 0);
	fill();
	pool_each(IMAGES, IMAGES, pull_one, NULL);
	end();
	assert_failed(0, NULL);
	assert_int_equal(fake_count(&fake, "GET", "/blobs/"), 3);
	check_layout(true);
	fake_free(&fake);
}

static void test_pull_first_fails(void **state)
{
	struct fake_rule rules[] = {{"GET", "@LARGE@", .times = 1, .status = "403 No"}};

	(void)state;
	start(0, rules, 1);
	fill();
	pool_each(IMAGES, IMAGES, pull_one, NULL);
	end();
	assert_failed(1, "HTTP 403");
	assert_int_equal(fake_count(&fake, "GET", stage.large.digest + 7), 2);
	check_layout(true);
	fake_free(&fake);
}

static void test_pull_torn(void **state)
{
	struct fake_rule rules[] = {
		{"GET", "@LARGE@", .times = 2, .cut_out = 1500000},
		{"GET", "@SMALL@", .times = 1, .flip = true},
	};

	(void)state;
	start(0, rules, 2);
	fill();
	pool_each(IMAGES, IMAGES, pull_one, NULL);
	end();
	assert_failed(0, NULL);
	check_layout(true);
	fake_free(&fake);
}

static void test_none_is_there(void **state)
{
	(void)state;
	start(0, NULL, 0);
	pool_each(IMAGES, IMAGES, pull_one, NULL);
	end();
	assert_failed(IMAGES, "lab/");
	fake_free(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_push),
		cmocka_unit_test(test_push_without_mounts),
		cmocka_unit_test(test_push_tokens),
		cmocka_unit_test(test_push_one_fails),
		cmocka_unit_test(test_push_first_fails),
		cmocka_unit_test(test_pull),
		cmocka_unit_test(test_pull_first_fails),
		cmocka_unit_test(test_pull_torn),
		cmocka_unit_test(test_none_is_there),
	};

	return cmocka_run_group_tests(tests, protocol_setup, protocol_teardown);
}
