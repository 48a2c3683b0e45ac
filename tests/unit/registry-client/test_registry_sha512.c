/* SPDX-License-Identifier: MIT */
/* Images whose descriptors are sha512: pushed, pulled, copied, and seen to be damaged. */
#include "oci/archive/archive.h"
#include "oci/archive/export.h"
#include "oci/index.h"
#include "oci/layout.h"
#include "registry-client/copy.h"
#include "registry-client/pull.h"
#include "registry-client/push.h"
#include "tests/unit/registry-client/fake_registry.h"
#include "tests/unit/support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

#define LAYER_BYTES (3 * 1024 * 1024)

struct image {
	struct scratch *scratch;
	const char *layout, *pulled;
	char *bytes;
	struct descriptor layer, config, manifest, index;
	const char *text;
};

static void put_as(struct image *i, const void *bytes, size_t length, const char *type,
		   struct descriptor *descriptor)
{
	struct error err = {0};

	*descriptor = (struct descriptor){.size_bytes = length};
	snprintf(descriptor->media_type, sizeof(descriptor->media_type), "%s", type);
	digest_of_as(bytes, length, "sha512:", descriptor->digest);
	assert_fine(layout_put_as(i->layout, bytes, descriptor, &err));
	assert_true(layout_has(i->layout, descriptor));
}

/* A layer, a config, a manifest and an index over it, all named by sha512. */
static void make(struct image *i, struct scratch *s)
{
	static const char config[] = "{\"os\":\"linux\",\"architecture\":\"amd64\"}";
	struct manifest manifest = {.media_type = MEDIA_OCI_MANIFEST, .layer_count = 1};
	struct error err = {0};
	const char *index;
	uint32_t seed = 9;

	*i = (struct image){.scratch = s, .layout = in(s, "layout"), .pulled = in(s, "pulled")};
	signal(SIGPIPE, SIG_IGN);
	i->bytes = arena_alloc(&s->arena, LAYER_BYTES);
	for (size_t k = 0; k < LAYER_BYTES; k++)
		i->bytes[k] = (char)((seed = seed * 1664525 + 1013904223) >> 24);
	assert_fine(layout_init(i->layout, &err));
	put_as(i, i->bytes, LAYER_BYTES, MEDIA_OCI_LAYER_GZIP, &i->layer);
	put_as(i, config, strlen(config), MEDIA_OCI_CONFIG, &i->config);
	manifest.config = i->config;
	manifest.layers = &i->layer;
	i->text = manifest_write(&manifest, &s->arena);
	put_as(i, i->text, strlen(i->text), MEDIA_OCI_MANIFEST, &i->manifest);
	index = arena_printf(
		&s->arena,
		"{\"schemaVersion\":2,\"mediaType\":\"%s\",\"manifests\":[{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%zu,\"platform\":{\"os\":\"linux\",\"architecture\":\"amd64\"}}]}",
		MEDIA_OCI_INDEX, MEDIA_OCI_MANIFEST, i->manifest.digest, strlen(i->text));
	put_as(i, index, strlen(index), MEDIA_OCI_INDEX, &i->index);
}

static void check_file(const struct image *i, const struct descriptor *blob)
{
	char path[LAYOUT_PATH_BYTES], digest[DIGEST_TEXT_BYTES];
	struct error err = {0};

	assert_fine(layout_blob_path(i->pulled, blob->digest, path, &err));
	assert_non_null(strstr(path, "/blobs/sha512/"));
	assert_fine(digest_of_file_as(path, blob->digest, digest, &err));
	assert_string_equal(digest, blob->digest);
}

static struct registry *open_fake(struct fake *fake, struct fake_rule *rules, size_t count,
				  uint64_t split_bytes)
{
	struct registry_config config = {
		.plain_http = true, .timeout_s = 2, .pause_usec = 2000, .split_bytes = split_bytes};
	struct registry *registry;
	struct error err = {0};

	fake_start(fake, 0, rules, count);
	config.address = fake->address;
	assert_fine(registry_open(&config, &registry, &err));
	return registry;
}

/* All of it there and back; the layer whole or in ranges; the image or an index over it. */
static void test_round(void **state)
{
	struct scratch *s = *state;
	struct image i;

	make(&i, s);
	for (int variant = 0; variant < 4; variant++) {
		const struct descriptor *top = variant & 1 ? &i.index : &i.manifest;
		struct registry *registry;
		struct push_report pushed;
		struct pull_report pulled;
		struct descriptor got;
		struct error err = {0};
		struct fake fake;

		assert_fine(folder_remove(i.pulled, &err));
		registry = open_fake(&fake, NULL, 0, variant & 2 ? MIB : 0);
		struct reference ref = {
			.registry = fake.address, .repository = "lab/a", .tag = "1"};
		struct reference other = {
			.registry = fake.address, .repository = "lab/b", .tag = "1"};

		assert_fine(registry_push(registry, i.layout, top, &ref, &pushed, &err));
		assert_int_equal(pushed.blobs_sent, 2);
		assert_fine(registry_push(registry, i.layout, top, &ref, &pushed, &err));
		assert_int_equal(pushed.blobs_sent, 0);
		assert_fine(registry_copy(registry, &ref, registry, &other, NULL, &pushed, &err));
		/* Distribution 2.8 does not know what it mounted by sha512 */
		assert_int_equal(fake_count(&fake, "POST", "mount="), 0);
		assert_fine(registry_pull(registry, &other, i.pulled,
					  variant & 1 ? PLATFORM_ALL : NULL, &pulled, &got, &err));
		assert_int_equal(pulled.blobs_received, 2);
		check_file(&i, &i.layer);
		check_file(&i, &i.config);
		if (variant & 1)
			check_file(&i, &i.manifest);
		/* and by its digest, when that is what it is asked by */
		ref.tag = NULL;
		ref.digest = i.manifest.digest;
		if (variant & 1) {
			assert_fine(folder_remove(i.pulled, &err));
			assert_fine(
				registry_pull(registry, &ref, i.pulled, NULL, &pulled, &got, &err));
			assert_string_equal(got.digest, i.manifest.digest);
			check_file(&i, &i.manifest);
		}
		registry_close(registry);
		fake_stop(&fake);
		fake_free(&fake);
	}
}

static void test_damaged(void **state)
{
	struct scratch *s = *state;
	struct image i;
	struct error err = {0};

	make(&i, s);
	for (int times = 1; times <= 3; times += 2) {
		struct fake_rule rules[] = {
			{"GET", i.layer.digest + 7, .times = times, .flip = true}};
		struct push_report pushed;
		struct pull_report pulled;
		struct descriptor got;
		struct fake fake;
		struct registry *registry = open_fake(&fake, rules, 1, 0);
		struct reference ref = {
			.registry = fake.address, .repository = "lab/a", .tag = "1"};

		assert_fine(folder_remove(i.pulled, &err));
		assert_fine(registry_push(registry, i.layout, &i.manifest, &ref, &pushed, &err));
		if (times == 1)
			assert_fine(
				registry_pull(registry, &ref, i.pulled, NULL, &pulled, &got, &err));
		else
			assert_fails(
				registry_pull(registry, &ref, i.pulled, NULL, &pulled, &got, &err),
				ERROR_FAILED, "had another digest, at last sha512:");
		registry_close(registry);
		fake_stop(&fake);
		fake_free(&fake);
	}
}

/* From layout to layout, and as a docker-archive. */
static void test_copies(void **state)
{
	struct scratch *s = *state;
	const char *tar = in(s, "image.tar");
	struct error err = {0};
	struct image i;
	int fd;

	make(&i, s);
	assert_fine(layout_copy(i.layout, i.pulled, &i.index, &err));
	check_file(&i, &i.layer);
	check_file(&i, &i.index);
	fd = open(tar, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_fine(archive_export(i.layout, &i.manifest, "a:1", fd, &err));
	close(fd);
	err = (struct error){0};
	assert_fails(layout_put_as(i.layout, "other", &i.config, &err), ERROR_FAILED,
		     "has the digest sha512:");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round, scratch_setup, scratch_teardown),
		cmocka_unit_test_setup_teardown(test_damaged, scratch_setup, scratch_teardown),
		cmocka_unit_test_setup_teardown(test_copies, scratch_setup, scratch_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
