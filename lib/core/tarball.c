/* SPDX-License-Identifier: MIT */
#include "core/tarball.h"

#include "core/arena.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

static int tarball_failed(struct tarball *tarball, struct error *err)
{
	int code = archive_errno(tarball->archive);

	return error_set(err, ERROR_FAILED, "cannot write %s: %s", tarball->name,
			 code > 0 ? strerror(code) : archive_error_string(tarball->archive));
}

static int tarball_begin(struct tarball *tarball, FILE *out, const char *name,
			 int (*set_format)(struct archive *), struct error *err)
{
	*tarball = (struct tarball){.archive = archive_write_new(), .name = name};
	/* libarchive reads names by the thread's locale; these are UTF-8 in every locale */
	tarball->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!tarball->archive || !tarball->utf8)
		oom();
	set_format(tarball->archive);
	archive_write_set_bytes_per_block(tarball->archive, 0);
	if (archive_write_open_FILE(tarball->archive, out) != ARCHIVE_OK)
		return tarball_failed(tarball, err);
	return 0;
}

int tarball_init(struct tarball *tarball, FILE *out, const char *name, struct error *err)
{
	return tarball_begin(tarball, out, name, archive_write_set_format_pax_restricted, err);
}

int tarball_init_gnu(struct tarball *tarball, FILE *out, const char *name, struct error *err)
{
	return tarball_begin(tarball, out, name, archive_write_set_format_gnutar, err);
}

static struct archive_entry *new_entry(const struct tarball *tarball, const char *path,
				       unsigned int type, mode_t mode)
{
	struct archive_entry *entry = archive_entry_new();

	if (!entry)
		oom();
	archive_entry_set_pathname(entry, path);
	archive_entry_set_size(entry, 0);
	archive_entry_set_filetype(entry, type);
	archive_entry_set_perm(entry, mode);
	archive_entry_set_mtime(entry, tarball->time_s, 0);
	return entry;
}

/* Frees the entry. */
static int tarball_write_header(struct tarball *tarball, struct archive_entry *entry,
				struct error *err)
{
	locale_t before = uselocale(tarball->utf8);
	int rc = archive_write_header(tarball->archive, entry);

	uselocale(before);
	archive_entry_free(entry);
	return rc == ARCHIVE_OK ? 0 : tarball_failed(tarball, err);
}

int tarball_add(struct tarball *tarball, const char *path, const void *bytes, size_t length,
		mode_t mode, struct error *err)
{
	struct archive_entry *entry = new_entry(tarball, path, AE_IFREG, mode);

	archive_entry_set_size(entry, (la_int64_t)length);
	if (tarball_write_header(tarball, entry, err) < 0)
		return -1;
	if (archive_write_data(tarball->archive, bytes, length) != (la_ssize_t)length)
		return tarball_failed(tarball, err);
	return 0;
}

int tarball_add_other(struct tarball *tarball, enum tarball_kind kind, const char *path,
		      const char *link, mode_t mode, struct error *err)
{
	static const unsigned int types[] = {[TARBALL_FILE] = AE_IFREG,
					     [TARBALL_FOLDER] = AE_IFDIR,
					     [TARBALL_SYMLINK] = AE_IFLNK,
					     [TARBALL_HARDLINK] = AE_IFREG};
	struct archive_entry *entry = new_entry(tarball, path, types[kind], mode);

	if (kind == TARBALL_SYMLINK)
		archive_entry_set_symlink(entry, link);
	if (kind == TARBALL_HARDLINK)
		archive_entry_set_hardlink(entry, link);
	return tarball_write_header(tarball, entry, err);
}

int tarball_finish(struct tarball *tarball, struct error *err)
{
	if (archive_write_close(tarball->archive) != ARCHIVE_OK)
		return tarball_failed(tarball, err);
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
