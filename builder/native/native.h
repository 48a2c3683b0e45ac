/* SPDX-License-Identifier: MIT */
/*
 * native.h - builds a spec without any engine: a store of layers, overlay mounts, and an OCI
 * runtime for RUN.
 *
 * Steps are kept by what they were made from: the layers below, the instruction, and all that goes
 * in. Build arguments of the spec (mirrors) do not count, and leave no trace. Stages that do not
 * wait for each other run side by side. Steps need root, which may be that of a user namespace
 * (userns.h); a spec without RUN needs neither root nor a runtime. Times later than the
 * Dockerfile's SOURCE_DATE_EPOCH become that, so the same spec gives the same digest again.
 */
#ifndef BUILDER_NATIVE_NATIVE_H
#define BUILDER_NATIVE_NATIVE_H

#include "builder/native/dockerfile.h"
#include "builder/native/store.h"
#include "plan/spec.h"

struct native_options {
	const char *store;    /* its folder; made when missing */
	const char *name;     /* of the image in the store's layout, and in messages */
	const char *base_tar; /* the root filesystem of the name spec->base_name; NULL: none */
	const char *log_path; /* all that the steps print */
	/* Gets an image into the layout; NULL: images cannot be fetched. */
	int (*fetch)(void *arg, const char *image, const char *layout, struct descriptor *manifest,
		     struct error *err);
	void *fetch_arg;
	const struct budget_limits *limits; /* of what base images unpack to; NULL: the defaults */
	const char *userns;    /* build.userns of cluster.yaml: auto, always or never */
	bool shell_on_failure; /* a shell in the step that fails, when there is a terminal */
};

/* Builds; the image lies in *layout (in the arena) as *manifest, and under its name. */
int native_build(const struct spec *spec, const struct native_options *options, struct arena *arena,
		 const char **layout, struct descriptor *manifest, struct error *err);

#endif
