/* SPDX-License-Identifier: MIT */
/* transfer_parts.h - between transfer.c, the loop, and transfer_judge.c, what an answer means. */
#ifndef REGISTRY_CLIENT_TRANSFER_PARTS_H
#define REGISTRY_CLIENT_TRANSFER_PARTS_H

#include "registry-client/transfer.h"

/* Has the step say what comes next; -1: it failed. */
int transfer_step(struct transfer *t, struct error *err);

/* The same after an answer: redirects, challenges and transient failures never reach the step. */
int transfer_judge(struct transfer *t, struct error *err);

#endif
