/* SPDX-License-Identifier: MIT */
/* A page of an index of Python packages: what is kept can stand in a table and be asked for. */
#include "tests/fuzz/fuzz.h"

#include "upstream/python/pypi.h"

static bool is_any(const struct pypi_file *file)
{
	return file->filename != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	const char *const *versions;
	struct error err = {0};
	struct pypi_page page;
	int rc = pypi_page_parse(text, size, "https://a.b/simple/x/", "x", &arena, &page, &err);

	fuzz_check_error(rc, &err);
	if (rc < 0)
		return 0;
	for (size_t i = 0; i < page.count; i++) {
		const struct pypi_file *file = &page.files[i];

		fuzz_check(package_is_release(file->version));
		fuzz_check(web_url_is_fine(file->url));
		fuzz_check(!strpbrk(file->filename, ",/\" \033\n"));
		fuzz_check(strlen(file->sha256) == 64 || !*file->sha256);
		pypi_glibc(file, &arena);
		pypi_fits_x86_64(file);
	}
	for (size_t i = 0; i < page.count && i < 4; i++) {
		struct pypi_page build;

		pypi_page_build(&page, page.files[i].build, &arena, &build);
		fuzz_check(build.count > 0 && build.count <= page.count);
	}
	versions = pypi_versions(&page, is_any, &arena);
	for (; *versions; versions++) {
		fuzz_check(pypi_find(&page, *versions, is_any) != NULL);
		fuzz_check(!strpbrk(pypi_pythons(&page, *versions, &arena), ", "));
	}
	return 0;
}
