/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_job.h"

#include "core/clock.h"

#include <string.h>
#include <unistd.h>

/* The job's end becomes the command's. */
static int wait_for_job(struct stages *s, const char *name, struct error *err)
{
	struct job_record record;

	for (;;) {
		if (job_record_read(&s->cluster, name, s->arena, &record, err) < 0)
			return -1;
		if (*record.ended || strcmp(record.state, "lost") == 0)
			break;
		if (interrupt_check(err) < 0)
			return -1;
		usleep(INTERRUPT_POLL_MSEC * 1000);
	}
	if (!*record.ended)
		return error_set(
			err, ERROR_FAILED,
			"%s is lost: the ringup that ran it was killed, and the hosts ended it",
			name);
	if (record.status == 0)
		return 0;
	error_set(err, ERROR_FAILED, "%s: %s", name, record.reason);
	err->kind = (enum error_kind)record.status;
	return -1;
}

static int wait_run(struct context *ctx, void *values, const char *const *arguments,
		    struct error *err)
{
	struct stages s;

	(void)values;
	return stage_cluster_or_defaults(&s, ctx, err) < 0 ? -1
							   : wait_for_job(&s, arguments[0], err);
}

const struct command command_wait = {
	.name = "wait",
	.arguments = "JOB",
	.summary = "waits for a job's end",
	.help = "The exit status is that of the job.\n",
	.min_arguments = 1,
	.max_arguments = 1,
	.run = wait_run,
};
