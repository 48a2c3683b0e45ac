/* SPDX-License-Identifier: MIT */
/* Indexes that name the same manifests again and again, and more of them than anybody needs. */
#include "oci/index.h"
#include "oci/layout.h"
#include "registry-client/copy.h"
#include "registry-client/pull.h"
#include "registry-client/push.h"
#include "tests/unit/registry-client/fake_registry.h"
#include "tests/unit/support.h"

#include <signal.h>
#include <stdio.h>

#define TIMES 100

static struct registry *open_fake(struct fake *fake)
{
	struct registry_config config = {.plain_http = true, .timeout_s = 2, .pause_usec = 2000};
	struct registry *registry;
	struct error err = {0};

	signal(SIGPIPE, SIG_IGN);
	fake_start(fake, 0, NULL, 0);
	config.address = fake->address;
	assert_fine(registry_open(&config, &registry, &err));
	return registry;
}

/* An index that names each of them so many times. */
static struct descriptor put_index(const char *layout, const struct descriptor *const *of,
				   int times)
{
	cJSON *json = cJSON_CreateObject(), *list;
	struct descriptor made;
	struct error err = {0};
	char *text;

	cJSON_AddNumberToObject(json, "schemaVersion", 2);
	cJSON_AddStringToObject(json, "mediaType", MEDIA_OCI_INDEX);
	list = cJSON_AddArrayToObject(json, "manifests");
	for (; *of; of++)
		for (int i = 0; i < times; i++)
			cJSON_AddItemToArray(list, descriptor_json(*of));
	text = cJSON_PrintUnformatted(json);
	cJSON_Delete(json);
	assert_fine(layout_put(layout, text, strlen(text), MEDIA_OCI_INDEX, &made, &err));
	cJSON_free(text);
	return made;
}

/* Which of the manifest's PUTs it is. */
static size_t place_of(const struct fake *fake, const char *reference)
{
	char begin[256];

	snprintf(begin, sizeof(begin), "PUT /v2/lab/a/manifests/%s ", reference);
	assert_int_equal(fake_count(fake, begin, NULL), 1);
	for (size_t i = 0;; i++)
		if (strncmp(fake->requests[i], begin, strlen(begin)) == 0)
			return i;
}

static void test_each_once(void **state)
{
	struct scratch *s = *state;
	const char *layout = in(s, "layout"), *pulled = in(s, "pulled");
	struct manifest manifest = {.media_type = MEDIA_OCI_MANIFEST};
	struct descriptor image, inner, outer, top, got;
	struct push_report pushed;
	struct pull_report report;
	struct registry *registry;
	struct error err = {0};
	struct fake fake;
	const char *text;

	assert_fine(layout_init(layout, &err));
	assert_fine(layout_put(layout, "{}", 2, MEDIA_OCI_CONFIG, &manifest.config, &err));
	text = manifest_write(&manifest, &s->arena);
	assert_fine(layout_put(layout, text, strlen(text), MEDIA_OCI_MANIFEST, &image, &err));
	inner = put_index(layout, (const struct descriptor *const[]){&image, NULL}, TIMES);
	outer = put_index(layout, (const struct descriptor *const[]){&inner, NULL}, TIMES);
	/* what `outer` holds is met before it, and after it */
	top = put_index(layout, (const struct descriptor *const[]){&inner, &outer, &image, NULL},
			TIMES);
	registry = open_fake(&fake);
	struct reference ref = {.registry = fake.address, .repository = "lab/a", .tag = "1"};
	struct reference other = {.registry = fake.address, .repository = "lab/b", .tag = "1"};

	assert_fine(registry_push(registry, layout, &top, &ref, &pushed, &err));
	assert_in_range(place_of(&fake, image.digest), 1, place_of(&fake, inner.digest));
	assert_in_range(place_of(&fake, inner.digest), 1, place_of(&fake, outer.digest));
	assert_in_range(place_of(&fake, outer.digest), 1, place_of(&fake, "1"));
	assert_int_equal(fake_count(&fake, "PUT /v2/lab/a/manifests/", NULL), 4);
	assert_fine(registry_copy(registry, &ref, registry, &other, NULL, &pushed, &err));
	assert_in_range(fake_count(&fake, "GET /v2/lab/a/manifests/", NULL), 4, 6);
	assert_fine(registry_pull(registry, &other, pulled, PLATFORM_ALL, &report, &got, &err));
	assert_int_equal(fake_count(&fake, "GET /v2/lab/b/manifests/", NULL), 4);
	assert_string_equal(got.digest, top.digest);
	assert_true(layout_has(pulled, &image) && layout_has(pulled, &inner));
	assert_true(layout_has(pulled, &outer) && layout_has(pulled, &top));
	registry_close(registry);
	fake_stop(&fake);
	fake_free(&fake);
}

static void test_too_many(void **state)
{
	struct scratch *s = *state;
	const char *layout = in(s, "layout"), *pulled = in(s, "pulled");
	struct manifest manifest = {.media_type = MEDIA_OCI_MANIFEST};
	struct descriptor images[10], top, got;
	const struct descriptor *of[11] = {NULL};
	struct push_report pushed;
	struct pull_report report;
	struct registry *registry;
	struct error err = {0};
	struct fake fake;
	char *text = arena_alloc(&s->arena, MANIFEST_BYTES_MAX);
	const char *begin;

	registry = open_fake(&fake);
	assert_fine(layout_init(layout, &err));
	assert_fine(layout_put(layout, "{}", 2, MEDIA_OCI_CONFIG, &manifest.config, &err));
	begin = manifest_write(&manifest, &s->arena);
	/* blanks behind the JSON are JSON, too */
	memset(text, ' ', MANIFEST_BYTES_MAX);
	memcpy(text, begin, strlen(begin));
	for (size_t i = 0; i < ARRAY_LEN(images); i++) {
		size_t length = MANIFEST_BYTES_MAX - 100 - i;

		assert_fine(layout_put(layout, text, length, MEDIA_OCI_MANIFEST, &images[i], &err));
		fake_put_manifest(&fake, "lab/a", NULL, MEDIA_OCI_MANIFEST, text, length);
		of[i] = &images[i];
	}
	top = put_index(layout, of, 1);
	assert_fine(layout_read(layout, &top, MANIFEST_BYTES_MAX, &s->arena, &begin, &err));
	fake_put_manifest(&fake, "lab/a", "1", MEDIA_OCI_INDEX, begin, top.size_bytes);
	struct reference ref = {.registry = fake.address, .repository = "lab/a", .tag = "1"};
	struct reference other = {.registry = fake.address, .repository = "lab/b", .tag = "1"};

	assert_fails(registry_pull(registry, &ref, pulled, PLATFORM_ALL, &report, &got, &err),
		     ERROR_FAILED, "more than 32 MiB of manifests");
	err = (struct error){0};
	assert_fails(registry_copy(registry, &ref, registry, &other, NULL, &pushed, &err),
		     ERROR_FAILED, "more than 32 MiB of manifests");
	assert_int_equal(fake_count(&fake, "PUT", NULL), 0);
	registry_close(registry);
	fake_stop(&fake);
	fake_free(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_each_once),
		SCRATCH_TEST(test_too_many),
	};

	return cmocka_run_group_tests_name("nested", tests, NULL, NULL);
}
