/* SPDX-License-Identifier: MIT */
/* docker-archive files, made here with libarchive, into a layout. */
#include "archive_support.h"

/* The gzip program must find the very bytes in the blob, and the blob its own digest. */
static void check_layer(struct fixture *f, const struct descriptor *layer, const char *diff_id)
{
	char path[LAYOUT_PATH_BYTES], digest[DIGEST_TEXT_BYTES], plain[128];
	_cleanup_(fd_close) int out = -1;
	_cleanup_(fd_close) int in = -1;
	pid_t pid;
	int status;

	assert_int_equal(layout_blob_path(f->layout, layer->digest, path, &f->err), 0);
	assert_int_equal(digest_of_file(path, digest, &f->err), 0);
	assert_string_equal(digest, layer->digest);
	assert_true(layout_has(f->layout, layer));
	snprintf(plain, sizeof(plain), "%s/plain", f->folder);
	out = open(plain, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	in = open(path, O_RDONLY | O_CLOEXEC);
	pid = fork();
	if (pid == 0) {
		dup2(in, 0);
		dup2(out, 1);
		execlp("gzip", "gzip", "-dc", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(digest_of_file(plain, digest, &f->err), 0);
	assert_string_equal(digest, diff_id);
}

static void test_old_form(void **state)
{
	struct fixture *f = *state;
	char big[DIGEST_TEXT_BYTES], small[DIGEST_TEXT_BYTES], first[DIGEST_TEXT_BYTES];
	struct manifest manifest;

	make_old(f, NULL);
	assert_int_equal(import(f, NULL), 0);
	read_manifest(f, &manifest);
	digest_of(f->big, BIG_BYTES, big);
	digest_of("small", 5, small);
	assert_string_equal(f->manifest.media_type, MEDIA_OCI_MANIFEST);
	assert_int_equal(manifest.layer_count, 3);
	assert_string_equal(manifest.layers[0].digest, manifest.layers[1].digest);
	check_layer(f, &manifest.layers[0], big);
	check_layer(f, &manifest.layers[2], small);
	assert_true(layout_has(f->layout, &manifest.config));

	/* The same archive gives the same image, byte by byte. */
	memcpy(first, f->manifest.digest, sizeof(first));
	assert_int_equal(folder_remove(f->layout, &f->err), 0);
	assert_int_equal(import(f, NULL), 0);
	assert_string_equal(f->manifest.digest, first);
}

/* What cannot be packed is stored, and hardly grows. */
static void test_incompressible(void **state)
{
	struct fixture *f = *state;
	char digest[DIGEST_TEXT_BYTES];
	struct manifest manifest;
	uint64_t seed = 88172645463325252;

	for (size_t i = 0; i < BIG_BYTES; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		f->big[i] = (char)(seed >> 32);
	}
	make_old(f, NULL);
	assert_int_equal(import(f, NULL), 0);
	read_manifest(f, &manifest);
	digest_of(f->big, BIG_BYTES, digest);
	check_layer(f, &manifest.layers[0], digest);
	assert_in_range(manifest.layers[0].size_bytes, BIG_BYTES, BIG_BYTES + BIG_BYTES / 1000);

	/* half of it can be */
	for (size_t i = 0; i < BIG_BYTES; i++)
		if (i & (256 * KIB))
			f->big[i] = 0;
	make_old(f, NULL);
	assert_int_equal(import(f, NULL), 0);
	read_manifest(f, &manifest);
	digest_of(f->big, BIG_BYTES, digest);
	check_layer(f, &manifest.layers[0], digest);
	assert_in_range(manifest.layers[0].size_bytes, BIG_BYTES / 3, 2 * BIG_BYTES / 3);
}

static void test_new_form(void **state)
{
	struct fixture *f = *state;
	char old[DIGEST_TEXT_BYTES], big[DIGEST_TEXT_BYTES], small[DIGEST_TEXT_BYTES];
	char config_id[DIGEST_TEXT_BYTES];
	const char *ids[] = {big, big, small};
	char *config;

	make_old(f, NULL);
	assert_int_equal(import(f, NULL), 0);
	memcpy(old, f->manifest.digest, sizeof(old));

	digest_of(f->big, BIG_BYTES, big);
	digest_of("small", 5, small);
	config = config_for(f, ids, 3);
	digest_of(config, strlen(config), config_id);
	tar_begin(f);
	add(f, arena_printf(&f->arena, "./blobs/sha256/%s", big + 7), f->big, BIG_BYTES);
	add_text(f, arena_printf(&f->arena, "blobs/sha256/%s", small + 7), "small");
	add_text(f, arena_printf(&f->arena, "blobs/sha256/%s", config_id + 7), config);
	add_text(f, "index.json", "{\"schemaVersion\":2}");
	add_text(
		f, "manifest.json",
		arena_printf(
			&f->arena,
			"[{\"Config\":\"blobs/sha256/%s\",\"RepoTags\":null,\"Layers\":[\"blobs/sha256/%s\",\"blobs/sha256/%s\",\"blobs/sha256/%s\"]}]",
			config_id + 7, big + 7, big + 7, small + 7));
	add_text(f, "oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}");
	tar_end(f);
	assert_int_equal(import(f, NULL), 0);
	/* The same image in another wrapping. */
	assert_string_equal(f->manifest.digest, old);
}

/* A layer that is gzip already stays as it is. */
static void test_packed_layer(void **state)
{
	struct fixture *f = *state;
	struct gzip_scratch *scratch = gzip_scratch_new();
	unsigned char *packed = malloc(GZIP_BLOCK_PACKED_MAX + 64);
	char small[DIGEST_TEXT_BYTES], blob[DIGEST_TEXT_BYTES], config_id[DIGEST_TEXT_BYTES];
	const char *ids[] = {small};
	struct manifest manifest;
	char *config;
	size_t length = GZIP_HEADER_BYTES;

	gzip_header(packed);
	length += gzip_block(scratch, "small", 5, packed + length);
	gzip_trailer(gzip_crc(0, "small", 5), 5, packed + length);
	length += GZIP_TRAILER_BYTES;
	digest_of("small", 5, small);
	digest_of(packed, length, blob);
	config = config_for(f, ids, 1);
	digest_of(config, strlen(config), config_id);
	for (int damaged = 0; damaged < 2; damaged++) {
		packed[length - 6] ^= (unsigned char)damaged;
		tar_begin(f);
		add(f, arena_printf(&f->arena, "blobs/sha256/%s", blob + 7), packed, length);
		add_text(f, arena_printf(&f->arena, "blobs/sha256/%s", config_id + 7), config);
		add_text(
			f, "manifest.json",
			arena_printf(
				&f->arena,
				"[{\"Config\":\"blobs/sha256/%s\",\"Layers\":[\"blobs/sha256/%s\"]}]",
				config_id + 7, blob + 7));
		tar_end(f);
		if (damaged) {
			expect_error(f, "gzip");
			continue;
		}
		assert_int_equal(import(f, NULL), 0);
		read_manifest(f, &manifest);
		assert_string_equal(manifest.layers[0].digest, blob);
	}
	free(packed);
	gzip_scratch_free(scratch);
}

static void test_redact(void **state)
{
	static const char *const names[] = {"APT_MIRROR", NULL};
	struct fixture *f = *state;
	struct manifest manifest;
	const char *config;

	make_old(f, NULL);
	assert_int_equal(import(f, names), 0);
	read_manifest(f, &manifest);
	assert_int_equal(layout_read(f->layout, &manifest.config, MIB, &f->arena, &config, &f->err),
			 0);
	assert_null(strstr(config, "10.0.0.1"));
	assert_non_null(strstr(config, "\"/bin/sh -c apt-get update\""));
}

static void test_diff_id_mismatch(void **state)
{
	struct fixture *f = *state;

	make_old(f, "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc");
	expect_error(f, "layer 3 (ccc/layer.tar)");
	assert_non_null(strstr(f->err.text, "damaged"));
}

/* The third layer's diffID may be of another algorithm, and is checked by that. */
static void test_diff_id_sha512(void **state)
{
	struct fixture *f = *state;
	char small[DIGEST_TEXT_BYTES];
	struct manifest manifest;
	const char *config;

	digest_of_as("small", 5, "sha512:", small);
	make_old(f, small);
	if (import(f, NULL) < 0)
		fail_msg("%s", f->err.text);
	read_manifest(f, &manifest);
	assert_true(digest_is_like(manifest.layers[2].digest, "sha256:"));
	assert_int_equal(layout_read(f->layout, &manifest.config, MIB, &f->arena, &config, &f->err),
			 0);
	assert_non_null(strstr(config, small));
	digest_of_as("smell", 5, "sha512:", small);
	make_old(f, small);
	expect_error(f, "layer 3 (ccc/layer.tar) is sha512:");
}

static void assert_nothing_unfinished(struct fixture *f)
{
	char path[128];
	DIR *folder;
	const struct dirent *entry;

	snprintf(path, sizeof(path), "%s/blobs", f->layout);
	folder = opendir(path);
	assert_non_null(folder);
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2)
			assert_string_equal(entry->d_name, "sha256");
	closedir(folder);
}

/* Wherever it is cut, there is an error and no unfinished file stays. */
static void test_truncated(void **state)
{
	static const long cuts[] = {0, 100, 512, 3000, 1000000, BIG_BYTES + 3000, BIG_BYTES + 6000};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
		make_old(f, NULL);
		assert_int_equal(truncate(f->tar, cuts[i]), 0);
		expect_error(f, "cut short");
		assert_nothing_unfinished(f);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *name, *link, *text, *error;
	} rows[] = {
		{"../evil.tar", NULL, "x", "leaves the archive"},
		{"/etc/passwd", NULL, "x", "leaves the archive"},
		{"a/../../b.tar", NULL, "x", "leaves the archive"},
		{"a/layer.tar", "../../../etc/shadow", NULL, "points out of the archive"},
		{"a/layer.tar", "/etc/shadow", NULL, "points out of the archive"},
		{"manifest.json", NULL, "{\"a\":1}", "lists no image"},
		{"manifest.json", NULL, "[]", "lists no image"},
		{"manifest.json", NULL, "[{", "not valid JSON"},
		{"manifest.json", NULL, "[{},{}]", "2 images"},
		{"manifest.json", NULL, "[{\"Config\":\"a.json\"}]", "config is not in it"},
		{"manifest.json", NULL, "[{\"Config\":\"../../x\"}]", "config is not in it"},
		{"a/layer.tar", NULL, "\x28\xb5\x2f\xfd zstd", "zstd"},
		{"a/layer.tar", NULL, "\x1f\x8b nonsense", "gzip"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		tar_begin(f);
		if (rows[i].link)
			add_link(f, rows[i].name, rows[i].link);
		else
			add_text(f, rows[i].name, rows[i].text);
		tar_end(f);
		expect_error(f, rows[i].error);
	}
}

static void test_link_circle_and_large_json(void **state)
{
	struct fixture *f = *state;
	char *large = calloc(1, ARCHIVE_JSON_BYTES_MAX + 2);

	tar_begin(f);
	add_text(f, "c.json", "{\"rootfs\":{\"diff_ids\":[\"x\"]}}");
	add_link(f, "a/layer.tar", "../b/layer.tar");
	add_link(f, "b/layer.tar", "../a/layer.tar");
	add_text(f, "manifest.json", "[{\"Config\":\"c.json\",\"Layers\":[\"a/layer.tar\"]}]");
	tar_end(f);
	expect_error(f, "layer a/layer.tar is not in it");

	memset(large, ' ', ARCHIVE_JSON_BYTES_MAX + 1);
	large[0] = '[';
	tar_begin(f);
	add(f, "manifest.json", large, ARCHIVE_JSON_BYTES_MAX + 1);
	tar_end(f);
	expect_error(f, "larger");
	free(large);
}

static void test_not_a_tar(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(file_write(f->tar, "hello, world", 12, 0600, &f->err), 0);
	expect_error(f, "no tar file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_old_form, setup, teardown),
		cmocka_unit_test_setup_teardown(test_incompressible, setup, teardown),
		cmocka_unit_test_setup_teardown(test_new_form, setup, teardown),
		cmocka_unit_test_setup_teardown(test_packed_layer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_redact, setup, teardown),
		cmocka_unit_test_setup_teardown(test_diff_id_mismatch, setup, teardown),
		cmocka_unit_test_setup_teardown(test_diff_id_sha512, setup, teardown),
		cmocka_unit_test_setup_teardown(test_truncated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_link_circle_and_large_json, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_a_tar, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
