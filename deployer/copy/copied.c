/* SPDX-License-Identifier: MIT */
#include "deployer/copy/copied.h"

#include "core/file.h"
#include "core/str.h"
#include "oci/layer/extract.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPIED_STEP_BYTES (128 * KIB)

struct copied_file *copied_add(struct copied *tree, const char *path, struct arena *arena)
{
	struct copied_file *file;

	if (tree->count == tree->capacity) {
		size_t capacity = tree->capacity ? 2 * tree->capacity : 64;
		struct copied_file *files = ARENA_ARRAY(arena, capacity, struct copied_file);

		if (tree->count)
			memcpy(files, tree->files, tree->count * sizeof(*files));
		tree->files = files;
		tree->capacity = capacity;
	}
	file = &tree->files[tree->count++];
	*file = (struct copied_file){.path = arena_strdup(arena, path)};
	return file;
}

static int copied_compare(const void *a, const void *b)
{
	return strcmp(((const struct copied_file *)a)->path, ((const struct copied_file *)b)->path);
}

void copied_sort(struct copied *tree)
{
	if (tree->count)
		qsort(tree->files, tree->count, sizeof(*tree->files), copied_compare);
}

struct copied_file *copied_find(const struct copied *tree, const char *path)
{
	struct copied_file key = {.path = path};

	return tree->count ? bsearch(&key, tree->files, tree->count, sizeof(key), copied_compare)
			   : NULL;
}

/* One thing that fts(3) found; the folder itself is none. */
static int copied_note(struct copied *tree, const FTSENT *found, size_t prefix, struct arena *arena,
		       struct error *err)
{
	struct copied_file *file;

	if (found->fts_info == FTS_DP || found->fts_level == 0)
		return 0;
	if (found->fts_info == FTS_DNR || found->fts_info == FTS_ERR || found->fts_info == FTS_NS) {
		errno = found->fts_errno;
		return error_errno(err, "cannot read %s", found->fts_path);
	}
	if (!S_ISREG(found->fts_statp->st_mode) && !S_ISDIR(found->fts_statp->st_mode) &&
	    !S_ISLNK(found->fts_statp->st_mode))
		return error_set(
			err, ERROR_USAGE,
			"%s is neither file, folder nor symbolic link: it cannot be copied",
			found->fts_path);
	file = copied_add(tree, found->fts_path + prefix, arena);
	file->mode = found->fts_statp->st_mode;
	if (!S_ISREG(file->mode))
		return 0;
	file->bytes = (uint64_t)found->fts_statp->st_size;
	return digest_of_file(found->fts_path, file->sum, err);
}

int copied_read(const char *folder, struct arena *arena, struct copied *tree, struct error *err)
{
	char *paths[] = {arena_strdup(arena, folder), NULL};
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	size_t prefix = strlen(folder) + !ends_with(folder, "/");
	FTSENT *found;
	int rc = 0;

	*tree = (struct copied){.folder = folder};
	if (!fts)
		return error_errno(err, "cannot read %s", folder);
	while (rc == 0 && (found = fts_read(fts)))
		rc = copied_note(tree, found, prefix, arena, err);
	fts_close(fts);
	copied_sort(tree); /* "a" stands before "a/b" */
	return rc;
}

/* --- the tar that is sent ------------------------------------------------------------------- */

static int copied_failed(struct archive *archive, const char *path, struct error *err)
{
	return error_set(err, ERROR_FAILED, "cannot copy %s: %s", path,
			 archive_error_string(archive));
}

/* Exactly the bytes that its header says: a file that became shorter is an error. */
static int copied_send_content(struct archive *archive, int fd, const char *path, uint64_t bytes,
			       char *buffer, struct error *err)
{
	while (bytes) {
		ssize_t got =
			read(fd, buffer, bytes < COPIED_STEP_BYTES ? bytes : COPIED_STEP_BYTES);

		if (got < 0)
			return error_errno(err, "cannot read %s", path);
		if (got == 0)
			return error_set(err, ERROR_FAILED, "%s became shorter meanwhile", path);
		if (archive_write_data(archive, buffer, (size_t)got) != got)
			return copied_failed(archive, path, err);
		bytes -= (uint64_t)got;
	}
	return 0;
}

static int copied_send_one(struct archive *archive, const struct copied *tree,
			   const struct copied_file *file, char *buffer, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *path = arena_printf(&arena, "%s/%s", tree->folder, file->path);
	struct archive_entry *entry = archive_entry_new();
	char link[PATH_PLAIN_BYTES] = "";
	_cleanup_(fd_close) int fd = -1;
	struct stat st;
	int rc = 0;

	if (!entry)
		oom();
	if (S_ISREG(file->mode))
		fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if ((S_ISREG(file->mode) ? fd < 0 || fstat(fd, &st) < 0 : lstat(path, &st) < 0) ||
	    (S_ISLNK(file->mode) && readlink(path, link, sizeof(link) - 1) < 0)) {
		archive_entry_free(entry);
		return error_errno(err, "cannot read %s", path);
	}
	archive_entry_set_pathname(entry, file->path);
	archive_entry_set_filetype(entry, file->mode & S_IFMT);
	archive_entry_set_perm(entry, st.st_mode & 0777);
	archive_entry_set_mtime(entry, st.st_mtim.tv_sec, 0);
	archive_entry_set_size(entry, S_ISREG(file->mode) ? st.st_size : 0);
	if (S_ISLNK(file->mode))
		archive_entry_set_symlink(entry, link);
	if (archive_write_header(archive, entry) != ARCHIVE_OK)
		rc = copied_failed(archive, path, err);
	else if (S_ISREG(file->mode))
		rc = copied_send_content(archive, fd, path, (uint64_t)st.st_size, buffer, err);
	archive_entry_free(entry);
	return rc;
}

static void *copied_send(void *arg)
{
	struct copied_stream *s = arg;
	_cleanup_(free_pointer) char *buffer = xmalloc(COPIED_STEP_BYTES);
	struct archive *archive = archive_write_new();
	int rc = 0;

	if (!archive)
		oom();
	archive_write_set_format_gnutar(archive); /* names of any bytes and length */
	if (archive_write_open_fd(archive, s->pipes[1]) != ARCHIVE_OK)
		rc = copied_failed(archive, s->tree->folder, &s->err);
	for (size_t i = 0; rc == 0 && i < s->tree->count; i++)
		if (!s->tree->files[i].left_out)
			rc = copied_send_one(archive, s->tree, &s->tree->files[i], buffer, &s->err);
	if (rc < 0)
		archive_write_fail(archive); /* no end, so that the host's tar fails, too */
	else if (archive_write_close(archive) != ARCHIVE_OK)
		copied_failed(archive, s->tree->folder, &s->err);
	archive_write_free(archive);
	fd_close(&s->pipes[1]);
	return NULL;
}

/* --- the tar that comes --------------------------------------------------------------------- */

/* The content of one file, with its sum. */
struct copied_content {
	struct archive *archive;
	const char *path;
	struct digest digest;
	uint64_t at;
};

/* The bytes of a hole count as zeros. */
static void copied_add_hole(struct copied_content *content, uint64_t end)
{
	static const char zeros[4096];

	while (content->at < end) {
		uint64_t left = end - content->at;
		size_t step = left < sizeof(zeros) ? (size_t)left : sizeof(zeros);

		digest_add(&content->digest, zeros, step);
		content->at += step;
	}
}

static int copied_next(void *arg, const void **bytes, size_t *length, uint64_t *offset,
		       struct error *err)
{
	struct copied_content *content = arg;
	la_int64_t at = 0;
	int rc = archive_read_data_block(content->archive, bytes, length, &at);

	*offset = (uint64_t)at;
	if (rc == ARCHIVE_EOF) {
		*length = 0;
		return 0;
	}
	if (rc != ARCHIVE_OK || at < 0 || *offset < content->at)
		return copied_failed(content->archive, content->path, err);
	copied_add_hole(content, *offset);
	digest_add(&content->digest, *bytes, *length);
	content->at += *length;
	return 0;
}

/* Whether it is one of the things that were asked for, and of a kind that is copied. */
static struct copied_file *copied_expected(struct copied_stream *s, struct archive_entry *entry)
{
	const char *name = archive_entry_pathname(entry);
	char path[PATH_PLAIN_BYTES];
	struct copied_file *file =
		name && path_plain(name, path) && *path ? copied_find(s->tree, path) : NULL;
	mode_t kind = archive_entry_filetype(entry);
	const char *last = file ? strrchr(file->path, '/') : NULL;

	if (!file || file->left_out || archive_entry_hardlink(entry)) {
		error_set(&s->err, ERROR_FAILED,
			  "its archive has '%.200s', which was not asked for", name ? name : "");
		return NULL;
	}
	if (kind != AE_IFREG && kind != AE_IFDIR && kind != AE_IFLNK) {
		error_set(&s->err, ERROR_FAILED,
			  "'%.200s' came as something other than file, folder or link", name);
		return NULL;
	}
	last = last ? last + 1 : file->path;
	if (starts_with(last, ".wh.")) { /* extract.h would take it as an order to remove */
		error_set(
			&s->err, ERROR_FAILED,
			"'%.200s' has a name that marks a removed file in image layers; it cannot be copied with -r",
			name);
		return NULL;
	}
	return file;
}

static int copied_take_one(struct copied_stream *s, struct archive *archive,
			   struct extract *extract, struct archive_entry *entry)
{
	struct copied_file *file = copied_expected(s, entry);
	struct copied_content content = {.archive = archive};
	struct extract_source source = {copied_next, &content};
	int rc;

	if (!file)
		return -1;
	content.path = file->path;
	archive_entry_set_uid(entry, geteuid());
	archive_entry_set_gid(entry, getegid());
	archive_entry_set_perm(entry, archive_entry_perm(entry) & 0777);
	archive_entry_xattr_clear(entry);
	archive_entry_acl_clear(entry);
	digest_init(&content.digest);
	rc = extract_entry(extract, entry, &source, &s->err);
	if (archive_entry_filetype(entry) == AE_IFREG && archive_entry_size(entry) > 0)
		copied_add_hole(&content, (uint64_t)archive_entry_size(entry));
	file->mode = archive_entry_mode(entry);
	file->bytes = content.at;
	digest_finish(&content.digest, file->sum);
	return rc;
}

static void *copied_take(void *arg)
{
	struct copied_stream *s = arg;
	struct extract_options options = {.form = EXTRACT_TREE, .without_devices = true};
	struct extract *extract = extract_new(s->folder, &options);
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;
	char rest[4096];
	int rc = 0;

	if (!archive)
		oom();
	archive_read_support_format_tar(archive);
	if (archive_read_open_fd(archive, s->pipes[0], COPIED_STEP_BYTES) != ARCHIVE_OK)
		rc = ARCHIVE_EOF; /* nothing came: there is nothing in the folder, or the host says why */
	while (rc == 0 && (rc = archive_read_next_header(archive, &entry)) == ARCHIVE_OK)
		rc = copied_take_one(s, archive, extract, entry);
	if (rc != ARCHIVE_EOF && !s->err.kind)
		copied_failed(archive, "what comes", &s->err);
	if (!s->err.kind)
		extract_end(extract, &s->err);
	while (read(s->pipes[0], rest, sizeof(rest)) > 0)
		; /* whoever writes must not wait for ever */
	archive_read_free(archive);
	extract_free(&extract);
	fd_close(&s->pipes[0]);
	return NULL;
}

/* --- both ----------------------------------------------------------------------------------- */

static int copied_begin(struct copied_stream *s, void *(*run)(void *), struct error *err)
{
	if (pipe2(s->pipes, O_CLOEXEC) < 0)
		return error_errno(err, "cannot make a pipe");
	if (pthread_create(&s->thread, NULL, run, s) == 0)
		return 0;
	fd_close(&s->pipes[0]);
	fd_close(&s->pipes[1]);
	return error_set(err, ERROR_FAILED, "cannot start a thread");
}

int copied_send_begin(struct copied_stream *stream, struct copied *tree, int *fd, struct error *err)
{
	*stream = (struct copied_stream){.tree = tree, .folder = -1};
	if (copied_begin(stream, copied_send, err) < 0)
		return -1;
	*fd = stream->pipes[0];
	return 0;
}

int copied_take_begin(struct copied_stream *stream, struct copied *tree, int folder, int *fd,
		      struct error *err)
{
	*stream = (struct copied_stream){.tree = tree, .folder = folder};
	if (copied_begin(stream, copied_take, err) < 0)
		return -1;
	*fd = stream->pipes[1];
	return 0;
}

int copied_end(struct copied_stream *stream, int *fd, struct error *err)
{
	fd_close(fd);
	pthread_join(stream->thread, NULL);
	if (!stream->err.kind)
		return 0;
	*err = stream->err;
	return -1;
}
