/* SPDX-License-Identifier: MIT */
/* context.h - writes a spec as a tar file or a folder, which builders take as their context. */
#ifndef BUILDER_CONTEXT_H
#define BUILDER_CONTEXT_H

#include "plan/spec.h"

/*
 * Writes "Dockerfile" and the spec's files as an uncompressed tar: sorted as the spec has them,
 * owner 0:0, one time, so the same spec gives the same bytes everywhere.
 */
int context_write_tar(const struct spec *spec, const char *path, struct error *err);

/* The authorities of build.ca, in a context. */
#define CONTEXT_CA "build-ca.crt"

/*
 * Writes the same into a folder, for a person to read or to build by hand. A CONTEXT_CA that the
 * Dockerfile of an earlier run copies is deleted when the spec has none.
 */
int context_write_folder(const struct spec *spec, const char *folder, struct error *err);

/*
 * Reads two things from the spec's Dockerfile: whether it runs anything, and its SOURCE_DATE_EPOCH
 * (0 when it has none). Later times in the image become that time.
 */
int spec_about(const struct spec *spec, int64_t *epoch_s, bool *has_steps, struct error *err);

#endif
