/* SPDX-License-Identifier: MIT */
/*
 * libarchive when it is first needed (late.h). It brings libxml2 and with it ICU, for formats that nothing here reads: 3.2 MiB and
 * 1.5 ms of the 2 ms that a command takes to start without them.
 */
#include <archive.h>
#include <archive_entry.h>

#include "core/late.h"
#include "core/str.h"

#include <stdarg.h>

static struct late late_library = {
	.file = "libarchive.so.13",
	.advice =
		"archives need libarchive.so.13, version 3.4 or newer, which cannot be loaded; install libarchive13",
};

/* Its own words are finished here: there is no such function that takes a va_list. */
void archive_set_error(struct archive *archive, int number, const char *format, ...)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	va_list values;
	LATE_LOOK_UP(archive_set_error)

	va_start(values, format);
	str_vaddf(&text, format, values);
	va_end(values);
	call(archive, number, "%s", text.text ? text.text : "");
}

/* --- members -------------------------------------------------------------------------------- */

#define MEMBER_GET(result, name) LATE_CALL(result, name, (struct archive_entry * entry), (entry))
#define MEMBER_DO(name) LATE_DO(name, (struct archive_entry * entry), (entry))
#define MEMBER_SET(name, type) \
	LATE_DO(name, (struct archive_entry * entry, type value), (entry, value))

LATE_CALL(struct archive_entry *, archive_entry_new, (void), ())
MEMBER_GET(struct archive_entry *, archive_entry_clone)
MEMBER_DO(archive_entry_free)
MEMBER_GET(const char *, archive_entry_pathname)
MEMBER_GET(const char *, archive_entry_symlink)
MEMBER_GET(const char *, archive_entry_hardlink)
MEMBER_GET(mode_t, archive_entry_mode)
MEMBER_GET(mode_t, archive_entry_perm)
MEMBER_GET(mode_t, archive_entry_filetype)
MEMBER_GET(la_int64_t, archive_entry_size)
MEMBER_GET(la_int64_t, archive_entry_uid)
MEMBER_GET(la_int64_t, archive_entry_gid)
MEMBER_GET(dev_t, archive_entry_rdev)
MEMBER_GET(time_t, archive_entry_mtime)
MEMBER_GET(long, archive_entry_mtime_nsec)
MEMBER_GET(time_t, archive_entry_atime)
MEMBER_GET(long, archive_entry_atime_nsec)
MEMBER_GET(int, archive_entry_atime_is_set)
MEMBER_SET(archive_entry_set_pathname, const char *)
MEMBER_SET(archive_entry_set_symlink, const char *)
MEMBER_SET(archive_entry_set_hardlink, const char *)
MEMBER_SET(archive_entry_set_uname, const char *)
MEMBER_SET(archive_entry_set_gname, const char *)
MEMBER_SET(archive_entry_set_perm, mode_t)
MEMBER_SET(archive_entry_set_filetype, unsigned int)
MEMBER_SET(archive_entry_set_size, la_int64_t)
MEMBER_SET(archive_entry_set_uid, la_int64_t)
MEMBER_SET(archive_entry_set_gid, la_int64_t)
MEMBER_SET(archive_entry_set_rdev, dev_t)
LATE_DO(archive_entry_set_mtime, (struct archive_entry * entry, time_t seconds, long nanoseconds),
	(entry, seconds, nanoseconds))
MEMBER_DO(archive_entry_unset_atime)
MEMBER_DO(archive_entry_unset_ctime)
MEMBER_DO(archive_entry_unset_birthtime)

MEMBER_DO(archive_entry_acl_clear)
MEMBER_DO(archive_entry_xattr_clear)
MEMBER_GET(int, archive_entry_xattr_count)
MEMBER_GET(int, archive_entry_xattr_reset)
LATE_CALL(int, archive_entry_xattr_next,
	  (struct archive_entry * entry, const char **name, const void **value, size_t *bytes),
	  (entry, name, value, bytes))
LATE_DO(archive_entry_xattr_add_entry,
	(struct archive_entry * entry, const char *name, const void *value, size_t bytes),
	(entry, name, value, bytes))

MEMBER_DO(archive_entry_sparse_clear)
MEMBER_GET(int, archive_entry_sparse_count)
MEMBER_GET(int, archive_entry_sparse_reset)
LATE_CALL(int, archive_entry_sparse_next,
	  (struct archive_entry * entry, la_int64_t *offset, la_int64_t *length),
	  (entry, offset, length))
LATE_DO(archive_entry_sparse_add_entry,
	(struct archive_entry * entry, la_int64_t offset, la_int64_t length),
	(entry, offset, length))

/* --- archives ------------------------------------------------------------------------------- */

#define ARCHIVE_GET(result, name) LATE_CALL(result, name, (struct archive * archive), (archive))
#define ARCHIVE_WITH(result, name, type) \
	LATE_CALL(result, name, (struct archive * archive, type value), (archive, value))

ARCHIVE_GET(int, archive_errno)
ARCHIVE_GET(const char *, archive_error_string)
ARCHIVE_WITH(la_int64_t, archive_filter_bytes, int)
ARCHIVE_WITH(int, archive_filter_code, int)

LATE_CALL(struct archive *, archive_read_new, (void), ())
ARCHIVE_GET(int, archive_read_free)
ARCHIVE_GET(int, archive_read_support_filter_gzip)
ARCHIVE_GET(int, archive_read_support_filter_zstd)
ARCHIVE_GET(int, archive_read_support_format_empty)
ARCHIVE_GET(int, archive_read_support_format_tar)
LATE_CALL(int, archive_read_open,
	  (struct archive * archive, void *data, archive_open_callback *opens,
	   archive_read_callback *reads, archive_close_callback *closes),
	  (archive, data, opens, reads, closes))
LATE_CALL(int, archive_read_open2,
	  (struct archive * archive, void *data, archive_open_callback *opens,
	   archive_read_callback *reads, archive_skip_callback *skips,
	   archive_close_callback *closes),
	  (archive, data, opens, reads, skips, closes))
LATE_CALL(int, archive_read_open_fd, (struct archive * archive, int fd, size_t block),
	  (archive, fd, block))
ARCHIVE_WITH(int, archive_read_next_header, struct archive_entry **)
LATE_CALL(la_ssize_t, archive_read_data, (struct archive * archive, void *buffer, size_t bytes),
	  (archive, buffer, bytes))
LATE_CALL(int, archive_read_data_block,
	  (struct archive * archive, const void **buffer, size_t *bytes, la_int64_t *offset),
	  (archive, buffer, bytes, offset))
ARCHIVE_GET(int, archive_read_data_skip)

LATE_CALL(struct archive *, archive_write_new, (void), ())
ARCHIVE_GET(int, archive_write_close)
ARCHIVE_GET(int, archive_write_fail)
ARCHIVE_GET(int, archive_write_free)
ARCHIVE_GET(int, archive_write_set_format_gnutar)
ARCHIVE_GET(int, archive_write_set_format_pax_restricted)
ARCHIVE_WITH(int, archive_write_set_bytes_per_block, int)
ARCHIVE_WITH(int, archive_write_set_bytes_in_last_block, int)
LATE_CALL(int, archive_write_open,
	  (struct archive * archive, void *data, archive_open_callback *opens,
	   archive_write_callback *writes, archive_close_callback *closes),
	  (archive, data, opens, writes, closes))
ARCHIVE_WITH(int, archive_write_open_fd, int)
ARCHIVE_WITH(int, archive_write_open_FILE, FILE *)
ARCHIVE_WITH(int, archive_write_header, struct archive_entry *)
LATE_CALL(la_ssize_t, archive_write_data,
	  (struct archive * archive, const void *buffer, size_t bytes), (archive, buffer, bytes))
