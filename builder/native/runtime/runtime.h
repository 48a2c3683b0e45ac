/* SPDX-License-Identifier: MIT */
/*
 * runtime.h - one command in a container on top of layers: what a RUN step is.
 *
 * An overlay mount in a mount and process namespace of its own, and in it an OCI runtime, crun or
 * runc: however ringup ends, the namespaces end too, with their processes and mounts. The
 * container has the machine's network (a build fetches packages) and no resource limits; what else
 * it may do is in runtime_config.h. It needs root, which may be that of a user namespace
 * (userns.h), where overlayfs keeps its marks in user.overlay.*. Sources: OCI runtime-spec 1.0,
 * config.md and config-linux.md.
 */
#ifndef BUILDER_NATIVE_RUNTIME_RUNTIME_H
#define BUILDER_NATIVE_RUNTIME_RUNTIME_H

#include "builder/native/runtime/idmap.h"
#include "builder/native/runtime/view.h"
#include "builder/native/store.h"

struct run_step {
	const struct view *below; /* all of them folders */
	const char *const *words;
	const char *const *env;			   /* NAME=VALUE */
	const char *cwd;			   /* absolute */
	const char *user;			   /* "", "NAME", "UID", each with ":GROUP" */
	void (*line)(void *arg, const char *line); /* each line of output */
	void *arg;
	const atomic_bool *stop; /* ends it early when set; may be NULL */
	bool interactive;	 /* on ringup's terminal, for a person */
};

struct run_result {
	int status;	    /* of the command */
	const char *upper;  /* what it changed, in overlayfs' form; in the arena */
	const char *output; /* the last of what it printed */
};

/* The OCI runtime that works here, "crun" or "runc"; NULL when there is none. */
const char *runtime_name(void);

/* How the steps of one build run. */
struct runtime {
	const char *name; /* as runtime_name has it */
	bool has_seccomp; /* it filters system calls */
	/* Its device cgroup works. If not, a step cannot make device nodes, and none can be opened. */
	bool rules_devices;
	bool in_userns;	  /* this process is in a user namespace */
	struct idmap map; /* a user namespace for the steps of root; without one, its fd is -1 */
};

/*
 * Finds out how steps run on this machine, with layers in `folder`, and warns of what a step would
 * not be kept from. `userns` is build.userns of cluster.yaml; "always" fails where root's steps
 * cannot have a user namespace. It starts the runtime, so it is called once for a build.
 */
int runtime_find(struct runtime *runtime, const char *userns, const char *folder,
		 struct arena *arena, struct error *err);
void runtime_release(struct runtime *runtime);

/* Whether steps can run here, as root or in userns_run; if not, *why is one sentence. Cheap. */
bool runtime_available(struct arena *arena, const char **why);

/*
 * Runs it. 0 when the command ran, with any status; -1 when it could not be started, or at Ctrl-C.
 * The upper directory lies in the store's work folder.
 */
int runtime_run(const struct runtime *runtime, struct store *store, const struct run_step *step,
		struct arena *arena, struct run_result *result, struct error *err);

#endif
