/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_job.h"

#include "core/clock.h"
#include "core/json.h"
#include "deployer/scheduler/scheduled.h"

#include <string.h>
#include <unistd.h>

/* Follows a job of a scheduler, unless another ringup does. */
static int wait_follow(struct job_record *record, struct arena *arena, struct error *err)
{
	struct scheduled *scheduled;
	int rc;

	if (!scheduled_is_open(record))
		return 0;
	if (scheduled_open(record, -1, false, arena, &scheduled, err) < 0)
		return -1;
	rc = scheduled ? scheduled_wait(scheduled, err) : 0;
	scheduled_close(scheduled);
	return rc;
}

/* Waits until the job's last start has ended, or is lost. */
static int wait_for_job(struct stages *s, const char *name, struct job_record *record,
			struct error *err)
{
	for (;;) {
		if (job_record_read_last(&s->cluster, name, s->arena, record, err) < 0)
			return -1;
		name = record->name;
		if (wait_follow(record, s->arena, err) < 0)
			return -1;
		if (*record->ended || strcmp(record->state, "lost") == 0)
			return 0;
		if (interrupt_check(err) < 0)
			return -1;
		usleep(INTERRUPT_POLL_MSEC * 1000);
	}
}

/* The job's end becomes the command's. */
static int wait_result(const struct job_record *record, struct error *err)
{
	if (!*record->ended)
		return error_set(
			err, ERROR_FAILED,
			"%s is lost: the ringup that ran it was killed, and the hosts ended it",
			record->name);
	if (record->status == 0)
		return 0;
	error_set(err, ERROR_FAILED, "%s: %s", record->name, record->reason);
	err->kind = (enum error_kind)record->status;
	return -1;
}

static void wait_print(const struct job_record *record, int status)
{
	_cleanup_(json_free) cJSON *json = json_document();

	cJSON_AddStringToObject(json, "job", record->name);
	cJSON_AddStringToObject(json, "state", record->state);
	cJSON_AddNumberToObject(json, "status", status);
	cJSON_AddNumberToObject(json, "ranks", record->ranks);
	cJSON_AddStringToObject(json, "folder", record->folder);
	json_add_text(json, "reason", record->reason);
	json_print(stdout, json);
}

static int wait_run(struct context *ctx, void *values, const char *const *arguments,
		    struct error *err)
{
	struct job_record record;
	struct stages s;
	int rc;

	(void)values;
	if (stage_cluster_or_defaults(&s, ctx, err) < 0 ||
	    wait_for_job(&s, arguments[0], &record, err) < 0)
		return -1;
	rc = wait_result(&record, err);
	if (ctx->json)
		wait_print(&record, rc < 0 ? (int)err->kind : 0);
	return rc;
}

const struct command command_wait = {
	.name = "wait",
	.arguments = "JOB",
	.summary = "waits for a job's end",
	.help = "The exit status is that of the job; with 'run --retries' that of its last start.\n",
	.min_arguments = 1,
	.max_arguments = 1,
	.run = wait_run,
};
