/* SPDX-License-Identifier: MIT */
/*
 * tarball.h - small reproducible tar streams: sorted by the caller, owner 0:0, time 0.
 */
#ifndef CORE_TARBALL_H
#define CORE_TARBALL_H

#include "core/error.h"

#include <locale.h>
#include <stdio.h>
#include <sys/types.h>

struct tarball {
	void *archive; /* libarchive's; owned */
	const char *name;
	locale_t utf8; /* owned */
};

/* Starts a tar on `out` (kept open; the caller closes it after tarball_release). `name` stands in
 * errors. */
int tarball_init(struct tarball *tarball, FILE *out, const char *name, struct error *err);

/* Adds one regular file. */
int tarball_add(struct tarball *tarball, const char *path, const void *bytes, size_t length,
		mode_t mode, struct error *err);

/* Writes the end of the archive. */
int tarball_finish(struct tarball *tarball, struct error *err);

/* For _cleanup_; fine after tarball_finish. */
void tarball_release(struct tarball *tarball);

#endif
