/* SPDX-License-Identifier: MIT */
/*
 * private.h - files and folders that only this user can change, or only this user can read.
 *
 * What ringup keeps and trusts later must be writable by its own user only. Otherwise another user of
 * the machine decides what is in the next image. Root is one more user here: what an ordinary user can
 * write is not root's own. The file itself is looked at by an open descriptor. The folders above a path
 * are looked at by name: whoever could exchange one of them is who the check finds.
 *
 * In a user namespace, the user's own files belong to id 0, and so does the process: the same rule
 * holds there. The files of subordinate ids lie below folders that this rule protects.
 *
 * All errors are ERROR_FAILED and name the path, the owner and what to do.
 */
#ifndef CORE_PRIVATE_H
#define CORE_PRIVATE_H

#include "core/error.h"

struct stat;

/* Whether it belongs to this process's user, and neither its group nor others may write it. */
bool private_is_own(const struct stat *st);

/* The same for an open file or folder. */
bool private_has_own(int fd);

/*
 * Fails when the file or folder belongs to another user, or others may write it. Something that does
 * not exist is fine.
 */
int private_check(const char *path, struct error *err);

/*
 * The same, and no folder above it may belong to an ordinary user other than this one, or be writable
 * by everybody without the sticky bit: such a user could put another folder in its place.
 */
int private_check_above(const char *path, struct error *err);

/*
 * A folder for secrets: like folder_make with 0700, and one that is there already is put to 0700. A
 * link in its place, and a folder of another user, are refused, since somebody else could exchange
 * what lies in it.
 */
int private_folder(const char *path, struct error *err);

/* The same for a file that is there: 0600. A missing file is no error. */
int private_file(const char *path, struct error *err);

#endif
