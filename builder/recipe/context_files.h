/* SPDX-License-Identifier: MIT */
/* context_files.h - what goes into a build context: ringup's own files, and image.files of
 * cluster.yaml. */
#ifndef BUILDER_RECIPE_CONTEXT_FILES_H
#define BUILDER_RECIPE_CONTEXT_FILES_H

#include "core/str.h"
#include "plan/cluster.h"
#include "plan/spec.h"

/* Adds one file of this machine. */
int context_add_file(struct spec *spec, const char *path, const char *source, mode_t mode,
		     struct arena *arena, struct error *err);

/* Adds a file that holds `text`, which lives as long as the spec. */
int context_add_text(struct spec *spec, const char *path, const char *text, mode_t mode,
		     struct arena *arena, struct error *err);

/* Adds the files of one of ringup's own folders (share_path) whose names end in `suffix`, under
 * `path`, and those of the folders in it. Names that begin with a dot are left out. */
int context_add_folder(struct spec *spec, const char *folder, const char *suffix, const char *path,
		       mode_t mode, struct arena *arena, struct error *err);

/*
 * Adds image.files under "files/N" to the spec, and a COPY line for each to `layers`, or with
 * `as_script` the shell's lines that do the same. Owners, times and
 * all of the modes but "may be run" are not taken. ERROR_USAGE, naming the path: what is missing,
 * an empty folder, a device or pipe, a link that leads out.
 */
int context_add_user_files(const struct cluster *cluster, bool as_script, struct spec *spec,
			   struct arena *arena, struct str *layers, struct error *err);

#endif
