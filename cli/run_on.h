/* SPDX-License-Identifier: MIT */
/* run_on.h - jobs that a scheduler runs, for `run` and `bench`: submitted, followed, left or cancelled. */
#ifndef CLI_RUN_ON_H
#define CLI_RUN_ON_H

#include "cli/app/stages.h"
#include "deployer/export/export.h"
#include "deployer/job/record.h"

struct run_on {
	struct stages *stages;
	const char *engine; /* --on */
	/* job, origin, settings, nodes, retries and is_worker; run_on fills in the rest. job.name "": the next free one */
	struct export_wish wish;
	bool detach, dry_run;
	bool is_quiet; /* its lines are not shown */
	/* Puts what the job needs into its folder before it is submitted; may be NULL. */
	int (*prepare)(struct run_on *on, const char *folder, struct error *err);
	struct job_record record; /* name NULL: there is no job */
};

/*
 * Runs it to its end, whose status is that of the error; or with `detach` only submits it. Ctrl-C asks what becomes of
 * the job, and where there is no terminal it cancels the job.
 */
int run_on(struct run_on *on, struct error *err);

/* The names of the engines. */
void run_on_fill(struct str *out);

/* ERROR_USAGE names the engines that run jobs. */
int run_on_find(const char *name, const struct exporter **exporter, struct error *err);

#endif
