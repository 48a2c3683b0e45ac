/* SPDX-License-Identifier: MIT */
/* copy.h - an image from one layout to another. */
#ifndef OCI_COPY_H
#define OCI_COPY_H

#include "oci/manifest.h"

/*
 * Copies the manifest and all that it names, each blob checked against its digest; blobs that are
 * there already are left alone. The name in index.json is the caller's to give.
 */
int layout_copy(const char *from, const struct descriptor *manifest, const char *to,
		struct arena *arena, struct error *err);

#endif
