/* SPDX-License-Identifier: MIT */
/* run_view.h - what `ringup run` prints for people and programs, beside the job's own output. */
#ifndef CLI_RUN_VIEW_H
#define CLI_RUN_VIEW_H

#include "cli/app/stages.h"
#include "core/json.h"
#include "deployer/job/run.h"

/*
 * A process that a host starts, with its environment: as a line on stdout, or, unless `tasks` is NULL, as
 * an element of that array.
 */
void run_view_task(const struct job_plan *plan, const struct job_host *host,
		   const struct job_task *task, cJSON *tasks);

/*
 * The same of the ranks of a host that the job's launcher starts: one line for the host, or, unless `joining` is NULL, an element of
 * that array, with the numbers of its ranks in `ranks`.
 */
void run_view_joining(const struct job_plan *plan, const struct job_host *host, cJSON *joining);

/* With -d: the name of the job that goes on; with --json what it does (running, waiting) and the folder of its files, too. */
void run_view_begin(const struct stages *stages, const char *name);

#endif
