/* SPDX-License-Identifier: MIT */
/* tar_source.h - a layer's file as libarchive reads it: plain, gzip (by ISA-L) or zstd. */
#ifndef BUILDER_NATIVE_LAYER_TAR_SOURCE_H
#define BUILDER_NATIVE_LAYER_TAR_SOURCE_H

#include "core/digest.h"
#include "core/str.h"

struct archive;
struct gunzip;

struct tar_source {
	struct archive *tar; /* owned */
	const char *path;    /* borrowed */
	int fd;
	bool at_end;
	struct gunzip *gunzip; /* owned; NULL: the bytes are plain, or libarchive unpacks them */
	char *packed;	       /* owned: what was read of the file */
	struct str plain;      /* what the reader gets next */
	struct digest digest;  /* of the plain bytes */
	bool is_hashed;	       /* false for zstd, whose plain bytes are not seen here */
	struct error *err;
};

/* Opens it; release it in any case. `err` must live as long. */
int tar_source_open(struct tar_source *source, const char *path, struct error *err);
void tar_source_release(struct tar_source *source);

/* Why the last call of libarchive failed. -1. */
int tar_source_failed(struct tar_source *source);

/* Reads what is left and checks the plain bytes against a diffID; NULL: only that it is whole. */
int tar_source_finish(struct tar_source *source, const char *diff_id);

#endif
