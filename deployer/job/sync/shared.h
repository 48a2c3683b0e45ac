/* SPDX-License-Identifier: MIT */
/* shared.h - the folder that a sync brings, and other jobs that run with it. */
#ifndef DEPLOYER_JOB_SYNC_SHARED_H
#define DEPLOYER_JOB_SYNC_SHARED_H

#include "deployer/job/sync/sync.h"

/* What says that two syncs have the same place: the target, or "/" and the name of the folder. */
const char *job_sync_name(const struct job_sync *sync);

/* Fails when a job of the cluster, of another process, runs with that folder on one of the fleet's hosts. ERROR_USAGE. */
int job_sync_may_change(const struct job_sync *sync, struct fleet *fleet, struct arena *arena,
			struct error *err);

#endif
