/* SPDX-License-Identifier: MIT */
/*
 * pinned.h - what archives and registries had when they were asked: an exact version for each OS
 * package that a recipe names, and the digest of each image that it begins with.
 *
 * The catalog cannot have them, because an archive keeps only the newest versions. `ringup resolve
 * --pin` asks (cli/app/stage_pin.c), ringup.lock keeps the answers, and the recipe uses them
 * (builder/recipe/pinning.h).
 */
#ifndef PLAN_PINNED_H
#define PLAN_PINNED_H

#include "core/json.h"

#define PINNED_MAX 1000 /* of each list in a lock */

struct pin {
	const char *name;  /* "openssh-server", "docker.io/library/centos:7" */
	const char *value; /* "1:9.2p1-2+deb12u7", "sha256:..."; "" when the archive has none */
};

struct pin_list {
	size_t count;
	struct pin *list;
};

struct pinned {
	const char *at; /* UTC, "2026-11-22T13:05:00Z"; NULL when nobody was asked */
	struct pin_list packages, images;
};

/* The value for that name. "" when the archive has none, NULL when it was not asked for. */
const char *pin_find(const struct pin_list *pins, const char *name);

/*
 * {"at": TIME, "packages": {NAME: VERSION}, "images": {NAME: DIGEST}}; NULL when nobody was asked.
 */
cJSON *pinned_to_json(const struct pinned *pinned);

/*
 * Reads that JSON, which may be NULL. A value that is not a version or digest is ERROR_USAGE,
 * because values become parts of commands.
 */
int pinned_from_json(const cJSON *json, struct arena *arena, struct pinned *pinned,
		     struct error *err);

/* Whether the text can be a version of a Debian or RPM package. */
bool pin_is_version(const char *text);

#endif
