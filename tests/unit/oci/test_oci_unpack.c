/* SPDX-License-Identifier: MIT */
/* diffIDs of packed layers, archives there and back, partial blobs, indexes and platforms. */
#include "tests/unit/support.h"

#include "core/digest.h"
#include "oci/archive/archive.h"
#include "oci/archive/export.h"
#include "oci/layer/gzip.h"
#include "oci/index.h"
#include "oci/layout.h"
#include "oci/partial.h"
#include "oci/layer/unpack.h"

#include <fcntl.h>
#include <zstd.h>

#define PLAIN_BYTES (3 * 1024 * 1024 + 17)

static char *make_plain(void)
{
	char *plain = xmalloc(PLAIN_BYTES);
	uint32_t seed = 3;

	for (size_t i = 0; i < PLAIN_BYTES; i++)
		plain[i] = (char)((seed = seed * 1664525 + 1013904223) >> 28);
	return plain;
}

/* Feeds the bytes in pieces of every odd size. */
static int unpack_all(enum packing packing, const char *bytes, size_t length, char *diff_id,
		      struct error *err)
{
	_cleanup_(unpack_free) struct unpack *unpack = unpack_new(packing);
	size_t piece = 1;

	*err = (struct error){0};
	for (size_t at = 0; at < length; at += piece, piece = piece * 3 + 1) {
		size_t room = length - at < piece ? length - at : piece;

		if (unpack_add(unpack, bytes + at, room, err) < 0)
			return -1;
	}
	return unpack_finish(unpack, diff_id, err);
}

static void test_zstd(void **state)
{
	_cleanup_(free_pointer) char *plain = make_plain();
	size_t room = ZSTD_compressBound(PLAIN_BYTES) + 64;
	_cleanup_(free_pointer) char *packed = xmalloc(2 * room);
	size_t length = ZSTD_compress(packed, room, plain, PLAIN_BYTES, 3);
	char wanted[DIGEST_TEXT_BYTES], got[DIGEST_TEXT_BYTES];
	struct error err = {0};

	(void)state;
	digest_of(plain, PLAIN_BYTES, wanted);
	assert_int_equal(packing_of(packed, length), PACKING_ZSTD);
	assert_string_equal(packing_media_type(PACKING_ZSTD), MEDIA_OCI_LAYER_ZSTD);
	assert_fine(unpack_all(PACKING_ZSTD, packed, length, got, &err));
	assert_string_equal(got, wanted);
	assert_fails(unpack_all(PACKING_ZSTD, packed, length - 1, got, &err), ERROR_FAILED,
		     "ends too early");
	assert_fails(unpack_all(PACKING_ZSTD, "hello, world", 12, got, &err), ERROR_FAILED,
		     "damaged zstd");
	/* several frames, and one to skip: what zstd:chunked looks like */
	memcpy(packed + length, "\x50\x2a\x4d\x18\x04\x00\x00\x00skip", 12);
	length += 12;
	length += ZSTD_compress(packed + length, room, "more", 4, 1);
	assert_fine(unpack_all(PACKING_ZSTD, packed, length, got, &err));
	assert_string_not_equal(got, wanted);
	packed[length / 2] ^= 1;
	packed[length / 3] ^= 1;
	assert_int_equal(unpack_all(PACKING_ZSTD, packed, length, got, &err) == 0 &&
				 strcmp(got, wanted) == 0,
			 0);
}

static void test_packings(void **state)
{
	char got[DIGEST_TEXT_BYTES], wanted[DIGEST_TEXT_BYTES];
	struct error err;

	(void)state;
	assert_int_equal(packing_of("\x1f\x8b\x08", 3), PACKING_GZIP);
	assert_int_equal(packing_of("\x1f", 1), PACKING_NONE);
	assert_int_equal(packing_of("\x50\x2a\x4d\x18\x04", 5), PACKING_ZSTD);
	assert_int_equal(packing_of("hello", 5), PACKING_NONE);
	assert_int_equal(packing_of("", 0), PACKING_NONE);
	digest_of("hello", 5, wanted);
	assert_fine(unpack_all(PACKING_NONE, "hello", 5, got, &err));
	assert_string_equal(got, wanted);
}

/* 20 GiB of zeros in 2 MiB: refused long before they are through. */
static void test_bomb(void **state)
{
	_cleanup_(free_pointer) char *zeros = xmalloc(64 * MIB);
	_cleanup_(free_pointer) char *packed = xmalloc(MIB);
	_cleanup_(unpack_free) struct unpack *unpack = unpack_new(PACKING_ZSTD);
	struct error err = {0};
	size_t length;
	int rc = 0;

	(void)state;
	memset(zeros, 0, 64 * MIB);
	length = ZSTD_compress(packed, MIB, zeros, 64 * MIB, 19);
	for (int i = 0; i < 320 && rc == 0; i++)
		rc = unpack_add(unpack, packed, length, &err);
	assert_int_equal(rc, -1);
	assert_has(err.text, "bomb");
}

/* An image of one layer in a layout; its config has the layer's diffID. */
static void make_image(struct scratch *s, enum packing packing, struct descriptor *image)
{
	_cleanup_(free_pointer) char *packed = xmalloc(MIB);
	char diff_id[DIGEST_TEXT_BYTES], plain[2000];
	struct descriptor layer;
	struct manifest manifest = {
		.media_type = MEDIA_OCI_MANIFEST, .layers = &layer, .layer_count = 1};
	struct error err = {0};
	const char *layout = in(s, "layout"), *text;
	size_t length;

	memset(plain, 0, sizeof(plain));
	memcpy(plain + 257, "ustar", 5);
	digest_of(plain, sizeof(plain), diff_id);
	if (packing == PACKING_ZSTD) {
		length = ZSTD_compress(packed, MIB, plain, sizeof(plain), 1);
	} else {
		struct gzip_scratch *scratch = gzip_scratch_new();

		gzip_header((unsigned char *)packed);
		length = GZIP_HEADER_BYTES;
		length +=
			gzip_block(scratch, plain, sizeof(plain), (unsigned char *)packed + length);
		gzip_trailer(gzip_crc(0, plain, sizeof(plain)), sizeof(plain),
			     (unsigned char *)packed + length);
		length += GZIP_TRAILER_BYTES;
		gzip_scratch_free(scratch);
	}
	assert_fine(layout_init(layout, &err));
	assert_fine(layout_put(layout, packed, length, packing_media_type(packing), &layer, &err));
	text = arena_printf(
		&s->arena,
		"{\"os\":\"linux\",\"architecture\":\"amd64\",\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"%s\"]}}",
		diff_id);
	assert_fine(
		layout_put(layout, text, strlen(text), MEDIA_OCI_CONFIG, &manifest.config, &err));
	text = manifest_write(&manifest, &s->arena);
	assert_fine(layout_put(layout, text, strlen(text), MEDIA_OCI_MANIFEST, image, &err));
}

/* Out into an archive and in again: the layer keeps its bytes and its type. */
static void there_and_back(struct scratch *s, enum packing packing)
{
	const struct archive_options options = {.name = "train:1"};
	struct descriptor image, again;
	struct manifest before, after;
	struct error err = {0};
	const char *text;
	int fd;

	make_image(s, packing, &image);
	fd = open(in(s, "image.tar"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_fine(archive_export(in(s, "layout"), &image, "train:1", fd, &err));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_fine(archive_import(fd, in(s, "again"), &options, &s->arena, &again, &err));
	close(fd);
	assert_fine(layout_read(in(s, "layout"), &image, MIB, &s->arena, &text, &err));
	assert_fine(manifest_parse(text, image.size_bytes, "m", &s->arena, &before, &err));
	assert_fine(layout_read(in(s, "again"), &again, MIB, &s->arena, &text, &err));
	assert_fine(manifest_parse(text, again.size_bytes, "m", &s->arena, &after, &err));
	assert_int_equal(after.layer_count, 1);
	assert_string_equal(after.layers[0].digest, before.layers[0].digest);
	assert_string_equal(after.layers[0].media_type, packing_media_type(packing));
	assert_string_equal(after.config.digest, before.config.digest);
}

static void test_archive_zstd(void **state)
{
	there_and_back(*state, PACKING_ZSTD);
}

static void test_archive_gzip(void **state)
{
	there_and_back(*state, PACKING_GZIP);
}

static void test_layout_copy(void **state)
{
	struct scratch *s = *state;
	struct descriptor image, found;
	struct error err = {0};

	make_image(s, PACKING_GZIP, &image);
	assert_fine(layout_copy(in(s, "layout"), in(s, "copy"), &image, &err));
	assert_fine(layout_manifest(in(s, "copy"), image.digest, &found, &err));
	assert_string_equal(found.media_type, MEDIA_OCI_MANIFEST);
	assert_int_equal(found.size_bytes, image.size_bytes);
	assert_int_equal(layout_manifest(in(s, "copy"), "sha256:x", &found, &err), -1);
	assert_fine(layout_tag(in(s, "copy"), &image, "a", &err));
	assert_fine(layout_tag(in(s, "copy"), &image, NULL, &err));
	assert_fine(layout_tag(in(s, "copy"), &image, NULL, &err));
	assert_fails(layout_find(in(s, "copy"), NULL, &found, &err), ERROR_USAGE, "2 images");
	assert_fine(layout_find(in(s, "copy"), "a", &found, &err));
}

static void test_partial(void **state)
{
	struct scratch *s = *state;
	_cleanup_(free_pointer) char *plain = make_plain();
	struct descriptor d = {.size_bytes = PLAIN_BYTES};
	struct error err = {0};
	struct partial p;

	digest_of(plain, PLAIN_BYTES, d.digest);
	assert_fine(layout_init(in(s, "l"), &err));
	assert_fine(partial_open(&p, in(s, "l"), &d, 4, &err));
	assert_int_equal(p.part_count, 3); /* none shorter than 1 MiB */
	assert_fine(partial_add(&p, 1, plain + partial_part_offset(&p, 1), 1000, &err));
	assert_int_equal(partial_ready_bytes(&p), 0);
	assert_fine(partial_add(&p, 0, plain, MIB, &err));
	assert_int_equal(partial_ready_bytes(&p), MIB + 1000);
	assert_fails(partial_add(&p, 0, plain, 1, &err), ERROR_FAILED, "more bytes");
	partial_release(&p);
	assert_fine(partial_open(&p, in(s, "l"), &d, 1, &err));
	assert_int_equal(p.part_count, 3);
	assert_int_equal(partial_done_bytes(&p), MIB + 1000);
	assert_fine(partial_reset(&p, &err));
	assert_fine(partial_add(&p, 0, plain, PLAIN_BYTES, &err));
	assert_false(layout_has(in(s, "l"), &d));
	assert_fine(partial_finish(&p, &err));
	partial_release(&p);
	assert_true(layout_has(in(s, "l"), &d));
}

static void test_platforms(void **state)
{
	static const struct {
		const char *wanted, *os, *architecture, *variant;
		bool fits;
	} rows[] = {
		{"linux/amd64", "linux", "amd64", "", true},
		{"linux/amd64", "linux", "amd64", "v3", true},
		{"linux/arm64", "linux", "arm64", "v8", true},
		{"linux/arm64/v8", "linux", "arm64", "v8", true},
		{"linux/arm64/v8", "linux", "arm64", "", false},
		{"linux/arm", "linux", "arm64", "", false},
		{"linux/arm64", "linux", "arm", "", false},
		{"linux/amd64", "windows", "amd64", "", false},
		{"linux/amd64", "", "", "", false},
	};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(platform_fits(rows[i].wanted, rows[i].os, rows[i].architecture,
					       rows[i].variant),
				 rows[i].fits);
	assert_fine(platform_check("linux/amd64", &err));
	assert_fine(platform_check("linux/arm/v7", &err));
	assert_fails(platform_check("amd64", &err), ERROR_USAGE, "OS/ARCH");
	assert_fails(platform_check("linux/", &err), ERROR_USAGE, "OS/ARCH");
	assert_fails(platform_check("/amd64", &err), ERROR_USAGE, "OS/ARCH");
	assert_fails(platform_check("a/b/c/d", &err), ERROR_USAGE, "OS/ARCH");
}

static void test_bad_indexes(void **state)
{
	struct scratch *s = *state;
	static const char *const bad[] = {
		"",
		"{}",
		"[]",
		"{\"schemaVersion\":1,\"manifests\":[]}",
		"{\"schemaVersion\":2,\"manifests\":{}}",
		"{\"schemaVersion\":2,\"manifests\":[{}]}",
		"{\"schemaVersion\":2,\"mediaType\":\"text/plain\",\"manifests\":[]}"};
	struct index index;
	struct error err;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_fails(index_parse(bad[i], strlen(bad[i]), "it", &s->arena, &index, &err),
			     ERROR_FAILED, "it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zstd),	 cmocka_unit_test(test_packings),
		cmocka_unit_test(test_bomb),	 SCRATCH_TEST(test_archive_zstd),
		SCRATCH_TEST(test_archive_gzip), SCRATCH_TEST(test_layout_copy),
		SCRATCH_TEST(test_partial),	 cmocka_unit_test(test_platforms),
		SCRATCH_TEST(test_bad_indexes),
	};

	return cmocka_run_group_tests_name("unpack", tests, NULL, NULL);
}
