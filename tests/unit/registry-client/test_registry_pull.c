/* SPDX-License-Identifier: MIT */
/*
 * Pulling from the real Distribution server (docker-registry) what was pushed to it: images,
 * indexes and artifacts; what an interrupted pull left; bytes that were changed on the server's
 * disk.
 */
#include "core/file.h"
#include "oci/layout.h"
#include "oci/partial.h"
#include "registry-client/pull.h"
#include "registry-client/push.h"
#include "registry-client/referrers.h"
#include "tests/unit/registry-client/registry_support.h"
#include "tests/unit/support.h"

#include <fcntl.h>

#define LAYER_BYTES (9 * 1024 * 1024)

static char folder[] = "/tmp/ringup-pull-XXXXXX";
static char layout[64], address[64];
static pid_t registry_pid;
static struct descriptor amd64, arm64, both, layer, artifact;

static void put_bytes(const void *bytes, size_t length, const char *type, struct descriptor *d)
{
	struct error err = {0};

	assert_fine(layout_put(layout, bytes, length, type, d, &err));
}

static void make_image(const char *architecture, const struct descriptor *layers, size_t count,
		       struct descriptor *image)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct manifest manifest = {.media_type = MEDIA_OCI_MANIFEST, .layer_count = count};
	const char *text =
		arena_printf(&arena, "{\"os\":\"linux\",\"architecture\":\"%s\"}", architecture);

	manifest.layers = ARENA_ARRAY(&arena, count, struct descriptor);
	memcpy(manifest.layers, layers, count * sizeof(*layers));
	put_bytes(text, strlen(text), MEDIA_OCI_CONFIG, &manifest.config);
	text = manifest_write(&manifest, &arena);
	put_bytes(text, strlen(text), MEDIA_OCI_MANIFEST, image);
}

static void make_images(void)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *bytes = xmalloc(LAYER_BYTES);
	struct descriptor layers[2], empty;
	struct error err = {0};
	const char *text;
	uint32_t seed = 9;

	for (size_t i = 0; i < LAYER_BYTES; i++)
		bytes[i] = (char)((seed = seed * 1664525 + 1013904223) >> 24);
	assert_fine(layout_init(layout, &err));
	put_bytes(bytes, LAYER_BYTES, MEDIA_OCI_LAYER_GZIP, &layers[0]);
	put_bytes("small", 5, MEDIA_OCI_LAYER_GZIP, &layers[1]);
	layer = layers[0];
	make_image("amd64", layers, 2, &amd64);
	make_image("arm64", layers + 1, 1, &arm64);
	text = arena_printf(
		&arena,
		"{\"schemaVersion\":2,\"mediaType\":\"%s\",\"manifests\":[{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%d,\"platform\":{\"os\":\"linux\",\"architecture\":\"amd64\"}},{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%d,\"platform\":{\"os\":\"linux\",\"architecture\":\"arm64\",\"variant\":\"v8\"}}]}",
		MEDIA_OCI_INDEX, MEDIA_OCI_MANIFEST, amd64.digest, (int)amd64.size_bytes,
		MEDIA_OCI_MANIFEST, arm64.digest, (int)arm64.size_bytes);
	put_bytes(text, strlen(text), MEDIA_OCI_INDEX, &both);
	put_bytes("{}", 2, "application/vnd.oci.empty.v1+json", &empty);
	text = arena_printf(
		&arena,
		"{\"schemaVersion\":2,\"mediaType\":\"%s\",\"artifactType\":\"application/spdx+json\",\"config\":{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":2},\"layers\":[{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":2}],\"subject\":{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%d},\"annotations\":{\"a\":\"b\"}}",
		MEDIA_OCI_MANIFEST, empty.media_type, empty.digest, empty.media_type, empty.digest,
		MEDIA_OCI_MANIFEST, amd64.digest, (int)amd64.size_bytes);
	put_bytes(text, strlen(text), MEDIA_OCI_MANIFEST, &artifact);
}

static void start_registry(void)
{
	char path[128], text[512];
	int port = free_port();

	snprintf(address, sizeof(address), "127.0.0.1:%d", port);
	snprintf(path, sizeof(path), "%s/config.yml", folder);
	snprintf(text, sizeof(text),
		 "version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\n"
		 "storage: {filesystem: {rootdirectory: %s/store}, delete: {enabled: true}}\n"
		 "http: {addr: '127.0.0.1:%d'}\n",
		 folder, port);
	registry_pid = registry_start(text, path, port);
}

static struct registry *open_registry(uint64_t split_bytes)
{
	struct registry_config config = {
		.address = address, .timeout_s = 10, .split_bytes = split_bytes};
	struct registry *registry;
	struct error err = {0};

	assert_fine(registry_open(&config, &registry, &err));
	return registry;
}

static void push(const struct descriptor *manifest, const char *tag)
{
	_cleanup_(registry_closep) struct registry *registry = open_registry(0);
	struct reference ref = {.registry = address, .repository = "lab/train", .tag = tag};
	struct push_report report;
	struct error err = {0};

	assert_fine(registry_push(registry, layout, manifest, &ref, &report, &err));
}

static int group_setup(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_non_null(mkdtemp(folder));
	snprintf(layout, sizeof(layout), "%s/layout", folder);
	make_images();
	start_registry();
	push(&amd64, "one");
	push(&both, "two");
	return 0;
}

static int group_teardown(void **state)
{
	struct error err = {0};

	(void)state;
	registry_end(registry_pid);
	return folder_remove(folder, &err);
}

/* One pull of a tag or a digest into the test's own layout. */
struct pulled {
	struct pull_report report;
	struct descriptor manifest;
	struct error err;
	const char *layout;
};

static int pull(struct scratch *s, const char *tag, const char *digest, const char *platform,
		uint64_t split_bytes, struct pulled *p)
{
	_cleanup_(registry_closep) struct registry *registry = open_registry(split_bytes);
	struct reference ref = {
		.registry = address, .repository = "lab/train", .tag = tag, .digest = digest};

	*p = (struct pulled){.layout = in(s, "pulled")};
	return registry_pull(registry, &ref, p->layout, platform, &p->report, &p->manifest,
			     &p->err);
}

static void assert_whole(const char *where, const struct descriptor *d)
{
	char path[LAYOUT_PATH_BYTES], digest[DIGEST_TEXT_BYTES];
	struct error err = {0};

	assert_fine(layout_blob_path(where, d->digest, path, &err));
	assert_fine(digest_of_file(path, digest, &err));
	assert_string_equal(digest, d->digest);
}

/* No partial or unfinished file is left. */
static void assert_tidy(struct scratch *s, const char *where)
{
	const char **names;
	struct error err = {0};

	assert_fine(folder_list(arena_printf(&s->arena, "%s/blobs", where), "", &s->arena, &names,
				&err));
	assert_string_equal(names[0], "sha256");
	assert_null(names[1]);
}

#define assert_pulled(call)                                           \
	do {                                                          \
		if ((call) != 0)                                      \
			fail_msg("%s failed: %s", #call, p.err.text); \
	} while (0)

static void test_image(void **state)
{
	struct scratch *s = *state;
	struct pulled p;

	assert_pulled(pull(s, "one", NULL, NULL, 0, &p));
	assert_string_equal(p.manifest.digest, amd64.digest);
	assert_string_equal(p.manifest.media_type, MEDIA_OCI_MANIFEST);
	assert_int_equal(p.report.blobs_total, 3);
	assert_int_equal(p.report.blobs_received, 3);
	assert_true(p.report.bytes_received >= LAYER_BYTES + 5);
	assert_whole(p.layout, &layer);
	assert_whole(p.layout, &amd64);
	assert_tidy(s, p.layout);
	/* all there: nothing more comes */
	assert_pulled(pull(s, "one", NULL, NULL, 0, &p));
	assert_int_equal(p.report.blobs_received, 0);
	assert_int_equal(p.report.bytes_received, 0);
	assert_true(p.report.bytes_there >= LAYER_BYTES + 5);
}

static void test_no_traffic(void **state)
{
	struct scratch *s = *state;
	struct pulled p;
	char saved[64];

	assert_pulled(pull(s, NULL, amd64.digest, NULL, 0, &p));
	memcpy(saved, address, sizeof(saved));
	snprintf(address, sizeof(address), "127.0.0.1:1"); /* nobody is there */
	assert_pulled(pull(s, NULL, amd64.digest, NULL, 0, &p));
	memcpy(address, saved, sizeof(saved));
	assert_string_equal(p.manifest.media_type, MEDIA_OCI_MANIFEST);
}

static void test_split(void **state)
{
	struct scratch *s = *state;
	struct pulled p;

	assert_pulled(pull(s, "one", NULL, NULL, MIB, &p));
	assert_int_equal(p.report.blobs_received, 3);
	assert_whole(p.layout, &layer);
	assert_tidy(s, p.layout);
}

static void test_platforms(void **state)
{
	struct scratch *s = *state;
	struct pulled p;

	assert_pulled(pull(s, "two", NULL, NULL, 0, &p));
	assert_string_equal(p.manifest.digest, amd64.digest);
	assert_pulled(pull(s, "two", NULL, "linux/arm64", 0, &p));
	assert_string_equal(p.manifest.digest, arm64.digest);
	assert_pulled(pull(s, "two", NULL, "linux/arm64/v8", 0, &p));
	assert_string_equal(p.manifest.digest, arm64.digest);
	assert_int_equal(pull(s, "two", NULL, "linux/arm64/v7", 0, &p), -1);
	assert_has(p.err.text, "linux/amd64, linux/arm64/v8");
	assert_int_equal(pull(s, "two", NULL, "arm64", 0, &p), -1);
	assert_int_equal(p.err.kind, ERROR_USAGE);
	assert_int_equal(pull(s, "one", NULL, "linux/arm64", 0, &p), -1);
	assert_has(p.err.text, "the image is for linux/amd64, not for linux/arm64");
}

static void test_all_platforms(void **state)
{
	struct scratch *s = *state;
	struct pulled p;

	assert_pulled(pull(s, "two", NULL, PLATFORM_ALL, 0, &p));
	assert_string_equal(p.manifest.digest, both.digest);
	assert_string_equal(p.manifest.media_type, MEDIA_OCI_INDEX);
	assert_whole(p.layout, &both);
	assert_whole(p.layout, &amd64);
	assert_whole(p.layout, &arm64);
	assert_whole(p.layout, &layer);
}

/* What a run that died had of the layer, with the first byte wrong if asked. */
static void leave_partial(struct scratch *s, size_t bytes, bool damaged)
{
	const char *path =
		arena_printf(&s->arena, "%s/blobs/.partial-%s", in(s, "pulled"), layer.digest + 7);
	char from[LAYOUT_PATH_BYTES];
	struct error err = {0};
	char *text;
	size_t length;

	assert_fine(layout_init(in(s, "pulled"), &err));
	assert_fine(layout_blob_path(layout, layer.digest, from, &err));
	assert_fine(file_read(from, LAYER_BYTES + 1, &s->arena, &text, &length, &err));
	text[0] = (char)(text[0] ^ damaged);
	assert_fine(file_write(path, text, bytes, 0600, &err));
}

static void test_resume(void **state)
{
	struct scratch *s = *state;
	struct pulled p;

	leave_partial(s, 8 * MIB, false);
	assert_pulled(pull(s, "one", NULL, NULL, 0, &p));
	assert_int_equal(p.report.bytes_resumed, 8 * MIB);
	assert_true(p.report.bytes_received < 2 * MIB);
	assert_whole(p.layout, &layer);
	assert_tidy(s, p.layout);
}

static void test_resume_whole(void **state)
{
	struct scratch *s = *state;
	struct pulled p;

	leave_partial(s, LAYER_BYTES, false);
	assert_pulled(pull(s, "one", NULL, NULL, 0, &p));
	assert_true(p.report.bytes_received < 1000);
	assert_whole(p.layout, &layer);
}

/* What was left is wrong: it is found out, thrown away and fetched anew. */
static void test_resume_damaged(void **state)
{
	struct scratch *s = *state;
	struct pulled p;

	leave_partial(s, 8 * MIB, true);
	assert_pulled(pull(s, "one", NULL, NULL, 0, &p));
	assert_true(p.report.bytes_received >= LAYER_BYTES);
	assert_whole(p.layout, &layer);
	assert_tidy(s, p.layout);
}

/* Parts that an earlier run left half way, and that this run goes on with. */
static void test_resume_parts(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct partial partial;
	char from[LAYOUT_PATH_BYTES];
	struct pulled p;
	char *text;
	size_t length;

	assert_fine(layout_init(in(s, "pulled"), &err));
	assert_fine(layout_blob_path(layout, layer.digest, from, &err));
	assert_fine(file_read(from, LAYER_BYTES + 1, &s->arena, &text, &length, &err));
	assert_fine(partial_open(&partial, in(s, "pulled"), &layer, 4, &err));
	assert_int_equal(partial.part_count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_fine(partial_add(&partial, i, text + partial_part_offset(&partial, i), MIB,
					&err));
	partial_release(&partial);
	assert_pulled(pull(s, "one", NULL, NULL, MIB, &p));
	assert_int_equal(p.report.bytes_resumed, 4 * MIB);
	assert_true(p.report.bytes_received < LAYER_BYTES - 3 * MIB);
	assert_whole(p.layout, &layer);
	assert_tidy(s, p.layout);
}

/* Another process is at the blob: both get it, and neither disturbs the other. */
static void test_shared_partial(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct partial other;
	struct pulled p;

	assert_fine(layout_init(in(s, "pulled"), &err));
	assert_fine(partial_open(&other, in(s, "pulled"), &layer, 1, &err));
	assert_fine(partial_add(&other, 0, "wrong", 5, &err));
	assert_pulled(pull(s, "one", NULL, NULL, 0, &p));
	assert_whole(p.layout, &layer);
	assert_int_equal(p.report.bytes_resumed, 0);
	partial_release(&other);
}

/* The server's disk changed a byte: refused, and nothing stays that looks like the blob. */
static void test_damaged_blob(void **state)
{
	struct scratch *s = *state;
	const char *path =
		arena_printf(&s->arena, "%s/store/docker/registry/v2/blobs/sha256/%.2s/%s/data",
			     folder, layer.digest + 7, layer.digest + 7);
	int fd = open(path, O_RDWR);
	struct pulled p;
	char byte;

	assert_int_equal(pread(fd, &byte, 1, 1000), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, 1000), 1);
	assert_int_equal(pull(s, "one", NULL, NULL, 0, &p), -1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, 1000), 1);
	close(fd);
	assert_has(p.err.text, "another digest");
	assert_has(p.err.text, "pull 127.0.0.1:");
	assert_false(layout_has(p.layout, &layer));
	assert_false(layout_has(p.layout, &amd64));
	assert_pulled(pull(s, "one", NULL, NULL, 0, &p));
	assert_int_equal(p.report.bytes_resumed, 0);
	assert_whole(p.layout, &layer);
}

/* Our own disk changed bytes of what was pulled: it is hashed again, and comes again. */
static void test_damaged_here(void **state)
{
	struct scratch *s = *state;
	const struct descriptor *const blobs[] = {&layer, &amd64};
	char path[LAYOUT_PATH_BYTES];
	struct error err = {0};
	struct pulled p;

	assert_pulled(pull(s, "one", NULL, NULL, 0, &p));
	usleep(20000); /* a step of the clock that gives files their times */
	for (size_t i = 0; i < ARRAY_LEN(blobs); i++) {
		int fd;

		assert_fine(layout_blob_path(p.layout, blobs[i]->digest, path, &err));
		fd = open(path, O_RDWR);
		assert_int_equal(pwrite(fd, "?", 1, 20), 1);
		close(fd);
	}
	assert_pulled(pull(s, NULL, amd64.digest, NULL, 0, &p));
	assert_int_equal(p.report.blobs_received, 1);
	for (size_t i = 0; i < ARRAY_LEN(blobs); i++)
		assert_whole(p.layout, blobs[i]);
	assert_tidy(s, p.layout);
}

static void test_missing(void **state)
{
	struct scratch *s = *state;
	struct pulled p;

	assert_int_equal(pull(s, "nothing", NULL, NULL, 0, &p), -1);
	assert_has(p.err.text, "lab/train:nothing");
}

/* Distribution 2.8 has no referrers: the tag sha256-HEX holds the list. */
static void test_referrers(void **state)
{
	struct scratch *s = *state;
	_cleanup_(registry_closep) struct registry *registry = open_registry(0);
	struct reference ref = {
		.registry = address, .repository = "lab/train", .digest = amd64.digest};
	struct error err = {0};
	struct index index;

	assert_fine(registry_list_referrers(registry, &ref, NULL, &s->arena, &index, &err));
	assert_int_equal(index.count, 0);
	for (int i = 0; i < 2; i++) {
		assert_fine(registry_push_referrer(registry, &ref, layout, &artifact, &err));
		assert_fine(registry_list_referrers(registry, &ref, NULL, &s->arena, &index, &err));
		assert_int_equal(index.count, 1);
	}
	assert_string_equal(index.entries[0].descriptor.digest, artifact.digest);
	assert_string_equal(index.entries[0].artifact_type, "application/spdx+json");
	assert_fine(registry_list_referrers(registry, &ref, "application/none", &s->arena, &index,
					    &err));
	assert_int_equal(index.count, 0);
	ref.digest = arm64.digest;
	assert_fails(registry_push_referrer(registry, &ref, layout, &artifact, &err), ERROR_USAGE,
		     "refers to");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_image),	  SCRATCH_TEST(test_no_traffic),
		SCRATCH_TEST(test_split),	  SCRATCH_TEST(test_platforms),
		SCRATCH_TEST(test_all_platforms), SCRATCH_TEST(test_resume),
		SCRATCH_TEST(test_resume_whole),  SCRATCH_TEST(test_resume_damaged),
		SCRATCH_TEST(test_resume_parts),  SCRATCH_TEST(test_shared_partial),
		SCRATCH_TEST(test_damaged_blob),  SCRATCH_TEST(test_missing),
		SCRATCH_TEST(test_damaged_here),  SCRATCH_TEST(test_referrers),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
