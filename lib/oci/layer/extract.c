/* SPDX-License-Identifier: MIT */
#include "oci/layer/extract.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/str.h"
#include "oci/layer/inside.h"
#include "oci/layer/path_set.h"
#include "oci/layer/reader.h"
#include "oci/layer/whiteout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#define IMPLIED_MODE 0755 /* of a folder that has no entry */

/* A folder of the layer: what it gets when all that is in it is there. */
struct late_folder {
	struct late_folder *next;
	const char *path;
	struct archive_entry *attributes; /* owned; NULL: it has none */
	mode_t mode;
	struct timespec times[2];
};

struct extract {
	struct inside inside;
	struct extract_options options;
	bool is_root; /* the process may set owners */
	struct arena arena;
	struct path_set own; /* EXTRACT_TREE: what this layer has put there; whiteouts spare it */
	struct late_folder *folders, **folders_end;
	size_t lost_attributes;
};

struct extract *extract_new(int folder, const struct extract_options *options)
{
	struct extract *x = xmalloc(sizeof(*x));

	*x = (struct extract){.inside = {.root = folder,
					 .follows_links = options->form == EXTRACT_TREE,
					 .parent_fd = -1},
			      .options = *options,
			      .is_root = geteuid() == 0,
			      .arena = ARENA_INIT,
			      .own = PATH_SET_INIT};
	x->folders_end = &x->folders;
	return x;
}

void extract_free(struct extract **place)
{
	struct extract *x = *place;

	if (!x)
		return;
	for (struct late_folder *f = x->folders; f; f = f->next)
		archive_entry_free(f->attributes);
	inside_leave(&x->inside);
	path_set_release(&x->own);
	arena_release(&x->arena);
	free(x);
	*place = NULL;
}

static int extract_failed(const char *path, struct error *err)
{
	bool is_full = errno == ENOSPC || errno == EDQUOT;

	error_errno(err, "cannot unpack %s", path);
	return is_full ? error_advise(err, "free space there and run this again") : -1;
}

/* --- the folders on the way ----------------------------------------------------------------- */

static int extract_mark_opaque(int parent, const char *name, const char *path, struct error *err)
{
	char disk[PATH_PLAIN_BYTES + 64];

	snprintf(disk, sizeof(disk), "/proc/self/fd/%d/%s", parent, name);
	if (lsetxattr(disk, "trusted.overlay.opaque", "y", 1, 0) == 0 ||
	    lsetxattr(disk, "user.overlay.opaque", "y", 1, 0) == 0)
		return 0;
	return error_errno(err, "cannot mark %s as opaque", path);
}

static bool extract_is_whiteout(const struct extract *x, const struct stat *st)
{
	return x->options.form == EXTRACT_OVERLAY && S_ISCHR(st->st_mode) &&
	       st->st_rdev == makedev(0, 0);
}

/* A folder where a whiteout of this layer stands: nothing of the folder below shows through. */
static int extract_over_whiteout(int parent, const char *name, const char *path, mode_t mode,
				 struct error *err)
{
	if (unlinkat(parent, name, 0) < 0 || mkdirat(parent, name, mode) < 0 ||
	    fchmodat(parent, name, mode, 0) < 0) /* the umask may have changed it */
		return extract_failed(path, err);
	return extract_mark_opaque(parent, name, path, err);
}

/* One folder that only the names of entries imply. */
static int extract_make_implied(struct extract *x, const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char above[PATH_PLAIN_BYTES];
	_cleanup_(fd_close) int parent = -1;
	struct stat st;

	snprintf(above, sizeof(above), "%.*s", slash ? (int)(slash - path) : 0, path);
	parent = inside_open(&x->inside, above, O_PATH | O_DIRECTORY);
	if (parent < 0) /* a file or a link is in the way: extract_enter says so */
		return errno == ENOTDIR || errno == ELOOP ? 0 : extract_failed(path, err);
	if (mkdirat(parent, name, IMPLIED_MODE) == 0)
		return fchmodat(parent, name, IMPLIED_MODE, 0) < 0 ? extract_failed(path, err) : 0;
	if (errno != EEXIST)
		return extract_failed(path, err);
	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && extract_is_whiteout(x, &st))
		return extract_over_whiteout(parent, name, path, IMPLIED_MODE, err);
	return 0;
}

static int extract_make_folders(struct extract *x, const char *path, struct error *err)
{
	char folder[PATH_PLAIN_BYTES];

	for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		if (extract_make_implied(x, folder, err) < 0)
			return -1;
	}
	return 0;
}

/* Enters the folder that the path lies in; *name is its last part. */
static int extract_enter(struct extract *x, const char *path, const char **name, struct error *err)
{
	bool is_overlay = x->options.form == EXTRACT_OVERLAY;

	if (inside_enter(&x->inside, path, name) == 0)
		return 0;
	/* ENOTDIR: it may be a whiteout of this layer */
	if (errno == ENOENT || (errno == ENOTDIR && is_overlay)) {
		if (extract_make_folders(x, path, err) < 0)
			return -1;
		if (inside_enter(&x->inside, path, name) == 0)
			return 0;
	}
	if (is_overlay && (errno == ENOTDIR || errno == ELOOP))
		return error_set(err, ERROR_FAILED,
				 "the entry '%.100s' lies behind a link or a file", path);
	return error_errno(err, "cannot enter the folder of %s", path);
}

/* --- what a layer removes ------------------------------------------------------------------- */

static bool extract_is_own(void *arg, const char *path)
{
	const struct extract *x = arg;

	return path_set_has(&x->own, path);
}

/* The path must be gone below this layer. */
static int extract_whiteout(struct extract *x, const char *path, struct error *err)
{
	const char *name;
	struct stat st;
	int rc, parent;

	if (extract_enter(x, path, &name, err) < 0)
		return -1;
	parent = x->inside.parent_fd;
	if (x->options.form == EXTRACT_TREE) {
		rc = inside_remove(parent, name, path, extract_is_own, x, err);
		inside_leave(&x->inside);
		return rc;
	}
	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return S_ISDIR(st.st_mode) ? extract_mark_opaque(parent, name, path, err) : 0;
	if (mknodat(parent, name, S_IFCHR, makedev(0, 0)) < 0)
		return error_errno(err, "cannot make the whiteout %s", path);
	return 0;
}

/* What the layers below have in the folder must be gone; the folder itself stays. */
static int extract_opaque(struct extract *x, const char *path, struct error *err)
{
	char within[PATH_PLAIN_BYTES + 8];
	const char *name;
	int rc;

	snprintf(within, sizeof(within), "%s%sx", path, *path ? "/" : "");
	if (extract_enter(x, within, &name, err) < 0)
		return -1;
	if (x->options.form == EXTRACT_OVERLAY)
		return extract_mark_opaque(x->inside.parent_fd, ".", path, err);
	rc = inside_clear(x->inside.parent_fd, ".", path, extract_is_own, x, err);
	inside_leave(&x->inside);
	return rc;
}

static int extract_mark(struct extract *x, enum whiteout kind, const char *target,
			struct error *err)
{
	switch (kind) {
	case WHITEOUT_REMOVED:
		return extract_whiteout(x, target, err);
	case WHITEOUT_OPAQUE:
		return extract_opaque(x, target, err);
	default:
		return 0;
	}
}

/* Takes away what an earlier layer or entry has under the name, when that is why it failed. */
static int extract_make_way(struct extract *x, const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (errno != EEXIST)
		return extract_failed(path, err);
	return inside_remove(x->inside.parent_fd, name, path, NULL, NULL, err);
}

/* --- owners, modes, attributes, times -------------------------------------------------------- */

/* An entry on disk: by its descriptor, or by its name in the folder that was entered. */
struct target {
	int fd; /* -1: by its name */
	const char *name, *path;
};

static bool extract_drops(const char *attribute)
{
	return starts_with(attribute, "trusted.overlay.") ||
	       starts_with(attribute, "user.overlay.");
}

static int extract_set_attribute(const struct extract *x, const struct target *at, const char *key,
				 const void *value, size_t length)
{
	char disk[PATH_PLAIN_BYTES + 64];

	if (at->fd >= 0)
		return fsetxattr(at->fd, key, value, length, 0);
	snprintf(disk, sizeof(disk), "/proc/self/fd/%d/%s", x->inside.parent_fd, at->name);
	return lsetxattr(disk, key, value, length, 0);
}

static int extract_attributes(struct extract *x, struct archive_entry *entry,
			      const struct target *at, struct error *err)
{
	bool is_tree = x->options.form == EXTRACT_TREE;
	const char *key;
	const void *value;
	size_t length;

	archive_entry_xattr_reset(entry);
	while (archive_entry_xattr_next(entry, &key, &value, &length) == ARCHIVE_OK) {
		if (extract_drops(key) || extract_set_attribute(x, at, key, value, length) == 0)
			continue;
		if (x->is_root ? !is_tree || errno != ENOTSUP : errno != ENOTSUP && errno != EPERM)
			return extract_failed(at->path, err);
		x->lost_attributes++;
	}
	return 0;
}

static void extract_times(struct archive_entry *entry, struct timespec times[2])
{
	times[1] = (struct timespec){archive_entry_mtime(entry), archive_entry_mtime_nsec(entry)};
	times[0] = times[1];
	if (archive_entry_atime_is_set(entry))
		times[0] = (struct timespec){archive_entry_atime(entry),
					     archive_entry_atime_nsec(entry)};
}

static int extract_owner(const struct extract *x, struct archive_entry *entry,
			 const struct target *at, struct error *err)
{
	uid_t uid = (uid_t)archive_entry_uid(entry);
	gid_t gid = (gid_t)archive_entry_gid(entry);
	int rc;

	if (!x->is_root)
		return 0;
	rc = at->fd >= 0 ? fchown(at->fd, uid, gid)
			 : fchownat(x->inside.parent_fd, at->name, uid, gid, AT_SYMLINK_NOFOLLOW);
	return rc < 0 ? extract_failed(at->path, err) : 0;
}

/* Without root a setuid bit would lend the caller's rights, not those of the owner it is for. */
static mode_t extract_mode(const struct extract *x, struct archive_entry *entry)
{
	mode_t mode = archive_entry_perm(entry);

	if (!x->is_root && (uid_t)archive_entry_uid(entry) != geteuid())
		mode &= ~(mode_t)S_ISUID;
	if (!x->is_root && (gid_t)archive_entry_gid(entry) != getegid())
		mode &= ~(mode_t)S_ISGID;
	return mode;
}

/* All that an entry other than a folder gets, once its content is there. */
static int extract_rest(struct extract *x, struct archive_entry *entry, const struct target *at,
			struct error *err)
{
	bool is_link = archive_entry_filetype(entry) == AE_IFLNK;
	mode_t mode = extract_mode(x, entry);
	int parent = x->inside.parent_fd;
	struct timespec times[2];

	if (extract_owner(x, entry, at, err) < 0 || extract_attributes(x, entry, at, err) < 0)
		return -1;
	if (!is_link &&
	    (at->fd >= 0 ? fchmod(at->fd, mode) : fchmodat(parent, at->name, mode, 0)) < 0)
		return extract_failed(at->path, err);
	extract_times(entry, times);
	if ((at->fd >= 0 ? futimens(at->fd, times)
			 : utimensat(parent, at->name, times, AT_SYMLINK_NOFOLLOW)) < 0)
		return extract_failed(at->path, err);
	return 0;
}

static void extract_note_folder(struct extract *x, struct archive_entry *entry, const char *path)
{
	struct late_folder *late = ARENA_NEW(&x->arena, struct late_folder);

	late->path = arena_strdup(&x->arena, path);
	late->mode = extract_mode(x, entry);
	if (archive_entry_xattr_count(entry) > 0)
		late->attributes = archive_entry_clone(entry);
	extract_times(entry, late->times);
	*x->folders_end = late;
	x->folders_end = &late->next;
}

static int extract_end_folder(struct extract *x, const struct late_folder *late, struct error *err)
{
	_cleanup_(fd_close) int fd =
		inside_open(&x->inside, late->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	const struct target at = {.fd = fd, .path = *late->path ? late->path : "."};

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return 0; /* replaced later in the layer */
	if (fd < 0)
		return extract_failed(at.path, err);
	if (late->attributes && extract_attributes(x, late->attributes, &at, err) < 0)
		return -1;
	/* without root, the layers above could not get in */
	if (fchmod(fd, x->is_root ? late->mode : late->mode | 0700) < 0 ||
	    futimens(fd, late->times) < 0)
		return extract_failed(at.path, err);
	return 0;
}

int extract_end(struct extract *x, struct error *err)
{
	for (const struct late_folder *f = x->folders; f; f = f->next)
		if (extract_end_folder(x, f, err) < 0)
			return -1;
	return 0;
}

/* --- the kinds of entries ------------------------------------------------------------------- */

static int extract_pwrite(int fd, const char *bytes, size_t length, uint64_t offset)
{
	while (length) {
		ssize_t done = pwrite(fd, bytes, length, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		bytes += done;
		offset += (uint64_t)done;
		length -= (size_t)done;
	}
	return 0;
}

static bool extract_is_zero(const char *bytes)
{
	return !bytes[0] && memcmp(bytes, bytes + 1, EXTRACT_ZERO_BYTES - 1) == 0;
}

/* How many bytes from the start are to be written; *zeros: how many that follow are a hole. */
static size_t extract_until_hole(const char *bytes, size_t length, uint64_t offset, size_t *zeros)
{
	size_t at = (EXTRACT_ZERO_BYTES - offset % EXTRACT_ZERO_BYTES) % EXTRACT_ZERO_BYTES;
	size_t from;

	while (at + EXTRACT_ZERO_BYTES <= length && !extract_is_zero(bytes + at))
		at += EXTRACT_ZERO_BYTES;
	*zeros = 0;
	if (at + EXTRACT_ZERO_BYTES > length)
		return length;
	for (from = at; at + EXTRACT_ZERO_BYTES <= length && extract_is_zero(bytes + at);)
		at += EXTRACT_ZERO_BYTES;
	*zeros = at - from;
	return from;
}

static int extract_content(int fd, const char *path, uint64_t size,
			   const struct extract_source *source, struct error *err)
{
	uint64_t offset, end = 0;
	const void *bytes;
	size_t length;

	for (;;) {
		const char *p;

		if (source->next(source->arg, &bytes, &length, &offset, err) < 0)
			return -1;
		if (!length)
			break;
		for (p = bytes; length;) {
			size_t zeros, some = extract_until_hole(p, length, offset, &zeros);

			if (extract_pwrite(fd, p, some, offset) < 0)
				return extract_failed(path, err);
			end = some ? offset + some : end;
			p += some + zeros;
			offset += some + zeros;
			length -= some + zeros;
		}
		size = size > offset ? size : offset;
	}
	return end < size && ftruncate(fd, (off_t)size) < 0 ? extract_failed(path, err) : 0;
}

static int extract_file(struct extract *x, struct archive_entry *entry, const struct target *at,
			const struct extract_source *source, struct error *err)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	_cleanup_(fd_close) int fd = openat(x->inside.parent_fd, at->name, flags, 0600);
	struct target opened = *at;

	if (fd < 0) {
		if (extract_make_way(x, at->path, err) < 0)
			return -1;
		fd = openat(x->inside.parent_fd, at->name, flags, 0600);
	}
	if (fd < 0)
		return extract_failed(at->path, err);
	opened.fd = fd;
	if (extract_content(fd, at->path, (uint64_t)archive_entry_size(entry), source, err) < 0)
		return -1;
	return extract_rest(x, entry, &opened, err);
}

static int extract_folder(struct extract *x, struct archive_entry *entry, const struct target *at,
			  struct error *err)
{
	int parent = x->inside.parent_fd;
	struct stat st;

	extract_note_folder(x, entry, at->path);
	if (mkdirat(parent, at->name, 0700) < 0) {
		if (errno != EEXIST || fstatat(parent, at->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return extract_failed(at->path, err);
		if (extract_is_whiteout(x, &st)) {
			if (extract_over_whiteout(parent, at->name, at->path, 0700, err) < 0)
				return -1;
		} else if (!S_ISDIR(st.st_mode)) {
			if (unlinkat(parent, at->name, 0) < 0 ||
			    mkdirat(parent, at->name, 0700) < 0)
				return extract_failed(at->path, err);
		}
	}
	return extract_owner(x, entry, at, err);
}

/* One try at what is neither a file nor a folder nor a hard link. */
static int extract_try_other(struct extract *x, struct archive_entry *entry, const char *name)
{
	unsigned int type = archive_entry_filetype(entry);

	if (type == AE_IFLNK)
		return symlinkat(archive_entry_symlink(entry), x->inside.parent_fd, name);
	return mknodat(x->inside.parent_fd, name, type | 0600, archive_entry_rdev(entry));
}

static int extract_other(struct extract *x, struct archive_entry *entry, const struct target *at,
			 struct error *err)
{
	const char *text = archive_entry_symlink(entry);

	if (archive_entry_filetype(entry) == AE_IFLNK && (!text || !*text))
		return error_set(err, ERROR_FAILED, "the link '%.100s' does not say where it leads",
				 at->path);
	if (extract_try_other(x, entry, at->name) < 0) {
		if (extract_make_way(x, at->path, err) < 0)
			return -1;
		if (extract_try_other(x, entry, at->name) < 0)
			return extract_failed(at->path, err);
	}
	return extract_rest(x, entry, at, err);
}

/* To a name of this layer, or in a tree of one below. */
static int extract_hard_link(struct extract *x, const char *link, const struct target *at,
			     struct error *err)
{
	_cleanup_(fd_close) int folder = -1;
	char to[PATH_PLAIN_BYTES], up[PATH_PLAIN_BYTES];
	const char *slash;

	if (!path_plain(link, to) || !*to)
		return error_set(err, ERROR_FAILED,
				 "the hard link '%.100s' leads out of the layer to '%.100s'",
				 at->path, link);
	slash = strrchr(to, '/');
	snprintf(up, sizeof(up), "%.*s", slash ? (int)(slash - to) : 0, to);
	folder = inside_open(&x->inside, up, O_PATH | O_DIRECTORY);
	if (folder < 0)
		return extract_failed(at->path, err);
	slash = slash ? slash + 1 : to;
	if (linkat(folder, slash, x->inside.parent_fd, at->name, 0) == 0)
		return 0;
	if (errno == EEXIST && strcmp(to, at->path) == 0)
		return 0; /* to itself */
	if (extract_make_way(x, at->path, err) < 0)
		return -1;
	return linkat(folder, slash, x->inside.parent_fd, at->name, 0) < 0
		       ? extract_failed(at->path, err)
		       : 0;
}

static int extract_at(struct extract *x, struct archive_entry *entry, const char *path,
		      const struct extract_source *source, struct error *err)
{
	const char *hard = archive_entry_hardlink(entry);
	struct target at = {.fd = -1, .path = path};

	if (extract_enter(x, path, &at.name, err) < 0)
		return -1;
	if (x->options.form == EXTRACT_TREE)
		path_set_add(&x->own, path);
	if (hard)
		return extract_hard_link(x, hard, &at, err);
	switch (archive_entry_filetype(entry)) {
	case AE_IFREG:
		return extract_file(x, entry, &at, source, err);
	case AE_IFDIR:
		return extract_folder(x, entry, &at, err);
	default:
		return extract_other(x, entry, &at, err);
	}
}

/* The folder that all lies in. */
static int extract_top(struct extract *x, struct archive_entry *entry, struct error *err)
{
	if (archive_entry_filetype(entry) != AE_IFDIR)
		return 0;
	extract_note_folder(x, entry, "");
	if (x->is_root && fchownat(x->inside.root, "", (uid_t)archive_entry_uid(entry),
				   (gid_t)archive_entry_gid(entry), AT_EMPTY_PATH) < 0)
		return extract_failed(".", err);
	return 0;
}

static bool extract_is_left_out(const struct extract *x, struct archive_entry *entry)
{
	unsigned int type = archive_entry_filetype(entry);

	return x->options.without_devices && (type == AE_IFCHR || type == AE_IFBLK) &&
	       !archive_entry_hardlink(entry);
}

int extract_entry(struct extract *x, struct archive_entry *entry,
		  const struct extract_source *source, struct error *err)
{
	char path[PATH_PLAIN_BYTES], target[PATH_PLAIN_BYTES];
	enum whiteout kind;

	if (interrupt_check(err) < 0 || layer_entry_path(entry, path, err) < 0)
		return -1;
	if (!*path)
		return extract_top(x, entry, err);
	if (whiteout_find(path, &kind, target, err) < 0)
		return -1;
	if (kind != WHITEOUT_NONE)
		return extract_mark(x, kind, target, err);
	return extract_is_left_out(x, entry) ? 0 : extract_at(x, entry, path, source, err);
}

/* --- a whole layer -------------------------------------------------------------------------- */

static int extract_next_data(void *arg, const void **bytes, size_t *length, uint64_t *offset,
			     struct error *err)
{
	return layer_reader_data(arg, bytes, length, offset, err);
}

static int extract_all(struct extract *x, struct layer_reader *reader, struct error *err)
{
	const struct extract_source source = {extract_next_data, reader};
	struct archive_entry *entry;

	for (;;) {
		if (layer_reader_next(reader, &entry, err) < 0)
			return -1;
		if (!entry)
			break;
		if (extract_entry(x, entry, &source, err) < 0)
			return -1;
	}
	return extract_end(x, err) < 0 ? -1 : layer_reader_finish(reader, err);
}

int layer_extract(const char *layer_path, const char *diff_id, int folder,
		  const struct extract_options *options, struct progress_step *progress,
		  struct extract_result *result, struct error *err)
{
	_cleanup_(layer_reader_close) struct layer_reader *reader = NULL;
	_cleanup_(extract_free) struct extract *x = extract_new(folder, options);
	int rc;

	*result = (struct extract_result){0};
	if (layer_reader_open(layer_path, diff_id, options->budget, progress, &reader, err) < 0)
		return -1;
	rc = extract_all(x, reader, err);
	*result = (struct extract_result){layer_reader_bytes(reader), x->lost_attributes};
	return rc < 0 ? layer_reader_wrap(reader, err) : 0;
}
