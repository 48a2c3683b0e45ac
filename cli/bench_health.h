/* SPDX-License-Identifier: MIT */
/* bench_health.h - `ringup bench --health`: the GPUs of all hosts side by side, and which are ill or slow. */
#ifndef CLI_BENCH_HEALTH_H
#define CLI_BENCH_HEALTH_H

#include "cli/app/stages.h"

#define BENCH_HEALTH_LIMIT_S 60 /* for the whole fleet */

/* Needs a probed fleet with all workers up. ERROR_VERDICT when a card is not well. @limit_s 0: the default. */
int bench_health(struct stages *stages, int limit_s, struct error *err);

#endif
