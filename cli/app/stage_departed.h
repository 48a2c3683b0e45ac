/* SPDX-License-Identifier: MIT */
/* stage_departed.h - hosts that were taken out of cluster.yaml and still have something of the cluster. */
#ifndef CLI_APP_STAGE_DEPARTED_H
#define CLI_APP_STAGE_DEPARTED_H

#include "cli/app/stages.h"

/* Warns of each of them, with what removes it. */
void stage_say_departed(const struct stages *stages);

/*
 * When the names, or addresses, are of such hosts, the stages' cluster has only these from now on, and they
 * are probed; *is_departed says so. Nothing happens when none of the names is. ERROR_USAGE when some are
 * and some are not.
 */
int stage_choose_departed(struct stages *stages, const char *const *names, bool *is_departed,
			  struct error *err);

#endif
