/* SPDX-License-Identifier: MIT */
/*
 * temporary.h - a large file or folder that is made beside its place and then renamed to it:
 * PATH.unfinished-XXXXXX.
 *
 * A process that is killed leaves it behind; whoever makes one for the same path later, by two
 * seconds at least, removes it. The descriptor holds a lock that says who still lives. Where the
 * file system has no locks, nothing is removed.
 */
#ifndef CORE_TEMPORARY_H
#define CORE_TEMPORARY_H

#include "core/arena.h"
#include "core/error.h"

enum temporary_kind { TEMPORARY_FILE, TEMPORARY_FOLDER };

/*
 * Makes one; a descriptor of it (a file's is for writing), which must stay open until it is renamed
 * or removed, or -1. *temporary is in the arena.
 */
int temporary_make(const char *path, enum temporary_kind kind, struct arena *arena,
		   const char **temporary, struct error *err);

#endif
