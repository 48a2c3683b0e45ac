/* SPDX-License-Identifier: MIT */
/* status_on.h - `ringup status --on`: a scheduler's nodes and queues, as a table or as JSON. */
#ifndef CLI_STATUS_ON_H
#define CLI_STATUS_ON_H

#include "cli/app/context.h"

/*
 * Asks the scheduler that `engine` (--on) names and prints what it has; the settings (--set) say which cluster. ERROR_USAGE
 * where there is no such engine, it runs no jobs or knows no such setting; ERROR_FAILED, with the scheduler's own words, when it does not answer.
 */
int status_on(struct context *ctx, const char *engine, const char *const *settings,
	      struct error *err);

#endif
