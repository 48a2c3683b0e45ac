/* SPDX-License-Identifier: MIT */
/* Indices of Python packages: markers, METADATA, wheels read by ranges, pages of an index. */
#include "tests/unit/support.h"

#include "upstream/limits.h"
#include "upstream/python/marker.h"
#include "upstream/python/pypi.h"
#include "upstream/python/wheel_file.h"

#include <archive.h>
#include <archive_entry.h>

static void test_markers(void **state)
{
	static const struct {
		const char *marker, *extra;
		bool holds;
	} rows[] = {
		{"", "", true},
		{"platform_system == \"Linux\"", "", true},
		{"platform_system == 'Linux' and platform_machine == 'x86_64'", "", true},
		{"platform_system == 'Linux' and platform_machine == 'aarch64'", "", false},
		{"sys_platform == 'win32' or sys_platform == 'linux'", "", true},
		{"extra == 'and-cuda'", "", false},
		{"extra == 'and-cuda'", "and-cuda", true},
		{"(sys_platform == 'linux' and platform_machine == 'aarch64' or sys_platform == 'linux' and "
		 "platform_machine == 'x86_64') and extra == 'all'",
		 "all", true},
		{"(sys_platform != \"win32\" and python_version < \"3.13\") and extra == \"gcs\"",
		 "gcs", true},
		{"'linux' in sys_platform", "", true},
		{"sys_platform not in 'linux darwin'", "", false},
		{"sys_platform == 'linux", "", false},
		{"sys_platform = ", "", false},
		{"(sys_platform == 'linux'", "", false},
		{"sys_platform == 'linux' nonsense", "", false},
		{"((((((((((((((((((((sys_platform == 'linux'))))))))))))))))))))", "", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (marker_holds(rows[i].marker, rows[i].extra) != rows[i].holds)
			fail_msg("%s with extra '%s'", rows[i].marker, rows[i].extra);
}

static void test_metadata(void **state)
{
	static const char text[] =
		"Metadata-Version: 2.4\r\nName: Tensor_Flow\nVersion: 2.20.0\n"
		"Requires-Dist: nvidia-cudnn-cu12<10.0,>=9.3.0.75; extra == \"and-cuda\"\n"
		"Requires-Dist: nvidia_nccl.cu12 (==2.27.5) ; platform_system == \"Linux\"\n"
		"Requires-Dist: cuda-toolkit[cublas,cudart]==13.2.*; platform_system == \"Linux\"\n"
		"Requires-Dist: odd @ https://example.org/odd.whl\n"
		"Requires-Dist: \033[31mred==1.0\n"
		"\nRequires-Dist: nvidia-described==1.0\n";
	struct scratch *s = *state;
	struct error err = {0};
	struct metadata m;

	assert_fine(metadata_parse(text, strlen(text), "METADATA", &s->arena, &m, &err));
	assert_string_equal(m.name, "tensor-flow");
	assert_string_equal(m.version, "2.20.0");
	assert_int_equal(m.count, 3);
	assert_null(metadata_need(&m, "nvidia-cudnn-cu12", ""));
	assert_string_equal(
		metadata_pin(metadata_need(&m, "nvidia-cudnn-cu12", "and-cuda"), &s->arena), "");
	assert_string_equal(
		metadata_least(metadata_need(&m, "nvidia-cudnn-cu12", "and-cuda"), &s->arena),
		"9.3.0.75");
	assert_string_equal(metadata_pin(metadata_need(&m, "nvidia-nccl-cu12", ""), &s->arena),
			    "2.27.5");
	assert_string_equal(metadata_pin(metadata_need(&m, "cuda-toolkit", ""), &s->arena), "13.2");
	assert_fails(metadata_parse("Name: a\n", 8, "METADATA", &s->arena, &m, &err), ERROR_FAILED,
		     "names no package");
	assert_fails(metadata_parse("Name: a\nVersion: 1\0", 19, "METADATA", &s->arena, &m, &err),
		     ERROR_FAILED, "NUL");
}

/* A wheel that libarchive packs, in memory. */
static size_t make_wheel(char *bytes, size_t room, const char *metadata, bool packed)
{
	struct archive *a = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	static const char *const names[] = {"torch/__init__.py", "torch/x.dist-info/METADATA",
					    "torch-2.15.0.dist-info/METADATA",
					    "torch-2.15.0.dist-info/RECORD"};
	size_t used = 0;

	archive_write_set_format_zip(a);
	if (!packed)
		archive_write_set_format_option(a, "zip", "compression", "store");
	assert_int_equal(archive_write_open_memory(a, bytes, room, &used), ARCHIVE_OK);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *text = i == 2 ? metadata : "other";

		archive_entry_clear(entry);
		archive_entry_set_pathname(entry, names[i]);
		archive_entry_set_filetype(entry, AE_IFREG);
		archive_entry_set_perm(entry, 0644);
		archive_entry_set_size(entry, (la_int64_t)strlen(text));
		assert_int_equal(archive_write_header(a, entry), ARCHIVE_OK);
		assert_int_equal(archive_write_data(a, text, strlen(text)), strlen(text));
	}
	archive_entry_free(entry);
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_write_free(a);
	return used;
}

static void test_wheels(void **state)
{
	static const char metadata[] = "Name: torch\nVersion: 2.15.0\nVersion: 2.15.0\n";
	struct scratch *s = *state;
	char bytes[8192];
	char *text;

	for (int packed = 0; packed < 2; packed++) {
		size_t total = make_wheel(bytes, sizeof(bytes), metadata, packed);
		struct wheel_directory directory;
		struct wheel_entry entry;
		struct error err = {0};

		assert_fine(
			wheel_find_directory(bytes + 40, total - 40, total, "w", &directory, &err));
		assert_fine(wheel_find_metadata(bytes + directory.start, directory.bytes, total,
						"w", &entry, &err));
		assert_fine(wheel_unpack(&entry, bytes + entry.start, total - entry.start, "w",
					 &s->arena, &text, &err));
		assert_string_equal(text, metadata);
		assert_fails(
			wheel_unpack(&entry, bytes + entry.start, 50, "w", &s->arena, &text, &err),
			ERROR_FAILED, "cut off");
		entry.unpacked++;
		assert_fails(wheel_unpack(&entry, bytes + entry.start, total - entry.start, "w",
					  &s->arena, &text, &err),
			     ERROR_FAILED, "damaged");
		assert_fails(wheel_find_metadata(bytes, total, total, "w", &entry, &err),
			     ERROR_FAILED, "no METADATA");
		assert_fails(wheel_find_directory(bytes, total - 30, total, "w", &directory, &err),
			     ERROR_FAILED, "does not end as a zip");
	}
}

/* One file of a page. */
#define SUM "2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d00"
#define FILE_OF(name, more)                                         \
	"{\"filename\": \"" name "\", \"url\": \"../../files/" name \
	"\", \"hashes\": {\"sha256\": \"" SUM                       \
	"\"}, \"upload-time\": \"2026-10-14T22:00:00Z\"" more "},"

/* clang-format off */
static const char page_text[] =
	"{\"meta\": {\"api-version\": \"1.1\"}, \"name\": \"torch\", \"files\": ["
	FILE_OF("torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl", ", \"core-metadata\": {}")
	FILE_OF("torch-2.15.0-cp312-cp312-manylinux_2_28_x86_64.whl", ", \"yanked\": false")
	FILE_OF("torch-2.15.0-cp313-cp313t-manylinux_2_28_x86_64.whl", "")
	FILE_OF("torch-2.15.0-cp314-cp314-manylinux_2_28_aarch64.whl", "")
	FILE_OF("torch-2.15.0-cp39-none-macosx_14_0_arm64.whl", "")
	FILE_OF("torch-2.16.0rc1-cp312-cp312-manylinux_2_28_x86_64.whl", "")
	FILE_OF("torch-2.9.0-cp27-cp27mu-manylinux1_x86_64.whl", "")
	FILE_OF("torch-2.9.0-cp35-cp35m-manylinux1_x86_64.whl", "")
	FILE_OF("torch-2.10.0-cp312-cp312-manylinux_2_28_x86_64.whl", ", \"yanked\": \"broken\"")
	FILE_OF("torch-2.11.0,-cp312-cp312-manylinux_2_28_x86_64.whl", "")
	FILE_OF("torch-2.12.0.tar.gz", "")
	FILE_OF(".tar.gz", "")
	FILE_OF("-.zip", "")
	"{\"filename\": \"torch-2.13.0-cp312-cp312-manylinux_2_28_x86_64.whl\", \"url\": \"file:///etc/passwd\"},"
	"{\"filename\": \"../torch-2.13.0-cp312-cp312-manylinux_2_28_x86_64.whl\", \"url\": \"x\"},"
	"{\"filename\": 7, \"url\": \"x\"}, 7, null]}";
/* clang-format on */

static bool page_is_source(const struct pypi_file *file)
{
	return !file->is_wheel;
}

static void test_page(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	const char *const *versions;
	const struct pypi_file *file;
	struct pypi_page page;

	assert_fine(pypi_page_parse(page_text, strlen(page_text), "https://a.b/simple/torch/",
				    "torch", &s->arena, &page, &err));
	versions = pypi_versions(&page, pypi_fits_x86_64, &s->arena);
	assert_string_equal(versions[0], "2.9.0");
	assert_string_equal(versions[1], "2.15.0");
	assert_null(versions[2]);
	assert_string_equal(pypi_pythons(&page, "2.15.0", &s->arena), ">=3.11;<3.13");
	assert_string_equal(pypi_pythons(&page, "2.9.0", &s->arena), "==2.7.*|==3.5.*");
	file = pypi_find(&page, "2.15.0", pypi_fits_x86_64);
	assert_string_equal(file->url,
			    "https://a.b/files/torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl");
	assert_true(file->has_metadata);
	assert_string_equal(file->sha256, SUM);
	assert_string_equal(file->month, "2026-10");
	assert_string_equal(pypi_glibc(file, &s->arena), "2.28");
	versions = pypi_versions(&page, page_is_source, &s->arena);
	assert_string_equal(versions[0], "2.12.0");
	assert_null(versions[1]);
}

/* Lines of https://download.pytorch.org/whl/torch/ as a public report of 2025-04 shows them, and stranger ones. */
/* clang-format off */
#define BESIDE "86107f52ff49e63a75c9d345374cac30140e053a12ffa728d676fee836e69022"
#define SUM_OF_CU128 "ac1849553ee673dfafb44c610c60cb60a2890f0e117f43599a526cf777eb8b8c"
static const char html_text[] =
	"<!DOCTYPE html>\n<html>\n  <body>\n    <h1>Links for torch</h1>\n"
	"    <a href=\"/whl/cu128/torch-2.7.0%2Bcu128-cp310-cp310-manylinux_2_28_aarch64.whl\" data-dist-info-metadata=\"sha256=" BESIDE "\" data-core-metadata=\"sha256=" BESIDE "\">torch-2.7.0+cu128-cp310-cp310-manylinux_2_28_aarch64.whl</a><br/>\n"
	"    <a href=\"/whl/cu128/torch-2.7.0%2Bcu128-cp310-cp310-manylinux_2_28_x86_64.whl#sha256=" SUM_OF_CU128 "\" data-dist-info-metadata=\"sha256=" BESIDE "\" data-core-metadata=\"sha256=" BESIDE "\">torch-2.7.0+cu128-cp310-cp310-manylinux_2_28_x86_64.whl</a><br/>\n"
	"    <a href=\"/whl/cu128/torch-2.7.0%2Bcu128-cp310-cp310-win_amd64.whl#sha256=c52c4b869742f00b12cb34521d1381be6119fa46244791704b00cc4a3cb06850\">torch-2.7.0+cu128-cp310-cp310-win_amd64.whl</a><br/>\n"
	"<A\n CLASS=x HREF='../files/torch-2.6.0-cp39-cp39-manylinux1_x86_64.whl?a=1&amp;b=2' data-requires-python='&gt;=3.9'>\n  torch-2.6.0-cp39-cp39-manylinux1_x86_64.whl </A>\n"
	"<a data-yanked href=\"torch-2.6.1-cp39-cp39-manylinux1_x86_64.whl\">torch-2.6.1-cp39-cp39-manylinux1_x86_64.whl</a>\n"
	"<a href=\"file:///etc/torch-2.6.2-cp39-cp39-manylinux1_x86_64.whl\">torch-2.6.2-cp39-cp39-manylinux1_x86_64.whl</a>\n"
	"<a href=\"x\"><b>torch-2.6.3-cp39-cp39-manylinux1_x86_64.whl</b></a><abbr href=x>torch-2.6.4.tar.gz</abbr>\n"
	"<!-- <a href=\"torch-2.6.5.tar.gz\">torch-2.6.5.tar.gz</a> --><!--TIMESTAMP 1748400000-->\n<a href=\"unclosed";
/* clang-format on */

static void test_web_page(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	const struct pypi_file *file;
	struct pypi_page page, build;

	assert_fine(pypi_page_parse(html_text, strlen(html_text), "https://a.b/whl/torch/", "torch",
				    &s->arena, &page, &err));
	assert_int_equal(page.count, 4);
	/* builds with a local version are another index's */
	assert_null(pypi_find(&page, "2.7.0", pypi_fits_x86_64));
	file = pypi_find(&page, "2.6.0", pypi_fits_x86_64);
	assert_string_equal(
		file->url,
		"https://a.b/whl/files/torch-2.6.0-cp39-cp39-manylinux1_x86_64.whl?a=1&b=2");
	assert_string_equal(file->requires_python, ">=3.9");
	assert_false(file->has_metadata);
	pypi_page_build(&page, "cu128", &s->arena, &build);
	assert_int_equal(build.count, 3);
	file = pypi_find(&build, "2.7.0", pypi_fits_x86_64);
	assert_string_equal(
		file->url,
		"https://a.b/whl/cu128/torch-2.7.0%2Bcu128-cp310-cp310-manylinux_2_28_x86_64.whl");
	assert_string_equal(file->sha256, SUM_OF_CU128);
	assert_true(file->has_metadata);
	assert_string_equal(pypi_pythons(&build, "2.7.0", &s->arena), "==3.10.*");
	file = pypi_find(&build, "2.7.0", pypi_fits_aarch64);
	assert_string_equal(file->sha256, "");
	pypi_page_build(&page, "cu126", &s->arena, &build);
	assert_int_equal(build.count, 0);
}

static void test_bad_pages(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct pypi_page page;
	static const char *const rows[][2] = {
		{"<!DOCTYPE html><html></html>", "links to no file"},
		{"<!-- <a href='b.whl'>b.whl</a> --><a name=top>top</a>", "links to no file"},
		{"{\"files\": 7}", "no list"},
		{"{}", "no list"},
		{"{\"files\": [", "https://a.b/"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_fails(pypi_page_parse(rows[i][0], strlen(rows[i][0]), "https://a.b/", "t",
					     &s->arena, &page, &err),
			     ERROR_FAILED, rows[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_markers), SCRATCH_TEST(test_metadata),
		SCRATCH_TEST(test_wheels),	SCRATCH_TEST(test_page),
		SCRATCH_TEST(test_web_page),	SCRATCH_TEST(test_bad_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
