/* SPDX-License-Identifier: MIT */
/*
 * lock.h - ringup.lock: the stack that was resolved, to be committed beside cluster.yaml.
 *
 * The file is a plan's JSON, with `recipe` (hash of the Dockerfile and its context) and `image` (by
 * digest) once they are known. ringup builds and starts what it says. Only `resolve` changes its
 * versions.
 */
#ifndef PLAN_LOCK_H
#define PLAN_LOCK_H

#include "plan/plan.h"

struct lock {
	struct plan plan;
	const char *recipe, *image; /* "" when not known */
};

/*
 * *found is false when the file does not exist. ERROR_USAGE names the file when it is not a lock.
 */
int lock_read(const char *path, struct arena *arena, struct lock *lock, bool *found,
	      struct error *err);

/* Writes it unless the file says the same already. recipe and image may be NULL. */
int lock_write(const char *path, const struct plan *plan, const char *recipe, const char *image,
	       struct error *err);

/*
 * Whether the lock was made for these requests and this accelerator, and whether all rules that it
 * was allowed to break are in `allow` (NULL: none). If not, ERROR_USAGE says which request was added
 * or removed, or which rule is missing.
 */
int lock_match(const struct lock *lock, const char *path, const char *const *requests,
	       const char *const *allow, const char *accelerator, struct error *err);

/*
 * The processor ("arch"; also for an other processor that comes or goes), or one component of two
 * plans; NULL where one does not have it.
 */
struct lock_change {
	const char *name, *from, *to;
};

#define LOCK_CHANGES_MAX (2 * PLAN_CHOICES_MAX + 2)

/*
 * The processor and the components whose version or package differs; returns how many. Those of the
 * other processor have the same versions.
 */
size_t lock_diff(const struct plan *from, const struct plan *to,
		 struct lock_change changes[static LOCK_CHANGES_MAX]);

/* Whether nothing differs: no component, no overruled rule, and nothing that is pinned. */
bool lock_is_same(const struct plan *from, const struct plan *to);

#endif
