/* SPDX-License-Identifier: MIT */
/*
 * userns.h - work as root for a person who is not root: in a user namespace, in which they are
 * root, and their subordinate ids (subids.h) are the other ids.
 *
 * What is made there has owners, modes and links as if root had made it; only root, and the person
 * in such a namespace, can remove it. Nothing outside of the namespace becomes writable by it.
 * Source: user_namespaces(7); newuidmap(1), which checks the ranges, since the kernel lets a person
 * map no id but their own.
 */
#ifndef BUILDER_NATIVE_RUNTIME_USERNS_H
#define BUILDER_NATIVE_RUNTIME_USERNS_H

#include "core/arena.h"
#include "core/error.h"

/* Whether this process is in a user namespace that does not have all ids of the machine. */
bool userns_inside(void);

/* Whether userns_run works here; *why is one sentence with the fix when not (arena). Cheap. */
bool userns_available(struct arena *arena, const char **why);

/*
 * Runs `fn` as root of new user and mount namespaces, in a child: what it does to memory is lost,
 * its result and its error come back. Ctrl-C reaches it, and it ends when the caller's process
 * ends, for whatever reason. The caller must hold no locks.
 */
int userns_run(int (*fn)(void *arg, struct error *err), void *arg, struct error *err);

#endif
