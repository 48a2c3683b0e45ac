/* SPDX-License-Identifier: MIT */
/* Reading and writing image manifests, and the layout they lie in. */
#include "core/file.h"
#include "core/str.h"
#include "oci/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HEX_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define ITEM(type, hex, size) \
	"{\"mediaType\":\"" type "\",\"digest\":\"sha256:" hex "\",\"size\":" size "}"

static void check_parse(const char *text, const char *fault)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct manifest manifest;
	struct error err = {0};
	int rc = manifest_parse(text, strlen(text), "manifest of lab/train", &arena, &manifest,
				&err);

	assert_int_equal(rc, fault ? -1 : 0);
	if (fault) {
		assert_non_null(strstr(err.text, fault));
		assert_non_null(strstr(err.text, "manifest of lab/train"));
	}
}

static void test_docker_manifest(void **state)
{
	static const char text[] =
		"{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_DOCKER_MANIFEST "\",\"config\":" ITEM(
			"c", HEX_A, "7") ",\"layers\":[" ITEM("l", HEX_B, "9007199254740992") "]}";
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct manifest manifest;
	struct error err = {0};

	(void)state;
	assert_int_equal(manifest_parse(text, strlen(text), "m", &arena, &manifest, &err), 0);
	assert_string_equal(manifest.media_type, MEDIA_DOCKER_MANIFEST);
	assert_string_equal(manifest.config.digest, "sha256:" HEX_A);
	assert_int_equal(manifest.layer_count, 1);
	assert_true(manifest.layers[0].size_bytes == 9007199254740992ULL);
	/* Written again it is the same text: sizes never get an exponent. */
	assert_string_equal(manifest_write(&manifest, &arena), text);
}

static void test_bad_manifests(void **state)
{
	(void)state;
	check_parse("{", "not valid JSON");
	check_parse("[]", "not an image manifest");
	check_parse("{\"schemaVersion\":1}", "schema version 2");
	check_parse("{\"schemaVersion\":2,\"manifests\":[]}", "index");
	check_parse("{\"schemaVersion\":2}", "no layers");
	check_parse("{\"schemaVersion\":2,\"layers\":[]}", "mediaType");
	check_parse("{\"schemaVersion\":2,\"mediaType\":\"x/y\",\"layers\":[]}", "mediaType");
	check_parse(
		"{\"schemaVersion\":2,\"layers\":[],\"config\":{\"mediaType\":\"c\",\"digest\":\"sha256:../../etc/passwd\",\"size\":1}}",
		"digest");
	check_parse("{\"schemaVersion\":2,\"layers\":[],\"config\":" ITEM("c", HEX_A, "-1") "}",
		    "size");
	check_parse("{\"schemaVersion\":2,\"layers\":[],\"config\":" ITEM("c", HEX_A, "1.5") "}",
		    "size");
	check_parse("{\"schemaVersion\":2,\"layers\":[],\"config\":" ITEM("c", HEX_A, "1e300") "}",
		    "size");
	check_parse("{\"schemaVersion\":2,\"layers\":[7],\"config\":" ITEM("c", HEX_A, "1") "}",
		    "mediaType");
	check_parse("{\"schemaVersion\":2,\"layers\":[],\"config\":" ITEM("c", HEX_A, "1") "}",
		    NULL);
}

/* The number of bytes counts before the digest does, and nothing past them is read. */
static void test_descriptor_check(void **state)
{
	struct descriptor blob = {.size_bytes = 5};
	_cleanup_(free_pointer) char *exact = xmalloc(5);
	struct error err = {0};

	(void)state;
	memcpy(exact, "hello", 5);
	digest_of("hello", 5, blob.digest);
	assert_int_equal(descriptor_check(&blob, exact, 5, "it", &err), 0);
	blob.size_bytes = 1ULL << 50;
	assert_int_equal(descriptor_check(&blob, exact, 5, "it", &err), -1);
	assert_non_null(
		strstr(err.text, "it has 5 bytes, and what names it says 1125899906842624"));
	assert_int_equal(blob_check_size(&blob, &err), -1);
	blob.size_bytes = 4;
	assert_int_equal(descriptor_check(&blob, exact, 4, "it", &err), -1);
	assert_non_null(strstr(err.text, "it has the digest sha256:"));
	assert_int_equal(blob_check_size(&blob, &err), 0);
}

static void test_says_twice(void **state)
{
	(void)state;
	check_parse("{\"schemaVersion\":2,\"layers\":[],\"config\":" ITEM("c", HEX_A,
									  "1,\"size\":2") "}",
		    "twice");
	check_parse("{\"schemaVersion\":2,\"layers\":[],\"layers\":[],\"config\":" ITEM("c", HEX_A,
											"1") "}",
		    "twice");
}

static void test_too_many_layers(void **state)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	(void)state;
	str_add(&text, "{\"schemaVersion\":2,\"config\":" ITEM("c", HEX_A, "1") ",\"layers\":[");
	for (int i = 0; i <= LAYERS_MAX; i++)
		str_addf(&text, "%s%s", i ? "," : "", ITEM("l", HEX_B, "1"));
	str_add(&text, "]}");
	check_parse(text.text, "layers");
}

static void test_layout(void **state)
{
	char folder[] = "/tmp/ringup-layout-XXXXXX", path[LAYOUT_PATH_BYTES];
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct descriptor blob, found;
	struct error err = {0};
	const char *bytes;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(layout_init(folder, &err), 0);
	assert_int_equal(layout_init(folder, &err), 0);
	assert_int_equal(layout_put(folder, "hello", 5, MEDIA_OCI_MANIFEST, &blob, &err), 0);
	assert_string_equal(
		blob.digest,
		"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
	assert_int_equal(blob.size_bytes, 5);
	assert_true(layout_has(folder, &blob));
	assert_int_equal(layout_read(folder, &blob, 100, &arena, &bytes, &err), 0);
	assert_string_equal(bytes, "hello");

	assert_int_equal(layout_find(folder, NULL, &found, &err), -1);
	assert_int_equal(layout_tag(folder, &blob, "lab/train:1", &err), 0);
	assert_int_equal(layout_tag(folder, &blob, "lab/train:1", &err), 0);
	assert_int_equal(layout_find(folder, NULL, &found, &err), 0);
	assert_string_equal(found.digest, blob.digest);
	assert_int_equal(layout_tag(folder, &blob, "lab/train:2", &err), 0);
	assert_int_equal(layout_find(folder, NULL, &found, &err), -1);
	assert_non_null(strstr(err.text, "2 images"));
	assert_int_equal(layout_find(folder, "lab/train:2", &found, &err), 0);
	assert_int_equal(layout_find(folder, "lab/train:3", &found, &err), -1);

	/* A blob that changed on disk is named, not used. */
	assert_int_equal(layout_blob_path(folder, blob.digest, path, &err), 0);
	assert_int_equal(file_write(path, "hellO", 5, 0644, &err), 0);
	assert_int_equal(layout_read(folder, &blob, 100, &arena, &bytes, &err), -1);
	assert_non_null(strstr(err.text, "damaged"));
	assert_int_equal(truncate(path, 3), 0);
	assert_false(layout_has(folder, &blob));
	assert_int_equal(layout_blob_path(folder, "sha256:../x", path, &err), -1);
	assert_int_equal(folder_remove(folder, &err), 0);
}

static void test_unfinished_leaves_nothing(void **state)
{
	char folder[] = "/tmp/ringup-layout-XXXXXX", path[LAYOUT_PATH_BYTES];
	struct layout_writer writer;
	struct error err = {0};

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(layout_init(folder, &err), 0);
	assert_int_equal(layout_writer_init(&writer, folder, &err), 0);
	assert_int_equal(layout_writer_add(&writer, "x", 1, &err), 0);
	memcpy(path, writer.temporary, sizeof(path));
	assert_true(file_exists(path));
	layout_writer_release(&writer);
	assert_false(file_exists(path));
	assert_int_equal(folder_remove(folder, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_docker_manifest),
		cmocka_unit_test(test_bad_manifests),
		cmocka_unit_test(test_descriptor_check),
		cmocka_unit_test(test_says_twice),
		cmocka_unit_test(test_too_many_layers),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_unfinished_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
