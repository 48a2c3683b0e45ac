/* SPDX-License-Identifier: MIT */
/* status_on.h - `ringup status --on`: a scheduler's nodes and queues, as a table or as JSON. */
#ifndef CLI_STATUS_ON_H
#define CLI_STATUS_ON_H

#include "cli/app/context.h"

int status_on(struct context *ctx, const char *engine, struct error *err);

#endif
