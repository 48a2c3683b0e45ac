/* SPDX-License-Identifier: MIT */
/*
 * ignore.h - which files of a folder are not for the containers: the patterns of `.ringupignore`.
 *
 * The file has one pattern per line, with the meaning that gitignore(5) gives it:
 *
 *   # text        a comment; "\#" begins a name with '#'
 *   *.ckpt        names in any folder; *, ? and [a-z] stand for anything but '/'
 *   data/         only folders, with all that is in them
 *   /data, a/b    with a '/' at the beginning or inside: relative to the folder of the file
 *   a/ ** /b      (without the blanks) any number of folders in between, also at the beginning;
 *                 at the end: everything below
 *   !keep.ckpt    this one is taken after all; the last pattern that fits decides
 *
 * What lies in an ignored folder cannot be taken back. Only the file at the top of the folder is read.
 * The first patterns, which stand before those of the file, are .git and __pycache__. A folder .ringup
 * holds keys, and `.ringup-sync` is the record in the container: neither is ever taken.
 */
#ifndef DEPLOYER_JOB_SYNC_IGNORE_H
#define DEPLOYER_JOB_SYNC_IGNORE_H

#include "core/arena.h"
#include "core/error.h"

#define IGNORE_FILE ".ringupignore"

struct ignore_rule;

struct ignore {
	struct arena *arena;
	struct ignore_rule *rules;
	size_t count, capacity;
};

/* Only the first patterns. */
void ignore_init(struct ignore *ignore, struct arena *arena);

/* Adds the patterns of a text, which may hold any bytes. */
void ignore_add(struct ignore *ignore, const char *text);

/* Adds those of FOLDER/.ringupignore; none when there is no such file. */
int ignore_load(struct ignore *ignore, const char *folder, struct error *err);

/* Whether a path is left out. It is relative to the folder: "a/b.py". Its folders were asked for before. */
bool ignore_has(const struct ignore *ignore, const char *path, bool is_folder);

#endif
