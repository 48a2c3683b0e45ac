/* SPDX-License-Identifier: MIT */
/*
 * move_push.h - an image from a place on this machine to a registry. The layers of an archive, and of a
 * daemon's image, are packed only when the registry lacks them.
 */
#ifndef CLI_APP_MOVE_PUSH_H
#define CLI_APP_MOVE_PUSH_H

#include "cli/app/mover.h"

int move_push(struct mover *mover, const struct place *from, const struct place *to,
	      struct moved *moved, struct error *err);

#endif
