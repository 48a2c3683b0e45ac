/* SPDX-License-Identifier: MIT */
/* user_files.h - image.files of cluster.yaml: a person's files and folders in the build context. */
#ifndef BUILDER_USER_FILES_H
#define BUILDER_USER_FILES_H

#include "core/str.h"
#include "plan/cluster.h"
#include "plan/spec.h"

/*
 * Adds them under "files/N" to the spec, and a COPY line for each to `layers`, or with
 * `as_script` the shell's lines that do the same. Owners, times and
 * all of the modes but "may be run" are not taken. ERROR_USAGE, naming the path: what is missing,
 * an empty folder, a device or pipe, a link that leads out.
 */
int user_files_add(const struct cluster *cluster, bool as_script, struct spec *spec,
		   struct arena *arena, struct str *layers, struct error *err);

#endif
