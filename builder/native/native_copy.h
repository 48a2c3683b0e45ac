/* SPDX-License-Identifier: MIT */
/*
 * native_copy.h - COPY and WORKDIR: layers that need no container.
 *
 * What is copied comes from the build context or from another stage. Folders that the image has
 * keep their modes, and links in the image are followed inside of it.
 */
#ifndef BUILDER_NATIVE_NATIVE_COPY_H
#define BUILDER_NATIVE_NATIVE_COPY_H

#include "builder/native/native_stage.h"

int native_copy(struct native_stage *stage, const struct instruction *instruction);
int native_workdir(struct native_stage *stage, const struct instruction *instruction);

#endif
