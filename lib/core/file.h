/* SPDX-License-Identifier: MIT */
/*
 * file.h - whole files, folders, and where the project's data lies.
 *
 * Every function names the path in its error.
 */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include "core/arena.h"
#include "core/error.h"
#include "core/str.h"

#include <stdio.h>
#include <sys/types.h>

#define FILE_CEILING_BYTES (16 * MIB) /* for files that people write or that we keep */

/* For _cleanup_ on an int descriptor or a FILE *. */
void fd_close(int *fd);
void file_close(FILE **file);

/*
 * Opens a file for reading. A folder, device, socket or named pipe in its place is refused without
 * waiting, because it could keep a reader for ever; /dev/null reads as an empty file. A pipe that
 * was handed over (/dev/stdin, /dev/fd/63 of a shell's "<(...)") is taken.
 */
int file_open(const char *path, int *fd, struct error *err);

/*
 * Reads the whole file (see file_open) into the arena, NUL-terminated. A file over `ceiling_bytes`
 * is an error. Ctrl-C ends the wait for a pipe.
 */
int file_read(const char *path, size_t ceiling_bytes, struct arena *arena, char **text,
	      size_t *length, struct error *err);

/*
 * The same for a file that a person named. A named pipe is taken, too, if somebody writes into it
 * within FILE_WRITER_WAIT_S seconds.
 */
#define FILE_WRITER_WAIT_S 2
int file_read_named(const char *path, size_t ceiling_bytes, struct arena *arena, char **text,
		    size_t *length, struct error *err);

/*
 * Reads from the descriptor's position until the buffer is full or the file ends, into memory of the
 * caller: the bytes are in no other place. How many there were, or -1 with errno. Ctrl-C ends a wait.
 */
ssize_t file_fill(int fd, void *bytes, size_t room);

/*
 * Writes to a temporary file beside `path`, syncs and renames: readers see the old or the new
 * content, never a part. The umask does not change `mode`. If file_is_stream is true for the path,
 * the bytes are written into it directly.
 */
int file_write(const char *path, const void *bytes, size_t length, mode_t mode, struct error *err);

/*
 * Syncs the open file `from` and renames it to `to`: whatever happens to the machine, `to` is the whole
 * file or what it was before. All that is found again by its name and then trusted goes this way. -1
 * with errno.
 */
int file_put(int fd, const char *from, const char *to);

/* Writes all of it, however often write(2) stops. -1 with errno. */
int file_write_all(int fd, const void *from, size_t length);

/*
 * Lets the kernel begin to write a large file to disk while more of it is made, so that file_put need
 * not wait long. `added_bytes` have just been written, at the end of `done_bytes`.
 */
void file_write_behind(int fd, uint64_t done_bytes, size_t added_bytes);

/* Whether the path is something that must not be replaced: a device, a pipe, a socket. */
bool file_is_stream(const char *path);

bool file_exists(const char *path);

/* Like mkdir -p; new folders get `mode`. */
int folder_make(const char *path, mode_t mode, struct error *err);

/*
 * Like rm -rf, but it follows no links and stays on one file system. A missing folder is no error.
 */
int folder_remove(const char *path, struct error *err);

/* Names in the folder that end in `suffix`, sorted, NULL-terminated, in the arena. */
int folder_list(const char *path, const char *suffix, struct arena *arena, const char ***names,
		struct error *err);

/*
 * Takes an exclusive lock on `path` (made if missing). It lasts until the descriptor is closed or
 * the process ends. When the lock is taken, it fails at once and says that another ringup is at
 * work.
 */
int file_lock(const char *path, int *fd, struct error *err);

/* The same, beside others that hold it by this function. */
int file_lock_shared(const char *path, int *fd, struct error *err);

/*
 * Waits for an exclusive lock on a folder, which lasts until the descriptor is closed. Use it only
 * for short changes. Returns -1, without an error, when the file system has no locks or Ctrl-C ended
 * the wait.
 */
int folder_lock(const char *path);

/*
 * The folder that holds recipes/, deployer/remote/ and images/: $RINGUP_SHARE, else the source tree
 * that build/ringup lies in, else PREFIX/share/ringup beside PREFIX/bin/ringup.
 */
int share_path(struct arena *arena, const char *relative, const char **path, struct error *err);

/*
 * The user's home: $HOME, or the one of the system's list of users when that is unset, empty or
 * relative. "/" when there is none there either, as a program without a user has it.
 */
const char *path_home(struct arena *arena);

/*
 * The folder that the variable names, or NULL when it is unset, empty or relative: the XDG base
 * directory specification says that a relative path is to be ignored.
 */
const char *path_from_environment(const char *variable);

/*
 * The folder for data that is kept between runs and may be lost: $XDG_CACHE_HOME/ringup or
 * ~/.cache/ringup.
 */
const char *path_cache_folder(struct arena *arena);

/* When the file's content or attributes last changed (ctime), in nanoseconds since 1970. */
struct stat;
int64_t file_changed_ns(const struct stat *st);

/* The folder that this program lies in. */
const char *path_program_folder(struct arena *arena);

/*
 * Replaces "~" and the "~" of "~/..." with the home folder. Relative paths are relative to `base` (NULL: they stay as they
 * are).
 */
const char *path_expand(struct arena *arena, const char *base, const char *path);

/* The part before the last slash ("." when there is none). */
const char *path_folder(struct arena *arena, const char *path);

/*
 * Turns an archive's name "./a//b/" into "a/b". False when it leaves the tree or is longer than
 * half of PATH_PLAIN_BYTES.
 */
#define PATH_PLAIN_BYTES 4096
bool path_plain(const char *name, char path[static PATH_PLAIN_BYTES]);

#endif
