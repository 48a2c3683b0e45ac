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
#define LAYOUT_PATH_BYTES 4096
#define MEDIA_TYPE_BYTES 256 /* RFC 6838, 4.2: two names of at most 127 characters */

/* docker-archive files */
#define ARCHIVE_ENTRIES_MAX 65536
#define ARCHIVE_NAME_BYTES_MAX 512
#define ARCHIVE_JSON_BYTES_MAX (4 * MIB)
#define ARCHIVE_JSON_TOTAL_BYTES_MAX (64 * MIB)
#define ARCHIVE_LINKS_MAX 8 /* a layer that is a link to a link to ... */

#endif
