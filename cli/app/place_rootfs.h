/* SPDX-License-Identifier: MIT */
/* place_rootfs.h - an image as a tree of files: rootfs:DIR. */
#ifndef CLI_APP_PLACE_ROOTFS_H
#define CLI_APP_PLACE_ROOTFS_H

#include "cli/app/place.h"
#include "registry-client/pull.h"

/* Unpacks the image of a layout. */
int place_unpack(const struct place *place, const struct place_image *image, struct arena *arena,
		 struct error *err);

/* The same while the image is being pulled: a thread unpacks each layer as soon as it is there. */
struct unpacker;

/* `layout`: that the image comes into. Watch the pull with unpacker_watch. */
int unpacker_start(const struct place *place, const char *layout, struct unpacker **unpacker,
		   struct error *err);
struct pull_watch unpacker_watch(struct unpacker *unpacker);
/* Waits until all is unpacked and puts the tree in its place; `pulled` false: gives it up. */
int unpacker_finish(struct unpacker *unpacker, bool pulled, struct error *err);
/* For _cleanup_. */
void unpacker_close(struct unpacker **unpacker);

#endif
