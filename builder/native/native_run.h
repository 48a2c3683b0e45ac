/* SPDX-License-Identifier: MIT */
/*
 * native_run.h - RUN: a step in a container, or the layer that it left the last time.
 *
 * A step that fails for a reason that passes (build-failures.csv), such as the network, is tried
 * again.
 */
#ifndef BUILDER_NATIVE_NATIVE_RUN_H
#define BUILDER_NATIVE_NATIVE_RUN_H

#include "builder/native/native_stage.h"

int native_run(struct native_stage *stage, const struct instruction *instruction);

#endif
