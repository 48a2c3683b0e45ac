/* SPDX-License-Identifier: MIT */
/* horovodrun.h - what the launchers of Horovod share. */
#ifndef DEPLOYER_LAUNCHER_HOROVODRUN_H
#define DEPLOYER_LAUNCHER_HOROVODRUN_H

#include "deployer/job/plan.h"

/*
 * A task on the first host that runs horovodrun with the flag, "--gloo", or with none for NULL: it then
 * takes MPI where Horovod has it, and else Gloo.
 */
void horovodrun_add_task(const struct job_plan *plan, const struct job_host *host, const char *flag,
			 struct job_tasks *tasks);

#endif
