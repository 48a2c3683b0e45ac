/* SPDX-License-Identifier: MIT */
/* copied.h - the two ends of a folder's copy on this machine: what there is, the tar that is sent, the tar that comes. */
#ifndef DEPLOYER_COPY_COPIED_H
#define DEPLOYER_COPY_COPIED_H

#include "core/digest.h"
#include "core/words.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

struct copied_file {
	const char *path; /* below the folder, plain: "a/b" */
	uint64_t bytes;
	char sum[DIGEST_TEXT_BYTES]; /* "" for all but regular files */
	mode_t mode;		     /* with the kind: S_IFREG, S_IFDIR or S_IFLNK */
	bool left_out;		     /* the other side has it */
};

struct copied {
	const char *folder;
	size_t count, capacity;
	struct copied_file *files;
};

/*
 * All that is in the folder, folders before what is in them, with the sum of each file. A file of another kind is ERROR_USAGE.
 */
int copied_read(const char *folder, struct arena *arena, struct copied *tree, struct error *err);

/* The same entry again, or NULL. The files are sorted by name. */
struct copied_file *copied_find(const struct copied *tree, const char *path);

/* Adds a name; the caller sorts by copied_sort before copied_find. */
struct copied_file *copied_add(struct copied *tree, const char *path, struct arena *arena);
void copied_sort(struct copied *tree);

/* A tar that goes through a pipe on a thread of its own. */
struct copied_stream {
	struct copied *tree;
	int pipes[2]; /* the side of the thread is closed by it */
	int folder;   /* for what comes: a descriptor of the target */
	pthread_t thread;
	struct error err; /* of the thread */
};

/* Begins to write the files that are not left out; *fd is for whoever reads the tar. */
int copied_send_begin(struct copied_stream *stream, struct copied *tree, int *fd,
		      struct error *err);

/*
 * Begins to take a tar into `folder`; *fd is for whoever writes it. Files that are not in the tree, devices and names that
 * leave the folder end it with an error; what comes after that is read and dropped. It notes size, kind and sum of what came.
 */
int copied_take_begin(struct copied_stream *stream, struct copied *tree, int folder, int *fd,
		      struct error *err);

/* Closes the caller's side and waits. -1 with the thread's error. */
int copied_end(struct copied_stream *stream, int *fd, struct error *err);

#endif
