/* SPDX-License-Identifier: MIT */
/*
 * kept.h - the images in the layout of a target's store, by name: those that the native engine
 * built, and those that were fetched from another machine after a build there.
 */
#ifndef BUILDER_NATIVE_KEPT_H
#define BUILDER_NATIVE_KEPT_H

#include "builder/backend.h"

/* The store's layout. In the arena. */
const char *kept_layout(const struct build_target *target, struct arena *arena);

/* Whether an image of that name is there, and every blob of it is whole. */
bool kept_find(const struct build_target *target, const char *image, struct descriptor *manifest);

#endif
