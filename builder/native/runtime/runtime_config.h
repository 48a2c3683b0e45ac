/* SPDX-License-Identifier: MIT */
/* runtime_config.h - the config.json of a step's container. */
#ifndef BUILDER_NATIVE_RUNTIME_RUNTIME_CONFIG_H
#define BUILDER_NATIVE_RUNTIME_RUNTIME_CONFIG_H

#include "builder/native/runtime/runtime.h"
#include "core/json.h"

#define STEP_HOST_NAME "ringup-build" /* the same in every build: some package writes it down */

struct run_user {
	uint32_t uid, gid;
	uint32_t groups[64];
	size_t group_count;
	const char *home;
};

/* Looks the user up in the image's own passwd and group. ERROR_USAGE when it has none such. */
int runtime_user(const struct view *view, const char *name, struct arena *arena,
		 struct run_user *user, struct error *err);

/* "NAME[:GROUP]" or numbers to ids, for COPY --chown. */
int runtime_owner(const struct view *view, const char *name, uid_t *uid, gid_t *gid,
		  struct error *err);

/* `root`: the merged folder; `files`: a folder with resolv.conf and hosts. The caller frees. */
cJSON *runtime_config(const struct run_step *step, const struct run_user *user, const char *root,
		      const char *files);

#endif
