/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_job.h"

#include "core/clock.h"
#include "core/foreign.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define STOP_SECONDS 20 /* longer than a run takes to end everything (deployer/job/run.c) */

static int stop_job(struct stages *s, const char *name, struct error *err)
{
	uint64_t deadline = clock_usec() + STOP_SECONDS * UINT64_C(1000000);
	struct job_record record;

	if (job_record_read(&s->cluster, name, s->arena, &record, err) < 0)
		return -1;
	if (*record.ended || !job_is_alive(&record)) {
		say("%s has ended before (%s)\n", name, record.state);
		return 0;
	}
	if (record.pid <= 1 || kill(record.pid, SIGTERM) < 0)
		return error_errno(err, "%s: cannot stop the ringup that runs it (pid %d)", name,
				   record.pid);
	while (job_is_alive(&record)) {
		if (interrupt_check(err) < 0)
			return -1;
		if (clock_usec() > deadline)
			return error_set(err, ERROR_FAILED,
					 "%s: the ringup that runs it (pid %d) does not end", name,
					 record.pid);
		usleep(50000);
	}
	say("%s is stopped\n", name);
	return 0;
}

static int stop_run(struct context *ctx, void *values, const char *const *arguments,
		    struct error *err)
{
	struct stages s;

	(void)values;
	if (stage_cluster_or_defaults(&s, ctx, err) < 0)
		return -1;
	for (; *arguments; arguments++)
		if (stop_job(&s, *arguments, err) < 0)
			return -1;
	return 0;
}

const struct command command_stop = {
	.name = "stop",
	.arguments = "JOB...",
	.summary = "ends a job on every host",
	.help = "Returns when nothing of the job is left: SIGTERM first, and SIGKILL after 4 seconds.\n",
	.min_arguments = 1,
	.max_arguments = -1,
	.run = stop_run,
};
