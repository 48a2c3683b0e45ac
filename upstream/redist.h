/* SPDX-License-Identifier: MIT */
/*
 * redist.h - cuDNN's archives, from the documents that NVIDIA keeps beside them.
 *
 * Source: https://developer.download.nvidia.com/compute/cudnn/redist/redistrib_9.21.0.json, which has for each
 * processor and CUDA the archive's path below that folder and its SHA-256 checksum.
 */
#ifndef UPSTREAM_REDIST_H
#define UPSTREAM_REDIST_H

#include "upstream/refresh.h"

#define REDIST_CUDNN "developer.download.nvidia.com/compute/cudnn/redist"

/* An archive for x86_64. */
struct redist_archive {
	const char *version; /* "9.21.0.82" */
	const char *built;   /* the CUDA's major version: "13" */
	const char *path;    /* below REDIST_CUDNN, of plain characters */
	const char *sha256;
};

struct redist_list {
	size_t count;
	struct redist_archive *archives;
};

/* The document of one version. Archives with odd names or checksums are left out. */
int redist_read(const char *text, size_t length, const char *what, struct arena *arena,
		struct redist_list *list, struct error *err);

/*
 * The rows of kind `tar` of cudnn.csv, where it has some: asked for are the versions of all its rows since
 * cuDNN 9. A version without a document has no archive.
 */
int refresh_redist(struct refresh *refresh, struct error *err);

#endif
