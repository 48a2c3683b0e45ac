/* SPDX-License-Identifier: MIT */
/* runtime_config.h - the config.json of a step's container. */
#ifndef BUILDER_NATIVE_RUNTIME_RUNTIME_CONFIG_H
#define BUILDER_NATIVE_RUNTIME_RUNTIME_CONFIG_H

#include "builder/native/runtime/runtime.h"
#include "builder/native/runtime/runtime_user.h"
#include "core/json.h"

#define STEP_HOST_NAME "ringup-build" /* the same in every build: some packages write it down */

/* `root`: the merged folder; `files`: a folder with resolv.conf and hosts. The caller frees. */
cJSON *runtime_config(const struct run_step *step, const struct run_user *user, const char *root,
		      const char *files);

#endif
