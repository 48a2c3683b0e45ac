/* SPDX-License-Identifier: MIT */
/*
 * temporary.h - a large file or folder that is made beside its place and then renamed to it:
 * PATH.unfinished-XXXXXX.
 *
 * A process that is killed leaves it behind. The next call for the same path removes it if it is at
 * least two seconds old. The descriptor holds a lock, which shows that its process still lives.
 * Where the file system has no locks, nothing is removed.
 */
#ifndef CORE_TEMPORARY_H
#define CORE_TEMPORARY_H

#include "core/arena.h"
#include "core/error.h"

enum temporary_kind { TEMPORARY_FILE, TEMPORARY_FOLDER };

/*
 * Makes one and returns a descriptor of it, or -1. A file's descriptor is for writing. It must stay
 * open until the file or folder is renamed or removed. *temporary is in the arena.
 */
int temporary_make(const char *path, enum temporary_kind kind, struct arena *arena,
		   const char **temporary, struct error *err);

#endif
