/* SPDX-License-Identifier: MIT */
/*
 * pinned.h - what archives and registries had on the day when they were asked: an exact version for
 * each package of the OS that a recipe names, and the digest of each image that it begins with.
 *
 * The catalog cannot know them: an archive keeps the newest only. `ringup resolve --pin` asks
 * (cli/app/stage_pin.c), ringup.lock keeps the answers, and recipes are written with them
 * (builder/recipe/pinning.h).
 */
#ifndef PLAN_PINNED_H
#define PLAN_PINNED_H

#include "core/json.h"

#define PINNED_MAX 1000 /* of each list in a lock */

struct pin {
	const char *name;  /* "openssh-server", "docker.io/library/centos:7" */
	const char *value; /* "1:9.2p1-2+deb12u7", "sha256:..."; "" when there is none to be had */
};

struct pin_list {
	size_t count;
	struct pin *list;
};

struct pinned {
	const char *at; /* UTC, "2026-11-22T13:05:00Z"; NULL when nobody was asked */
	struct pin_list packages, images;
};

/* The value under that name, "" when there is none to be had; NULL when it was not asked for. */
const char *pin_find(const struct pin_list *pins, const char *name);

/*
 * {"at": TIME, "packages": {NAME: VERSION}, "images": {NAME: DIGEST}}; NULL when nobody was asked.
 */
cJSON *pinned_to_json(const struct pinned *pinned);

/* The same back; json may be NULL. ERROR_USAGE for a value that is no version or digest: they stand
 * in commands. */
int pinned_from_json(const cJSON *json, struct arena *arena, struct pinned *pinned,
		     struct error *err);

/* Whether the text can be the version of a package, Debian's or RPM's. */
bool pin_is_version(const char *text);

#endif
