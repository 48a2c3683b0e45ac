/* SPDX-License-Identifier: MIT */
/*
 * verified.h - which blobs of a layout were hashed before, so that none is hashed at every command.
 *
 * A note holds a blob's digest, and inode, size, mtime and ctime of its file. It counts while the
 * file has all of these. Notes are slots of a small file FOLDER/.verified, chosen by the digest. A
 * note that is lost, torn or overwritten costs one more hash and nothing else, so the file needs
 * no lock and no sync. A file that others may write is not used.
 */
#ifndef OCI_VERIFIED_H
#define OCI_VERIFIED_H

#include "core/digest.h"

struct stat;

/* Whether the blob in this file was noted, and the file has not changed since. */
bool verified_recall(const char *layout_folder, const char *digest, const struct stat *st);

/* Notes that the file has the digest. What cannot be noted is hashed again. */
void verified_note(const char *layout_folder, const char *digest, const struct stat *st);

#endif
