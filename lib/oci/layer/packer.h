/* SPDX-License-Identifier: MIT */
/*
 * packer.h - layers, tar bytes in, gzip blobs in a layout out, on all processors.
 *
 * One thread reads and hashes the plain bytes (diffID); blocks of GZIP_BLOCK_BYTES are deflated by
 * any thread that is free; finished blocks are hashed (blob digest) and written in their order by
 * one thread at a time. Memory is a fixed ring of blocks. With one thread, the reader does all of
 * it.
 */
#ifndef OCI_LAYER_PACKER_H
#define OCI_LAYER_PACKER_H

#include "oci/manifest.h"

struct packer;

/*
 * Runs `read` (in one of the threads of a pool) with a packer that it may use for one layer after
 * the other; returns what it returns.
 */
int packer_run(int (*read)(void *arg, struct packer *packer, struct error *err), void *arg,
	       struct error *err);

/* Begins a layer in this layout. */
int packer_begin(struct packer *packer, const char *layout_folder, struct error *err);
int packer_add(struct packer *packer, const void *bytes, size_t length, struct error *err);
/* Ends it: the digest of the plain bytes, and the blob. */
int packer_end(struct packer *packer, char diff_id[static DIGEST_TEXT_BYTES],
	       struct descriptor *blob, struct error *err);
/* Gives up a layer that was begun; nothing of it stays. Without one, it does nothing. */
void packer_cancel(struct packer *packer);

#endif
