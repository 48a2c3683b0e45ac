/* SPDX-License-Identifier: MIT */
/* runtime_user.h - users and groups as the image's own passwd and group name them. */
#ifndef BUILDER_NATIVE_RUNTIME_RUNTIME_USER_H
#define BUILDER_NATIVE_RUNTIME_RUNTIME_USER_H

#include "builder/native/runtime/view.h"

struct run_user {
	uint32_t uid, gid;
	uint32_t groups[64];
	size_t group_count;
	const char *home;
};

/* Looks up "NAME[:GROUP]" or numbers. ERROR_USAGE when the image has no such user or group. */
int runtime_user(const struct view *view, const char *name, struct arena *arena,
		 struct run_user *user, struct error *err);

/* The two ids for COPY --chown. */
int runtime_owner(const struct view *view, const char *name, uid_t *uid, gid_t *gid,
		  struct error *err);

#endif
