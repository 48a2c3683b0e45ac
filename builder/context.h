/* SPDX-License-Identifier: MIT */
/*
 * context.h - a spec as a tar file or a folder: what a builder is handed.
 */
#ifndef BUILDER_CONTEXT_H
#define BUILDER_CONTEXT_H

#include "plan/spec.h"

/*
 * Writes "Dockerfile" and the spec's files as an uncompressed tar: sorted as the spec has them,
 * owner 0:0, one time, so the same spec gives the same bytes everywhere.
 */
int context_write_tar(const struct spec *spec, const char *path, struct error *err);

/* Writes the same into a folder, for a person to read or to build by hand. */
int context_write_folder(const struct spec *spec, const char *folder, struct error *err);

/* Of the spec's Dockerfile: its SOURCE_DATE_EPOCH, which later times become (0 when it has none),
 * and whether it runs anything. */
int spec_about(const struct spec *spec, int64_t *epoch_s, bool *has_steps, struct error *err);

#endif
