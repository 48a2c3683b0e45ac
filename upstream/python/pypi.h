/* SPDX-License-Identifier: MIT */
/*
 * pypi.h - an index of Python packages: PyPI, or a mirror of it.
 *
 * What is asked for is the simple index in JSON (PEP 691), which most mirrors serve too, or as a web page (simple_html.h),
 * and the METADATA file of a wheel: beside the wheel where the index says so (PEP 658 and 714), otherwise out of the
 * wheel by HTTP ranges.
 */
#ifndef UPSTREAM_PYTHON_PYPI_H
#define UPSTREAM_PYTHON_PYPI_H

#include "upstream/python/metadata.h"
#include "upstream/web.h"

#define PYPI_INDEX "https://pypi.org/simple"

struct pypi {
	const struct web *web;
	const char *index; /* "https://pypi.org/simple", without a slash at its end */
	struct arena *arena;
};

/* A file of a release (package_is_release) that is not yanked. */
struct pypi_file {
	const char *version, *filename, *url;
	const char *build;  /* the local part of the version: "cu126" of 2.13.0+cu126, or "" */
	const char *sha256; /* 64 digits, or "" */
	const char *requires_python; /* as the index has it, or "" */
	char month[8];		     /* of the upload, "2026-11", or "" */
	bool is_wheel;		     /* false: an archive of sources, .tar.gz or .zip */
	bool has_metadata;	     /* URL.metadata is there */
	const char *pythons, *abi,
		*platforms; /* of a wheel: "cp311", "cp311", "manylinux_2_28_x86_64" */
};

struct pypi_page {
	const char *name; /* normalised */
	size_t count;
	struct pypi_file *files;
	struct error err; /* has a kind when the index did not give the page */
};

/* Reads a page that came from `url`. Files with odd names, URLs or versions are left out. */
int pypi_page_parse(const char *text, size_t length, const char *url, const char *name,
		    struct arena *arena, struct pypi_page *page, struct error *err);

/* The pages of several packages. -1 only for an interruption. */
int pypi_pages(const struct pypi *pypi, const char *const *names, size_t count,
	       struct pypi_page *pages, struct error *err);

/* What one wheel needs. */
struct pypi_metadata {
	const struct pypi_file *file;
	struct metadata metadata;
	struct error err; /* has a kind when it could not be read */
};

/* Reads the METADATA of each `file` of the list. -1 only for an interruption. */
int pypi_metadata(const struct pypi *pypi, struct pypi_metadata *list, size_t count,
		  struct error *err);

/* The files of that build alone, as a page whose versions have no local part. The texts are the page's. */
void pypi_page_build(const struct pypi_page *page, const char *build, struct arena *arena,
		     struct pypi_page *out);

/* The first error of the list: 0 when all could be read. */
int pypi_metadata_error(const struct pypi_metadata *list, size_t count, struct error *err);

/*
 * Whether the wheel runs on Linux of x86_64, with CPython of any version or none in particular. A build with a local
 * part never does: PyPI has none (PEP 440), so it belongs to another index.
 */
bool pypi_fits_x86_64(const struct pypi_file *file);

/* The same for aarch64. */
bool pypi_fits_aarch64(const struct pypi_file *file);

/* The glibc that the wheel's platform asks for: "2.28" for manylinux_2_28, or "". */
const char *pypi_glibc(const struct pypi_file *file, struct arena *arena);

/*
 * The page's versions, each once, the oldest first, NULL-terminated. `fits` chooses which files count.
 */
const char *const *pypi_versions(const struct pypi_page *page,
				 bool (*fits)(const struct pypi_file *file), struct arena *arena);

/* The first file of the version that fits, or NULL. */
const struct pypi_file *pypi_find(const struct pypi_page *page, const char *version,
				  bool (*fits)(const struct pypi_file *file));

/*
 * A requirement cell for the Pythons that the version's wheels are for: ">=3.10;<3.15", "==2.7.*|>=3.5;<3.7"; ""
 * when the wheels are for no Python in particular.
 */
const char *pypi_pythons(const struct pypi_page *page, const char *version, struct arena *arena);

#endif
