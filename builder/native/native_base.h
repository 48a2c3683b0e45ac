/* SPDX-License-Identifier: MIT */
/*
 * native_base.h - FROM: another stage, nothing at all, a root filesystem, a layout, or an image of
 * a registry.
 */
#ifndef BUILDER_NATIVE_NATIVE_BASE_H
#define BUILDER_NATIVE_NATIVE_BASE_H

#include "builder/native/native_stage.h"

/* Makes the stage begin with its base: layers, config and key. */
int native_from(struct native_stage *stage);

#endif
