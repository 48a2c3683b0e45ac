/* SPDX-License-Identifier: MIT */
#include "builder/recipe/context_files.h"

#include "builder/recipe/host_script.h"
#include "builder/native/layer/tree.h"
#include "core/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int context_files_too_many(struct error *err)
{
	return error_set(err, ERROR_USAGE, "more than %d files in one build context",
			 SPEC_FILES_MAX);
}

int context_add_file(struct spec *spec, const char *path, const char *source, mode_t mode,
		     struct arena *arena, struct error *err)
{
	struct spec_file *file = spec_add_file(spec, arena);
	struct stat st;

	if (!file)
		return context_files_too_many(err);
	if (stat(source, &st) < 0)
		return error_errno(err, "cannot read %s", source);
	*file = (struct spec_file){
		.path = path, .source = source, .size_bytes = (uint64_t)st.st_size, .mode = mode};
	return 0;
}

int context_add_text(struct spec *spec, const char *path, const char *text, mode_t mode,
		     struct arena *arena, struct error *err)
{
	struct spec_file *file = spec_add_file(spec, arena);

	if (!file)
		return context_files_too_many(err);
	*file = (struct spec_file){
		.path = path, .text = text, .size_bytes = strlen(text), .mode = mode};
	return 0;
}

/* `disk` and what lies under it, whose paths in the context begin with `path`. */
static int context_files_add_below(struct spec *spec, const char *disk, const char *suffix,
				   const char *path, mode_t mode, struct arena *arena,
				   struct error *err)
{
	const char **names;

	if (folder_list(disk, "", arena, &names, err) < 0)
		return -1;
	for (; *names; names++) {
		const char *source = arena_printf(arena, "%s/%s", disk, *names);
		const char *name = arena_printf(arena, "%s/%s", path, *names);
		struct stat st;
		int rc = 0;

		if ((*names)[0] == '.') /* an editor's */
			continue;
		if (stat(source, &st) == 0 && S_ISDIR(st.st_mode))
			rc = context_files_add_below(spec, source, suffix, name, mode, arena, err);
		else if (ends_with(source, suffix))
			rc = context_add_file(spec, name, source, mode, arena, err);
		if (rc < 0)
			return -1;
	}
	return 0;
}

int context_add_folder(struct spec *spec, const char *folder, const char *suffix, const char *path,
		       mode_t mode, struct arena *arena, struct error *err)
{
	const char *disk;

	if (share_path(arena, folder, &disk, err) < 0)
		return -1;
	return context_files_add_below(spec, disk, suffix, path, mode, arena, err);
}

static int context_files_refuse(const struct cluster *cluster, const char *what, const char *path,
				struct error *err)
{
	return error_set(err, ERROR_USAGE, "%s: image.files: %s %s", cluster->path, what, path);
}

static enum spec_kind context_files_kind_of(enum tree_type type)
{
	return type == TREE_FOLDER     ? SPEC_FOLDER
	       : type == TREE_SYMLINK  ? SPEC_SYMLINK
	       : type == TREE_HARDLINK ? SPEC_HARDLINK
				       : SPEC_FILE;
}

static int context_files_add_entry(struct spec *spec, const struct tree_entry *entry,
				   struct arena *arena, struct error *err)
{
	struct spec_file *file = spec_add_file(spec, arena);

	if (!file)
		return context_files_too_many(err);
	*file = (struct spec_file){.path = entry->path,
				   .source = entry->source,
				   .link = entry->link,
				   .size_bytes = entry->size_bytes,
				   .kind = context_files_kind_of(entry->type),
				   .mode = entry->mode};
	return 0;
}

/* `source` behind its links, as one file or with all that is in it. */
static int add_source(const struct cluster *cluster, struct spec *spec, const char *source,
		      const char *path, struct arena *arena, struct error *err)
{
	const struct tree_read_options options = {.prefix = path,
						  .owner_root = true,
						  .plain_modes = true,
						  .no_special = true,
						  .newest_s = INT64_MAX};
	_cleanup_(free_pointer) char *real = realpath(source, NULL);
	struct tree tree;
	int rc;

	if (!real && errno == ENOENT)
		return context_files_refuse(cluster, "nothing to put into the image:", source, err);
	if (!real)
		return error_errno(err, "%s: image.files: %s", cluster->path, source);
	tree_init(&tree);
	rc = tree_read(&tree, real, &options, err);
	if (rc < 0)
		error_wrap(err, "%s: image.files", cluster->path);
	for (size_t i = 0; rc == 0 && i < tree.count; i++)
		rc = context_files_add_entry(spec, &tree.list[i], arena, err);
	arena_adopt(arena, &tree.arena);
	tree_release(&tree);
	return rc;
}

static int context_files_add_one(const struct cluster *cluster, bool as_script, size_t index,
				 struct spec *spec, struct arena *arena, struct str *layers,
				 struct error *err)
{
	const struct cluster_file *file = &cluster->image.files[index];
	const char *source = cluster_path(cluster, file->from, arena);
	const char *path = arena_printf(arena, "files/%zu", index), *slash = strrchr(source, '/');
	const char *to = file->to;
	size_t before = spec->file_count;

	if (add_source(cluster, spec, source, path, arena, err) < 0)
		return -1;
	if (spec->files[before].kind == SPEC_FOLDER && spec->file_count == before + 1)
		return context_files_refuse(cluster, "nothing is in the folder", source, err);
	/* a single file into a folder keeps its name */
	if (ends_with(to, "/") && spec->files[before].kind != SPEC_FOLDER)
		to = arena_printf(arena, "%s%s", to, slash ? slash + 1 : source);
	if (as_script)
		host_script_add_copy(layers, path, to, spec->files[before].kind != SPEC_FOLDER);
	else
		str_addf(layers, "COPY %s %s\n", path, to);
	return 0;
}

int context_add_user_files(const struct cluster *cluster, bool as_script, struct spec *spec,
			   struct arena *arena, struct str *layers, struct error *err)
{
	for (size_t i = 0; i < cluster->image.file_count; i++)
		if (context_files_add_one(cluster, as_script, i, spec, arena, layers, err) < 0)
			return -1;
	return 0;
}
