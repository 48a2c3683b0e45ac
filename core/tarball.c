/* SPDX-License-Identifier: MIT */
#include "core/tarball.h"

#include "core/arena.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

static int failed(struct tarball *tarball, struct error *err)
{
	int code = archive_errno(tarball->archive);

	return error_set(err, ERROR_FAILED, "cannot write %s: %s", tarball->name,
			 code > 0 ? strerror(code) : archive_error_string(tarball->archive));
}

int tarball_init(struct tarball *tarball, FILE *out, const char *name, struct error *err)
{
	*tarball = (struct tarball){.archive = archive_write_new(), .name = name};
	/* libarchive reads names by the thread's locale; ours are UTF-8 whatever the person's is */
	tarball->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!tarball->archive || !tarball->utf8)
		oom();
	archive_write_set_format_pax_restricted(tarball->archive);
	archive_write_set_bytes_per_block(tarball->archive, 0);
	if (archive_write_open_FILE(tarball->archive, out) != ARCHIVE_OK)
		return failed(tarball, err);
	return 0;
}

int tarball_add(struct tarball *tarball, const char *path, const void *bytes, size_t length,
		mode_t mode, struct error *err)
{
	struct archive_entry *entry = archive_entry_new();
	locale_t before;
	int rc;

	if (!entry)
		oom();
	archive_entry_set_pathname(entry, path);
	archive_entry_set_size(entry, (la_int64_t)length);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, mode);
	archive_entry_set_mtime(entry, 0, 0);
	before = uselocale(tarball->utf8);
	rc = archive_write_header(tarball->archive, entry);
	uselocale(before);
	archive_entry_free(entry);
	if (rc != ARCHIVE_OK ||
	    archive_write_data(tarball->archive, bytes, length) != (la_ssize_t)length)
		return failed(tarball, err);
	return 0;
}

int tarball_finish(struct tarball *tarball, struct error *err)
{
	if (archive_write_close(tarball->archive) != ARCHIVE_OK)
		return failed(tarball, err);
	return 0;
}

void tarball_release(struct tarball *tarball)
{
	if (tarball->archive)
		archive_write_free(tarball->archive);
	if (tarball->utf8)
		freelocale(tarball->utf8);
	*tarball = (struct tarball){0};
}
