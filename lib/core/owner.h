/* SPDX-License-Identifier: MIT */
/*
 * owner.h - who can change a file or a folder.
 *
 * What ringup keeps and trusts later must be writable by its own user only. Otherwise another user of
 * the machine decides what is in the next image. All checks look at what is open (fstat), never at a
 * path that somebody may exchange meanwhile. Root is one more user here: what an ordinary user can
 * write is not root's own.
 *
 * In a user namespace, the user's own files belong to id 0, and so does the process: the same rule
 * holds there. The files of subordinate ids lie below folders that this rule protects.
 */
#ifndef CORE_OWNER_H
#define CORE_OWNER_H

#include "core/error.h"

struct stat;

/* Whether it belongs to this process's user, and neither its group nor others may write it. */
bool owner_is_own(const struct stat *st);

/* The same for an open file or folder. */
bool owner_has_own(int fd);

/*
 * Fails when the file or folder belongs to another user, or others may write it. The error names the
 * path, the owner, and what to do. Something that does not exist is fine.
 */
int owner_check(const char *path, struct error *err);

/*
 * The same, and no folder above it may belong to an ordinary user other than this one, or be writable
 * by everybody without the sticky bit: such a user could put another folder in its place.
 */
int owner_check_above(const char *path, struct error *err);

#endif
