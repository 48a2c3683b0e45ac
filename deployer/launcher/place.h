/* SPDX-License-Identifier: MIT */
/* place.h - how a rank of torch learns its place. */
#ifndef DEPLOYER_LAUNCHER_PLACE_H
#define DEPLOYER_LAUNCHER_PLACE_H

#include "deployer/job/plan.h"

/*
 * Adds the variables of torch's init_method env:// (docs.pytorch.org, "Distributed communication package")
 * and of torchrun, which DeepSpeed, Accelerate and JAX read too: RANK, WORLD_SIZE, LOCAL_RANK,
 * LOCAL_WORLD_SIZE, NODE_RANK, MASTER_ADDR and MASTER_PORT.
 */
void place_add(const struct job_plan *plan, const struct job_host *host, int local_rank,
	       struct words *env);

#endif
