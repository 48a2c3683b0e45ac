/* SPDX-License-Identifier: MIT */
/*
 * limits.h - the ceilings of images: nothing that comes out of a registry, a layout or an archive
 * grows past one of these.
 */
#ifndef OCI_LIMITS_H
#define OCI_LIMITS_H

#include "core/base.h"

/* A registry must take manifests of 4 MiB: OCI distribution-spec 1.1, "Pushing Manifests". */
#define MANIFEST_BYTES_MAX (4 * MIB)
#define LAYERS_MAX 1024
/*
 * The largest file of ext4. All blobs that PAGES_BYTES_MAX can name (2^18) are still fewer bytes
 * together than an int64_t counts.
 */
#define BLOB_BYTES_MAX (16 * TIB)
#define IMAGE_BLOBS_MAX 32768 /* of all images under one name */
#define IMAGE_PAGES_MAX 8192  /* manifests and indexes under one name */
#define LAYOUT_PATH_BYTES 4096
#define PARTIAL_PARTS_MAX 8 /* of one blob that arrive at the same time */
#define INDEX_ENTRIES_MAX 4096
#define PAGES_BYTES_MAX (32 * MIB) /* manifests and indexes under one name, each counted once */
#define INDEX_DEPTH_MAX 4	   /* an index within an index within ... */
#define PLATFORM_TEXT_BYTES 64
#define MEDIA_TYPE_BYTES 256 /* RFC 6838, 4.2: two names of at most 127 characters */

#define LAYER_ENTRIES_MAX 4000000 /* of a folder here that becomes a layer */

/* What an image may unpack to: budget.h. */
#define ZSTD_WINDOW_LOG_MAX 27 /* 128 MiB of memory: zstd --long, RFC 8878 section 3.1.1.1.2 */

/* Notes of known layers (known.h) */
#define KNOWN_FILES_MAX 4096
#define KNOWN_DAYS_MAX 180 /* after the last time that somebody asked for one */

/* docker-archive files */
#define ARCHIVE_ENTRIES_MAX 65536
#define ARCHIVE_NAME_BYTES_MAX 512
#define ARCHIVE_JSON_BYTES_MAX (4 * MIB)
#define ARCHIVE_JSON_TOTAL_BYTES_MAX (64 * MIB)
#define ARCHIVE_LINKS_MAX 8 /* a layer that is a link to a link to ... */

#endif
