/* SPDX-License-Identifier: MIT */
#include "builder/context.h"

#include "builder/native/dockerfile.h"
#include "core/file.h"
#include "core/tarball.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CONTEXT_FILE_CEILING_BYTES (2 * GIB)

/* The content of one file of the spec. */
static int file_content(const struct spec_file *file, struct arena *arena, const char **bytes,
			size_t *length, struct error *err)
{
	char *text;

	*bytes = file->text;
	*length = file->size_bytes;
	if (!file->source)
		return 0;
	if (file_read(file->source, CONTEXT_FILE_CEILING_BYTES, arena, &text, length, err) < 0)
		return -1;
	*bytes = text;
	return 0;
}

static int context_write_entry(struct tarball *tarball, const struct spec_file *file,
			       struct error *err)
{
	static const enum tarball_kind kinds[] = {[SPEC_FOLDER] = TARBALL_FOLDER,
						  [SPEC_SYMLINK] = TARBALL_SYMLINK,
						  [SPEC_HARDLINK] = TARBALL_HARDLINK};
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *bytes;
	size_t length;

	if (file->kind != SPEC_FILE)
		return tarball_add_other(tarball, kinds[file->kind], file->path, file->link,
					 file->mode, err);
	if (file_content(file, &arena, &bytes, &length, err) < 0)
		return -1;
	return tarball_add(tarball, file->path, bytes, length, file->mode, err);
}

int spec_about(const struct spec *spec, int64_t *epoch_s, bool *has_steps, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct dockerfile *file = ARENA_NEW(&arena, struct dockerfile);

	if (dockerfile_parse("Dockerfile", spec->dockerfile, &arena, file, err) < 0)
		return -1;
	*epoch_s = dockerfile_epoch(file);
	*has_steps = false;
	for (size_t i = 0; i < file->stage_count; i++)
		for (size_t k = 0; k < file->stages[i].count; k++)
			*has_steps |= file->stages[i].list[k].kind == INSTRUCTION_RUN;
	return 0;
}

static int write_entries(struct tarball *tarball, const struct spec *spec, struct error *err)
{
	bool has_steps;

	if (spec_about(spec, &tarball->time_s, &has_steps, err) < 0 ||
	    tarball_add(tarball, "Dockerfile", spec->dockerfile, strlen(spec->dockerfile), 0644,
			err) < 0)
		return -1;
	for (size_t i = 0; i < spec->file_count; i++)
		if (context_write_entry(tarball, &spec->files[i], err) < 0)
			return -1;
	return tarball_finish(tarball, err);
}

int context_write_tar(const struct spec *spec, const char *path, struct error *err)
{
	_cleanup_(file_close) FILE *out = fopen(path, "we");
	_cleanup_(tarball_release) struct tarball tarball = {
		0}; /* released first, because it writes to `out` */

	if (!out)
		return error_errno(err, "cannot write %s", path);
	if (tarball_init(&tarball, out, path, err) < 0 || write_entries(&tarball, spec, err) < 0)
		return -1;
	if (fflush(out) != 0)
		return error_errno(err, "cannot write %s", path);
	return 0;
}

static int context_write_file(const struct spec_file *file, const char *folder, struct arena *arena,
			      struct error *err)
{
	const char *path = arena_printf(arena, "%s/%s", folder, file->path), *bytes;
	size_t length;

	if (folder_make(path_folder(arena, path), 0755, err) < 0)
		return -1;
	if (file->kind == SPEC_FOLDER)
		return folder_make(path, 0755, err);
	if (file->kind == SPEC_FILE)
		return file_content(file, arena, &bytes, &length, err) < 0
			       ? -1
			       : file_write(path, bytes, length, file->mode, err);
	if (unlink(path) < 0 && errno != ENOENT)
		return error_errno(err, "cannot write %s", path);
	if (file->kind == SPEC_SYMLINK
		    ? symlink(file->link, path)
		    : link(arena_printf(arena, "%s/%s", folder, file->link), path))
		return error_errno(err, "cannot write %s", path);
	return 0;
}

static bool context_has(const struct spec *spec, const char *path)
{
	for (size_t i = 0; i < spec->file_count; i++)
		if (strcmp(spec->files[i].path, path) == 0)
			return true;
	return false;
}

/* A certificate that an earlier recipe put there, by the word of its Dockerfile, and that this one has not. */
static int context_delete_ca(const struct spec *spec, const char *folder, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *old = arena_printf(&arena, "%s/Dockerfile", folder);
	const char *ca = arena_printf(&arena, "%s/" CONTEXT_CA, folder);
	struct error ignored = {0};
	char *text;

	if (context_has(spec, CONTEXT_CA) || !file_exists(ca) ||
	    file_read(old, FILE_CEILING_BYTES, &arena, &text, NULL, &ignored) < 0 ||
	    !strstr(text, "\nCOPY " CONTEXT_CA " "))
		return 0;
	return unlink(ca) < 0 ? error_errno(err, "cannot delete %s", ca) : 0;
}

int context_write_folder(const struct spec *spec, const char *folder, struct error *err)
{
	_cleanup_(arena_release) struct arena top = ARENA_INIT;

	if (folder_make(folder, 0755, err) < 0 || context_delete_ca(spec, folder, err) < 0 ||
	    file_write(arena_printf(&top, "%s/Dockerfile", folder), spec->dockerfile,
		       strlen(spec->dockerfile), 0644, err) < 0)
		return -1;
	for (size_t i = 0; i < spec->file_count; i++) {
		_cleanup_(arena_release) struct arena arena = ARENA_INIT;

		if (context_write_file(&spec->files[i], folder, &arena, err) < 0)
			return -1;
	}
	return 0;
}
