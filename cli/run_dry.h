/* SPDX-License-Identifier: MIT */
/*
 * run_dry.h - `ringup run --dry-run`: every rank's command and environment, by what the last probe said, since nobody is
 * asked. Ports and interfaces are the hosts' to say, so PORT stands for the former.
 */
#ifndef CLI_RUN_DRY_H
#define CLI_RUN_DRY_H

#include "cli/app/stages.h"
#include "deployer/job/plan.h"

/* The plan of the job, which keeps `wish`. Says what the numbers of ranks rest on. */
int run_dry_plan(struct stages *s, const struct job_options *wish, struct job_plan *plan,
		 struct error *err);

/* Prints it, as lines or with --json. */
int run_dry_print(struct stages *s, const struct job_plan *plan, struct error *err);

#endif
