/* SPDX-License-Identifier: MIT */
/*
 * docker-archive files whose layers are known: nothing of them is read, or only what is asked for.
 */
#include "archive_support.h"

#include "oci/known.h"

struct recall {
	char known[96];
	struct archive_options options;
	const struct part *layers;
	struct manifest manifest;
	int fd;
};

/* The archive with its layers in the layout and in the notes; then another layout, without them. */
static void learn(struct fixture *f, struct recall *r)
{
	*r = (struct recall){.fd = -1};
	snprintf(r->known, sizeof(r->known), "%s/known", f->folder);
	r->options = (struct archive_options){.label = "image.tar", .known_folder = r->known};
	r->fd = open(f->tar, O_RDONLY | O_CLOEXEC);
	assert_int_equal(
		archive_import(r->fd, f->layout, &r->options, &f->arena, &f->manifest, &f->err), 0);
	assert_int_equal(folder_remove(f->layout, &f->err), 0);
	close(r->fd);
	r->fd = open(f->tar, O_RDWR | O_CLOEXEC);
}

static bool recall(struct fixture *f, struct recall *r)
{
	char before[DIGEST_TEXT_BYTES];

	memcpy(before, f->manifest.digest, sizeof(before));
	if (!archive_recall(r->fd, f->layout, &r->options, &f->arena, &r->layers, &f->manifest))
		return false;
	assert_string_equal(f->manifest.digest, before);
	read_manifest(f, &r->manifest);
	return true;
}

/* Puts nonsense where these bytes are in the archive. */
static void damage(struct fixture *f, const char *bytes, size_t length)
{
	char *text, *place;
	size_t size;

	assert_int_equal(file_read(f->tar, 64 * MIB, &f->arena, &text, &size, &f->err), 0);
	place = memmem(text, size, bytes, length);
	assert_non_null(place);
	memset(place, 'x', length);
	assert_int_equal(file_write(f->tar, text, size, 0600, &f->err), 0);
}

static void reopen(struct fixture *f, struct recall *r)
{
	close(r->fd);
	r->fd = open(f->tar, O_RDONLY | O_CLOEXEC);
}

static void test_recall(void **state)
{
	struct fixture *f = *state;
	struct recall r;

	make_old(f, NULL);
	learn(f, &r);
	damage(f, f->big, BIG_BYTES);
	reopen(f, &r);
	assert_true(recall(f, &r));
	assert_true(layout_has(f->layout, &r.manifest.config));
	assert_false(layout_has(f->layout, &r.manifest.layers[0]));
	close(r.fd);
}

static void test_unknown(void **state)
{
	struct fixture *f = *state;
	struct recall r;
	char small[DIGEST_TEXT_BYTES];

	make_old(f, NULL);
	learn(f, &r);
	digest_of("small", 5, small);
	assert_int_equal(unlink(arena_printf(&f->arena, "%s/%s", r.known, small + 7)), 0);
	assert_false(recall(f, &r));
	/* and the archive can be read from its start */
	assert_int_equal(lseek(r.fd, 0, SEEK_CUR), 0);
	r.options.known_folder = NULL;
	assert_false(recall(f, &r));
	close(r.fd);
}

static void test_pack_some(void **state)
{
	struct fixture *f = *state;
	const struct descriptor *blobs[1];
	struct recall r;
	bool same;

	make_old(f, NULL);
	learn(f, &r);
	damage(f, f->big, BIG_BYTES);
	reopen(f, &r);
	assert_true(recall(f, &r));
	blobs[0] = &r.manifest.layers[2];
	assert_int_equal(
		archive_pack(r.fd, f->layout, &r.options, r.layers, blobs, 1, &same, &f->err), 0);
	assert_true(same);
	assert_true(layout_has(f->layout, &r.manifest.layers[2]));
	assert_false(layout_has(f->layout, &r.manifest.layers[0]));
	/* what is read must be what the config says */
	blobs[0] = &r.manifest.layers[0];
	assert_int_equal(
		archive_pack(r.fd, f->layout, &r.options, r.layers, blobs, 1, &same, &f->err), -1);
	assert_non_null(strstr(f->err.text, "damaged"));
	close(r.fd);
}

/* A note that was true of another packer. */
static void test_other_blob(void **state)
{
	struct fixture *f = *state;
	struct known lie = {.blob = {MEDIA_OCI_LAYER_GZIP, "", 77}}, found;
	const struct descriptor *blobs[1];
	struct recall r;
	bool same;

	make_old(f, NULL);
	learn(f, &r);
	digest_of("small", 5, lie.diff_id);
	digest_of("other", 5, lie.blob.digest);
	known_put(r.known, lie.diff_id, &lie);
	assert_true(
		archive_recall(r.fd, f->layout, &r.options, &f->arena, &r.layers, &f->manifest));
	blobs[0] = &lie.blob;
	assert_int_equal(
		archive_pack(r.fd, f->layout, &r.options, r.layers, blobs, 1, &same, &f->err), 0);
	assert_false(same);
	/* the note is right again */
	assert_true(known_find(r.known, lie.diff_id, &found));
	assert_int_not_equal(found.blob.size_bytes, 77);
	close(r.fd);
}

/* A layer that came packed is known by its blob, and its size has to fit. */
static void test_packed(void **state)
{
	struct fixture *f = *state;
	struct gzip_scratch *scratch = gzip_scratch_new();
	_cleanup_(free_pointer) unsigned char *packed = malloc(GZIP_BLOCK_PACKED_MAX + 64);
	char small[DIGEST_TEXT_BYTES], blob[DIGEST_TEXT_BYTES], config_id[DIGEST_TEXT_BYTES];
	const char *ids[] = {small};
	struct recall r;
	char *config;
	size_t length = GZIP_HEADER_BYTES;

	gzip_header(packed);
	length += gzip_block(scratch, "small", 5, packed + length);
	gzip_trailer(gzip_crc(0, "small", 5), 5, packed + length);
	length += GZIP_TRAILER_BYTES;
	gzip_scratch_free(scratch);
	digest_of("small", 5, small);
	digest_of(packed, length, blob);
	config = config_for(f, ids, 1);
	digest_of(config, strlen(config), config_id);
	for (size_t more = 0; more < 2; more++) {
		tar_begin(f);
		add(f, arena_printf(&f->arena, "blobs/sha256/%s", blob + 7), packed, length + more);
		add_text(f, arena_printf(&f->arena, "blobs/sha256/%s", config_id + 7), config);
		add_text(
			f, "manifest.json",
			arena_printf(
				&f->arena,
				"[{\"Config\":\"blobs/sha256/%s\",\"Layers\":[\"blobs/sha256/%s\"]}]",
				config_id + 7, blob + 7));
		tar_end(f);
		if (!more)
			learn(f, &r);
		reopen(f, &r);
		assert_int_equal(recall(f, &r), !more);
	}
	assert_int_equal(truncate(f->tar, 100), 0);
	assert_false(recall(f, &r));
	close(r.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_recall, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pack_some, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_blob, setup, teardown),
		cmocka_unit_test_setup_teardown(test_packed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
