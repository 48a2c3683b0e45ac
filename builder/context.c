/* SPDX-License-Identifier: MIT */
#include "builder/context.h"

#include "core/file.h"
#include "core/tarball.h"

#include <string.h>

#define CONTEXT_FILE_CEILING_BYTES (2 * GIB)

/* The content of one file of the spec. */
static int file_content(const struct spec_file *file, struct arena *arena, const char **bytes,
			size_t *length, struct error *err)
{
	char *text;

	*bytes = file->text;
	*length = file->text_bytes;
	if (!file->source)
		return 0;
	if (file_read(file->source, CONTEXT_FILE_CEILING_BYTES, arena, &text, length, err) < 0)
		return -1;
	*bytes = text;
	return 0;
}

static int write_entries(struct tarball *tarball, const struct spec *spec, struct error *err)
{
	if (tarball_add(tarball, "Dockerfile", spec->dockerfile, strlen(spec->dockerfile), 0644,
			err) < 0)
		return -1;
	for (size_t i = 0; i < spec->file_count; i++) {
		_cleanup_(arena_release) struct arena arena = ARENA_INIT;
		const struct spec_file *file = &spec->files[i];
		const char *bytes;
		size_t length;

		if (file_content(file, &arena, &bytes, &length, err) < 0 ||
		    tarball_add(tarball, file->path, bytes, length, file->mode, err) < 0)
			return -1;
	}
	return tarball_finish(tarball, err);
}

int context_write_tar(const struct spec *spec, const char *path, struct error *err)
{
	_cleanup_(file_close) FILE *out = fopen(path, "we");
	_cleanup_(tarball_release) struct tarball tarball = {
		0}; /* goes first: it writes to `out` */

	if (!out)
		return error_errno(err, "cannot write %s", path);
	if (tarball_init(&tarball, out, path, err) < 0 || write_entries(&tarball, spec, err) < 0)
		return -1;
	if (fflush(out) != 0)
		return error_errno(err, "cannot write %s", path);
	return 0;
}

int context_write_folder(const struct spec *spec, const char *folder, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;

	if (folder_make(folder, 0755, err) < 0 ||
	    file_write(arena_printf(&arena, "%s/Dockerfile", folder), spec->dockerfile,
		       strlen(spec->dockerfile), 0644, err) < 0)
		return -1;
	for (size_t i = 0; i < spec->file_count; i++) {
		const char *path = arena_printf(&arena, "%s/%s", folder, spec->files[i].path);
		const char *bytes;
		size_t length;

		if (folder_make(path_folder(&arena, path), 0755, err) < 0 ||
		    file_content(&spec->files[i], &arena, &bytes, &length, err) < 0 ||
		    file_write(path, bytes, length, spec->files[i].mode, err) < 0)
			return -1;
	}
	return 0;
}
