/* SPDX-License-Identifier: MIT */
/*
 * idmap.h - a user namespace for a step that root starts, without changed owners on disk.
 *
 * The step's ids, from 0 on, are ids of the machine that nobody has: its root is nobody outside. An
 * ID-mapped mount of the store gives these ids to what the lower ids own on disk, and back, so a
 * layer has the same owners, and the same digest, as without. Sources: mount_setattr(2), Linux 5.12
 * for the mount and 5.19 for overlayfs on top of it; user_namespaces(7).
 */
#ifndef BUILDER_NATIVE_RUNTIME_IDMAP_H
#define BUILDER_NATIVE_RUNTIME_IDMAP_H

#include "core/arena.h"
#include "core/error.h"

/* How many ids a step has: more than the users of any image need. */
#define IDMAP_LENGTH (1UL << 24)

struct idmap {
	unsigned long start; /* the machine's id for the step's id 0 */
	int fd;		     /* of the user namespace, which lives as long as this; -1: none */
};

/*
 * Makes the namespace, and tries it on `folder`. Errors: one sentence on what is missing here, such
 * as a file system without such mounts. The caller always releases *map.
 */
int idmap_make(struct idmap *map, const char *folder, struct error *err);
void idmap_release(struct idmap *map);

/* Mounts `folder` on the folder `at`, in this thread's mount namespace. */
int idmap_mount(const struct idmap *map, const char *folder, const char *at, struct error *err);

/*
 * Mounts overlayfs with these options on the folder `at`. Its own work in the upper folder is done
 * with the ids of the one who mounts, so this thread takes those of the step's root meanwhile. No
 * device node in it can be opened.
 */
int idmap_mount_overlay(const struct idmap *map, const char *options, const char *at,
			struct error *err);

#endif
