/* SPDX-License-Identifier: MIT */
/*
 * native_image.h - the image that a build becomes: its layers as blobs, its config, its manifest.
 *
 * Layers are packed while later steps run: threads of a lower priority than the steps take them in
 * the order in which they were made. Where no such thread can be started, native_finish packs all.
 */
#ifndef BUILDER_NATIVE_NATIVE_IMAGE_H
#define BUILDER_NATIVE_NATIVE_IMAGE_H

#include "builder/native/native_stage.h"

/* Starts the threads. */
void native_pack_begin(struct native_build *build);

/* Gives them a layer of the store, if the stage is part of the image. */
void native_pack(struct native_stage *stage, const char *key);

/* Adds a layer of the store to the stage's image: to its layers, its history and its key. */
int native_add_layer(struct native_stage *stage, const char *key, const char *created_by);

/* Waits until all are packed. An error stops the build and stays in build->packers. */
void native_pack_end(struct native_build *build);

/* Writes config and manifest of a stage that is done; packs what is not packed yet. */
int native_finish(struct native_stage *stage, struct arena *arena, struct descriptor *manifest,
		  struct error *err);

#endif
