/* SPDX-License-Identifier: MIT */
#include "oci/rootfs.h"

#include "core/digest.h"
#include "core/file.h"
#include "core/log.h"
#include "core/progress.h"
#include "core/str.h"
#include "core/temporary.h"
#include "oci/rootfs_place.h"
#include "oci/layer/stream.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rootfs {
	struct arena arena;
	const char *folder, *temporary;
	int fd; /* of the temporary one */
	bool is_finished;
};

/* One layer: what the tar's reader is given. */
struct apply {
	struct stream *stream;
	struct progress_step *progress;
	uint64_t read_bytes;
	struct error err; /* of the stream */
};

static int check_empty(const char *folder, struct error *err)
{
	const struct dirent *entry;
	bool is_empty = true;
	DIR *list = opendir(folder);

	if (!list)
		return errno == ENOENT ? 0 : error_errno(err, "cannot use %s", folder);
	while ((entry = readdir(list)))
		is_empty = is_empty &&
			   (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
	closedir(list);
	if (is_empty)
		return 0;
	return error_set(err, ERROR_USAGE,
			 "%s is not empty; name a folder that is not there, or empty it", folder);
}

int rootfs_open(const char *folder, struct rootfs **rootfs, struct error *err)
{
	struct rootfs *r;
	char *path, *end;

	*rootfs = NULL;
	if (check_empty(folder, err) < 0)
		return -1;
	r = xmalloc(sizeof(*r));
	*r = (struct rootfs){.arena = ARENA_INIT, .fd = -1};
	path = arena_strdup(&r->arena, folder);
	end = path + strlen(path);
	while (end > path + 1 && end[-1] == '/')
		*--end = '\0';
	r->folder = path;
	*rootfs = r;
	if (folder_make(path_folder(&r->arena, r->folder), 0755, err) < 0)
		return -1;
	r->fd = temporary_make(r->folder, TEMPORARY_FOLDER, &r->arena, &r->temporary, err);
	if (r->fd < 0)
		return -1;
	if (fchmod(r->fd, 0755) < 0)
		return error_errno(err, "cannot use %s", r->temporary);
	return 0;
}

static la_ssize_t rootfs_read_some(struct archive *tar, void *arg, const void **bytes)
{
	struct apply *apply = arg;
	size_t length;

	if (stream_next(apply->stream, bytes, &length, &apply->err) < 0) {
		archive_set_error(tar, EIO, "%s", apply->err.text);
		return -1;
	}
	apply->read_bytes += length;
	if (apply->progress)
		progress_bytes(apply->progress, apply->read_bytes, apply->read_bytes);
	return (la_ssize_t)length;
}

static int place_all(struct layer_place *place, struct error *err)
{
	struct archive_entry *entry;
	int rc;

	while ((rc = archive_read_next_header(place->tar, &entry)) == ARCHIVE_OK ||
	       rc == ARCHIVE_WARN)
		if (layer_place_entry(place, entry, err) < 0)
			return -1;
	if (rc != ARCHIVE_EOF)
		return error_set(err, ERROR_FAILED, "%s", archive_error_string(place->tar));
	return layer_place_end(place, err);
}

static int check_diff_id(struct apply *apply, const char *diff_id, struct error *err)
{
	char digest[DIGEST_TEXT_BYTES];

	if (stream_finish(apply->stream, digest, err) < 0)
		return -1;
	if (!diff_id || strcmp(diff_id, digest) == 0)
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"its plain bytes have the digest %s, but the image's config says %s; push the image again",
		digest, diff_id);
}

static int read_tar(struct rootfs *rootfs, struct apply *apply, struct error *err)
{
	struct layer_place place = {.root = rootfs->fd,
				    .arena = ARENA_INIT,
				    .parent_fd = -1,
				    .is_root = geteuid() == 0,
				    .tar = archive_read_new()};
	int rc;

	if (!place.tar)
		oom();
	archive_read_support_format_tar(place.tar);
	archive_read_support_format_empty(place.tar);
	if (archive_read_open(place.tar, apply, NULL, rootfs_read_some, NULL) != ARCHIVE_OK)
		rc = error_set(err, ERROR_FAILED, "%s", archive_error_string(place.tar));
	else
		rc = place_all(&place, err);
	if (place.lost_attributes)
		log_warn("%s: the file system did not take %zu extended attributes", rootfs->folder,
			 place.lost_attributes);
	if (rc < 0 && apply->err.kind != ERROR_NONE)
		*err = apply->err;
	archive_read_free(place.tar);
	layer_place_release(&place);
	return rc;
}

int rootfs_apply(struct rootfs *rootfs, const char *layer_path, const char *diff_id,
		 const char *title, struct error *err)
{
	struct apply apply = {.stream = NULL};
	/* names in pax headers are UTF-8, whatever the caller's locale is */
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), before;
	char size[32];
	int rc = -1;

	if (!utf8)
		oom();
	before = uselocale(utf8);
	if (title)
		apply.progress = progress_begin(title, "unpacking");
	if (stream_open(layer_path, diff_id ? diff_id : "sha256:", &apply.stream, err) == 0 &&
	    read_tar(rootfs, &apply, err) == 0)
		rc = check_diff_id(&apply, diff_id, err);
	stream_close(&apply.stream);
	if (apply.progress && rc == 0)
		progress_end(apply.progress, true, "unpacked, %s",
			     format_bytes(size, apply.read_bytes));
	else if (apply.progress)
		progress_end(apply.progress, false, "not unpacked");
	uselocale(before);
	freelocale(utf8);
	return rc < 0 && err->kind != ERROR_INTERRUPTED ? error_wrap(err, "%s", layer_path) : rc;
}

int rootfs_finish(struct rootfs *rootfs, struct error *err)
{
	if (rename(rootfs->temporary, rootfs->folder) < 0)
		return error_errno(err, "cannot rename %s to %s", rootfs->temporary,
				   rootfs->folder);
	rootfs->is_finished = true;
	return 0;
}

void rootfs_close(struct rootfs **place)
{
	struct rootfs *rootfs = *place;
	struct error why = {0};

	if (!rootfs)
		return;
	fd_close(&rootfs->fd);
	if (rootfs->temporary && !rootfs->is_finished && folder_remove(rootfs->temporary, &why) < 0)
		log_warn("%s", why.text);
	arena_release(&rootfs->arena);
	free(rootfs);
	*place = NULL;
}
