/* SPDX-License-Identifier: MIT */
/*
 * releases.h - Open MPI's list of releases.
 *
 * Source: Open MPI's documentation, "Detecting new releases programmatically": releases.json names the series, and
 * each series has a releases.json with the archives and their checksums. Both begin with series 4.1.
 */
#ifndef UPSTREAM_RELEASES_H
#define UPSTREAM_RELEASES_H

#include "upstream/refresh.h"

#define OPENMPI_SITE "www.open-mpi.org/software/ompi"

/* A release that is no prerelease. */
struct release {
	const char *version;
	char month[8];		      /* "2026-09", or "" */
	const char *bz2, *bz2_sha256; /* URL and checksum of the archive, or "" */
	const char *gz, *gz_sha256;
};

struct release_list {
	size_t count;
	struct release *releases;
};

/* The series of the index, "5.0", NULL-terminated. */
int releases_read_index(const char *text, size_t length, const char *what, struct arena *arena,
			const char *const **series, struct error *err);

/* The document of one series. Releases and files with odd names are left out. */
int releases_read_series(const char *text, size_t length, const char *what, struct arena *arena,
			 struct release_list *list, struct error *err);

/* openmpi.csv */
int refresh_openmpi(struct refresh *refresh, struct error *err);

#endif
