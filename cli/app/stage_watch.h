/* SPDX-License-Identifier: MIT */
/*
 * stage_watch.h - `up --watch`: looks at the hosts again and again, and repairs what breaks.
 *
 * Each look is a `ringup status`, and each repair a `ringup up HOST` or `ringup restart HOST`, in a process of its own:
 * so a watch of months keeps no memory and no connection, and does nothing that these commands would not do. The
 * cluster's lock is free between them.
 */
#ifndef CLI_APP_STAGE_WATCH_H
#define CLI_APP_STAGE_WATCH_H

#include "cli/app/stages.h"

struct watch {
	int every_s; /* between two looks; 0: 15 */
	int repairs; /* of one host in a row, after which it is left alone; 0: 5 */
};

/* Returns only when the person interrupts, or when ringup itself cannot be started any more; always -1. */
int stage_watch(struct stages *stages, const struct watch *watch, struct error *err);

#endif
