/* SPDX-License-Identifier: MIT */
/*
 * tarball.h - small reproducible tar streams: sorted by the caller, owner 0:0, one time for all.
 */
#ifndef CORE_TARBALL_H
#define CORE_TARBALL_H

#include "core/error.h"

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct tarball {
	void *archive; /* libarchive's; owned */
	const char *name;
	locale_t utf8;	/* owned */
	int64_t time_s; /* of the entries that are added next; 0 unless set */
};

enum tarball_kind { TARBALL_FILE, TARBALL_FOLDER, TARBALL_SYMLINK, TARBALL_HARDLINK };

/* Starts a tar on `out`, which the caller closes after tarball_release. Errors contain `name`. */
int tarball_init(struct tarball *tarball, FILE *out, const char *name, struct error *err);

/*
 * The same in GNU tar's format, for tars that any tar unpacks: its names are any bytes and of any length,
 * where pax wants UTF-8, and busybox's tar reads no name from a pax header.
 */
int tarball_init_gnu(struct tarball *tarball, FILE *out, const char *name, struct error *err);

/* Adds one regular file. */
int tarball_add(struct tarball *tarball, const char *path, const void *bytes, size_t length,
		mode_t mode, struct error *err);

/* Adds anything else: a folder, or a link to `link`. */
int tarball_add_other(struct tarball *tarball, enum tarball_kind kind, const char *path,
		      const char *link, mode_t mode, struct error *err);
/* Writes the end of the archive. */
int tarball_finish(struct tarball *tarball, struct error *err);

/* For _cleanup_; fine after tarball_finish. */
void tarball_release(struct tarball *tarball);

#endif
