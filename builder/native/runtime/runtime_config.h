/* SPDX-License-Identifier: MIT */
/*
 * runtime_config.h - the config.json of a step's container. It gives a step what Docker gives:
 *
 * - the masked and the read-only paths: moby, daemon/pkg/oci/defaults.go (/proc/sys is read-only,
 *   so no sysctl changes, those of the shared network among them);
 * - its default seccomp profile (seccomp.h), and no devices but OCI's default ones, with moby's
 *   rules for the device cgroup;
 * - its default capabilities without CAP_NET_RAW: Docker gives that for a network of the
 *   container's own, and a step has the machine's.
 *
 * "no new privileges" is off, as in Docker: package tools start setuid programs.
 */
#ifndef BUILDER_NATIVE_RUNTIME_RUNTIME_CONFIG_H
#define BUILDER_NATIVE_RUNTIME_RUNTIME_CONFIG_H

#include "builder/native/runtime/runtime.h"
#include "builder/native/runtime/runtime_user.h"
#include "core/json.h"

#define STEP_HOST_NAME "ringup-build" /* the same in every build: some packages write it down */

/* The place of a step's container. */
struct container {
	const char *root;	 /* the merged folder */
	const char *files;	 /* a folder with resolv.conf and hosts */
	bool has_seccomp;	 /* the runtime filters system calls */
	bool rules_devices;	 /* the device cgroup works; if not, the step has no CAP_MKNOD */
	bool in_userns;		 /* ringup itself is in a user namespace */
	const struct idmap *map; /* the step gets a user namespace with these ids; or NULL */
};

/* The caller frees *config. Errors: the profile's file cannot be read. */
int runtime_config(const struct run_step *step, const struct run_user *user,
		   const struct container *container, cJSON **config, struct error *err);

#endif
