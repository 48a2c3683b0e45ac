/* SPDX-License-Identifier: MIT */
#include "oci/rootfs.h"

#include "core/file.h"
#include "core/log.h"
#include "core/progress.h"
#include "core/str.h"
#include "core/temporary.h"
#include "oci/budget.h"
#include "oci/layer/extract.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct rootfs {
	struct arena arena;
	const char *folder, *temporary;
	int fd; /* of the temporary one */
	struct budget budget;
	bool is_finished;
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

int rootfs_open(const char *folder, const struct budget_limits *limits, struct rootfs **rootfs,
		struct error *err)
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
	budget_init(&r->budget, limits, r->folder);
	if (fchmod(r->fd, 0755) < 0)
		return error_errno(err, "cannot use %s", r->temporary);
	return 0;
}

int rootfs_apply(struct rootfs *rootfs, const char *layer_path, const char *diff_id,
		 const char *title, struct error *err)
{
	const struct extract_options options = {
		.form = EXTRACT_TREE, .without_devices = geteuid() != 0, .budget = &rootfs->budget};
	struct progress_step *progress = title ? progress_begin(title, "unpacking") : NULL;
	struct extract_result result;
	char size[32];
	int rc = layer_extract(layer_path, diff_id, rootfs->fd, &options, progress, &result, err);

	if (result.lost_attributes)
		log_warn("%s: the file system did not take %zu extended attributes", rootfs->folder,
			 result.lost_attributes);
	if (progress && rc == 0)
		progress_end(progress, true, "unpacked, %s",
			     format_bytes(size, result.plain_bytes));
	else if (progress)
		progress_end(progress, false, "not unpacked");
	return rc;
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
