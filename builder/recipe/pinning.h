/* SPDX-License-Identifier: MIT */
/*
 * pinning.h - the packages and images that a rendered Dockerfile names without a version, and the
 * same Dockerfile with what was pinned (plan/pinned.h): "openssh-server=1:9.2p1-2+deb12u7" for apt,
 * "openssh-server-8.7p1-43.el9" for yum and dnf, "FROM IMAGE:TAG@sha256:...".
 *
 * The catalog's table package_manager.csv says by which command packages are installed (column
 * `install`, "apt-get install") and how an exact version is written (column `exact`, "NAME=VERSION"
 * or "NAME-VERSION"). A package word is what stands behind such a command of a RUN up to the
 * command's end, without options. A word with a version of its own, from the catalog or the cluster
 * file, stays as it is; so does one that is no plain name (a group, a file, another architecture).
 */
#ifndef BUILDER_RECIPE_PINNING_H
#define BUILDER_RECIPE_PINNING_H

#include "core/table.h"
#include "core/words.h"
#include "plan/pinned.h"

/* Adds each name once, in the order of the Dockerfile. `managers` is package_manager.csv; with NULL
 * there are no packages. */
void pinning_packages(const char *dockerfile, const struct table *managers, struct words *names);

/* The images of registries behind FROM: no stages, no "scratch", nothing of this machine. */
void pinning_images(const char *dockerfile, struct words *names);

/* The Dockerfile with every pin that is known; in the arena. `managers` as above. */
const char *pinning_apply(const char *dockerfile, const struct table *managers,
			  const struct pinned *pinned, struct arena *arena);

/* "IMAGE:TAG@DIGEST", or the image itself when it is not pinned. */
const char *pinning_image(const char *image, const struct pinned *pinned, struct arena *arena);

#endif
