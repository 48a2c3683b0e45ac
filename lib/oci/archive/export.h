/* SPDX-License-Identifier: MIT */
/* export.h - an image of a layout as a docker-archive file. */
#ifndef OCI_ARCHIVE_EXPORT_H
#define OCI_ARCHIVE_EXPORT_H

#include "oci/manifest.h"

/*
 * Writes an image of a layout as a docker-archive to `fd`, which may be a pipe: manifest.json, and
 * config and layers as blobs/sha256/HEX, as they are, each checked against its digest. It is an OCI layout in a tar file as well.
 * `name` ("train:1", or NULL) is its RepoTag. Docker Engine 20.10 and later and Podman load it. The
 * same image and name give the same bytes. An index is an error: choose one image of it.
 */
int archive_export(const char *layout_folder, const struct descriptor *manifest, const char *name,
		   int fd, struct error *err);

#endif
