/* SPDX-License-Identifier: MIT */
/*
 * collectives.h - which rank is behind, when NCCL's collectives of torch time out.
 *
 * The rank whose watchdog gives up first is one that waited. It tells the others by torch's store, and each then prints how many
 * collectives it had queued. Recorded with torch 2.11.0 (github.com/pytorch/pytorch, torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp):
 *
 *   [PG ID 0 PG GUID 0(default_pg) Rank 1] ... Last enqueued NCCL work: 1, last completed NCCL work: 1.
 *
 * The ranks with the lowest number are those that the others wait for. Numbers of one group of ranks are compared only.
 */
#ifndef DEPLOYER_DIAGNOSIS_COLLECTIVES_H
#define DEPLOYER_DIAGNOSIS_COLLECTIVES_H

#include "core/arena.h"

#include <stddef.h>

/* What the ranks of one job have said. One thread at a time. */
struct collectives;

struct collectives *collectives_new(struct arena *arena);

/* Looks at output of a rank (0 or more): whole lines, any bytes, NUL-terminated. The host's name lives as long as the arena. */
void collectives_feed(struct collectives *said, const char *host, int rank, const char *lines);

/*
 * A sentence without its full stop, as "rank 1 on node01 is behind: it had queued 1 collective of NCCL, and others 2"; "" when
 * fewer than two ranks have said anything.
 */
const char *collectives_behind(const struct collectives *said, struct arena *arena);

#endif
