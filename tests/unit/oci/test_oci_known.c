/* SPDX-License-Identifier: MIT */
/* Notes of layers whose blob is known: what does not make sense is not there. */
#include "tests/unit/support.h"

#include "oci/known.h"
#include "oci/layout.h"

#include <stdio.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#define HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HEX_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HEX_C "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"

static const struct known layer = {
	.diff_id = "sha256:" HEX_A,
	.blob = {MEDIA_OCI_LAYER_GZIP, "sha256:" HEX_B, 12345},
};

static void test_round(void **state)
{
	struct scratch *s = *state;
	const char *folder = arena_printf(&s->arena, "%s/a/layers", s->folder);
	struct known found;
	struct stat st;

	assert_false(known_find(folder, layer.diff_id, &found));
	known_put(folder, layer.diff_id, &layer);
	assert_true(known_find(folder, layer.diff_id, &found));
	assert_string_equal(found.diff_id, layer.diff_id);
	assert_string_equal(found.blob.digest, layer.blob.digest);
	assert_string_equal(found.blob.media_type, layer.blob.media_type);
	assert_int_equal(found.blob.size_bytes, 12345);
	/* nobody else's business, and not under the other key */
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_false(known_find(folder, layer.blob.digest, &found));
	known_put(folder, layer.blob.digest, &layer);
	assert_true(known_find(folder, layer.blob.digest, &found));
}

static void set_age(const char *path, int days)
{
	struct timespec times[2] = {{.tv_sec = time(NULL) - days * 24 * 3600}};

	times[1] = times[0];
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void test_prune(void **state)
{
	struct scratch *s = *state;
	const char *folder = arena_printf(&s->arena, "%s/prune", s->folder);
	const char *other = arena_printf(&s->arena, "%s/other", folder);
	struct error err = {0};
	char digest[DIGEST_TEXT_BYTES], config[DIGEST_TEXT_BYTES];
	const char *paths[6];
	struct known found;

	for (int i = 0; i < 6; i++) {
		struct known known = layer;

		digest_of(&i, sizeof(i), digest);
		snprintf(known.diff_id, sizeof(known.diff_id), "%s", digest);
		known_put(folder, digest, &known);
		paths[i] = arena_printf(&s->arena, "%s/%s", folder, digest + 7);
		set_age(paths[i], 100 - i);
	}
	digest_of("{}", 2, config);
	known_put_config(folder, "{}", 2);
	set_age(arena_printf(&s->arena, "%s/%s.json", folder, config + 7), 300);
	assert_int_equal(file_write(other, "x", 1, 0600, &err), 0);
	set_age(other, 1000);
	/* the oldest, asked for just now, is the newest */
	assert_true(known_find(
		folder, arena_printf(&s->arena, "sha256:%s", strrchr(paths[0], '/') + 1), &found));
	known_prune(folder, 100, 180);
	assert_false(file_exists(arena_printf(&s->arena, "%s/%s.json", folder, config + 7)));
	for (int i = 0; i < 6; i++)
		assert_true(file_exists(paths[i]));
	known_prune(folder, 2, 180);
	assert_true(file_exists(paths[0]) && file_exists(paths[5]));
	for (int i = 1; i < 5; i++)
		assert_false(file_exists(paths[i]));
	known_prune(folder, 2, 50);
	assert_true(file_exists(paths[0]));
	assert_false(file_exists(paths[5]));
	assert_true(file_exists(other));
	known_prune(arena_printf(&s->arena, "%s/none", s->folder), 2, 50);
}

/* What the file of a layer may hold after a crash, a bad disk or a bad neighbour. */
static void test_nonsense(void **state)
{
#define BLOB(type, digest, size) \
	"\"blob\":{\"mediaType\":\"" type "\",\"digest\":\"" digest "\",\"size\":" size "}"
#define GOOD BLOB(MEDIA_OCI_LAYER_GZIP, "sha256:" HEX_B, "5")
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"nonsense",
		"{\"diff_id\":\"sha256:" HEX_A "\"}",
		"{\"diff_id\":\"sha256:" HEX_A "\"," BLOB(MEDIA_OCI_LAYER_GZIP, HEX_B, "5") "}",
		"{\"diff_id\":\"sha256:" HEX_A
		"\"," BLOB(MEDIA_OCI_LAYER_GZIP, "sha256:" HEX_B, "0") "}",
		"{\"diff_id\":\"sha256:" HEX_A
		"\"," BLOB(MEDIA_OCI_LAYER_GZIP, "sha256:" HEX_B, "-5") "}",
		"{\"diff_id\":\"sha256:" HEX_A
		"\"," BLOB(MEDIA_OCI_CONFIG, "sha256:" HEX_B, "5") "}",
		"{\"diff_id\":\"../../etc/passwd\"," GOOD "}",
		"{" GOOD "}",
		"{\"diff_id\":\"sha256:" HEX_C "\"," GOOD "}",
	};
	struct scratch *s = *state;
	const char *path = arena_printf(&s->arena, "%s/" HEX_A, s->folder);
	const char *fine = "{\"diff_id\":\"sha256:" HEX_A "\"," GOOD "}";
	struct error err = {0};
	struct known found;

	assert_int_equal(file_write(path, fine, strlen(fine), 0600, &err), 0);
	assert_true(known_find(s->folder, layer.diff_id, &found));
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		assert_int_equal(file_write(path, texts[i], strlen(texts[i]), 0600, &err), 0);
		if (known_find(s->folder, layer.diff_id, &found))
			fail_msg("it takes %s", texts[i]);
	}
	/* torn anywhere */
	for (size_t length = 0; length < strlen(fine); length++) {
		assert_int_equal(file_write(path, fine, length, 0600, &err), 0);
		assert_false(known_find(s->folder, layer.diff_id, &found));
	}
	assert_false(known_find(s->folder, "sha256:../../../etc/passwd", &found));
	assert_false(known_find(s->folder, "", &found));
}

/* An image by its config: whole, or not at all. */
static void test_image(void **state)
{
	struct scratch *s = *state;
	const char *layout = arena_printf(&s->arena, "%s/layout", s->folder);
	static const char config[] = "{\"rootfs\":{\"diff_ids\":[\"sha256:" HEX_A "\"]}}";
	char digest[DIGEST_TEXT_BYTES];
	struct descriptor manifest;
	struct manifest read;
	struct error err = {0};
	const char *bytes;

	digest_of(config, strlen(config), digest);
	assert_false(known_image(s->folder, digest, layout, &s->arena, &manifest));
	known_put_config(s->folder, config, strlen(config));
	assert_false(known_image(s->folder, digest, layout, &s->arena, &manifest));
	known_put(s->folder, layer.diff_id, &layer);
	assert_true(known_image(s->folder, digest, layout, &s->arena, &manifest));
	assert_int_equal(layout_read(layout, &manifest, MIB, &s->arena, &bytes, &err), 0);
	assert_int_equal(manifest_parse(bytes, strlen(bytes), "m", &s->arena, &read, &err), 0);
	assert_string_equal(read.config.digest, digest);
	assert_int_equal(read.layer_count, 1);
	assert_string_equal(read.layers[0].digest, layer.blob.digest);
	/* the wrong bytes under that name */
	assert_int_equal(file_write(arena_printf(&s->arena, "%s/%s.json", s->folder, digest + 7),
				    "{}", 2, 0600, &err),
			 0);
	assert_false(known_image(s->folder, digest, layout, &s->arena, &manifest));
	assert_false(known_image(s->folder, "nonsense", layout, &s->arena, &manifest));
}

/* No note is no harm. */
static void test_no_room(void **state)
{
	struct known found;

	(void)state;
	known_put("/proc/no/such/folder", layer.diff_id, &layer);
	assert_false(known_find("/proc/no/such/folder", layer.diff_id, &found));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round, scratch_setup, scratch_teardown),
		cmocka_unit_test_setup_teardown(test_prune, scratch_setup, scratch_teardown),
		cmocka_unit_test_setup_teardown(test_nonsense, scratch_setup, scratch_teardown),
		cmocka_unit_test_setup_teardown(test_image, scratch_setup, scratch_teardown),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
