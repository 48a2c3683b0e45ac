/* SPDX-License-Identifier: MIT */
/*
 * whiteout.h - the names by which a layer says that something of the layers below is gone.
 *
 * Source: OCI image-spec 1.1, layer.md, "Whiteouts": an entry ".wh.NAME" removes NAME, and an entry
 * ".wh..wh..opq" hides all that the layers below have in its folder. Other names that begin with
 * ".wh..wh." are the bookkeeping of aufs, and remove nothing.
 */
#ifndef OCI_LAYER_WHITEOUT_H
#define OCI_LAYER_WHITEOUT_H

#include "core/error.h"
#include "core/file.h"

#define WHITEOUT_PREFIX ".wh."
#define WHITEOUT_OPAQUE_NAME ".wh..wh..opq"
#define WHITEOUT_AUFS_PREFIX ".wh..wh."

enum whiteout {
	WHITEOUT_NONE = 0, /* an ordinary entry */
	WHITEOUT_REMOVED,  /* `target` is gone */
	WHITEOUT_OPAQUE,   /* what the layers below have in the folder `target` is gone */
	WHITEOUT_IGNORED,  /* aufs' own */
};

/*
 * What the entry of that plain path (path_plain) says, and about which path ("" is the top). -1: it
 * names nothing that could be removed (".wh.", ".wh..", ".wh...").
 */
int whiteout_find(const char *path, enum whiteout *kind, char target[static PATH_PLAIN_BYTES],
		  struct error *err);

#endif
