/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_job.h"

#include "core/clock.h"
#include "core/json.h"
#include "core/log.h"
#include "deployer/scheduler/scheduled.h"

#include <string.h>
#include <unistd.h>

struct options {
	struct words hosts;
};

static const struct opt options[] = {
	HOSTS_OPTION(struct options, hosts),
	OPT_END,
};

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

static cJSON *wait_fill(cJSON *json, const struct job_record *record, int status)
{
	cJSON_AddStringToObject(json, "job", record->name);
	cJSON_AddStringToObject(json, "state", record->state);
	cJSON_AddNumberToObject(json, "status", status);
	cJSON_AddNumberToObject(json, "ranks", record->ranks);
	cJSON_AddStringToObject(json, "folder", record->folder);
	json_add_text(json, "reason", record->reason);
	return json;
}

/* One job: its document is printed even where it failed. */
static int wait_one(struct stages *s, const char *name, struct error *err)
{
	_cleanup_(json_free) cJSON *json = s->ctx->json ? json_document() : NULL;
	struct job_record record;
	int rc;

	if (wait_for_job(s, name, &record, err) < 0)
		return -1;
	rc = wait_result(&record, err);
	if (json) {
		wait_fill(json, &record, rc < 0 ? (int)err->kind : 0);
		json_print(stdout, json);
	}
	return rc;
}

/* A job that was lost before is nothing to wait for: who names hosts waits for what runs there. */
static const char *const *wait_leave_lost(struct stages *s, const char *const *names,
					  struct error *err)
{
	struct words left = WORDS_INIT(s->arena);

	for (; *names; names++) {
		struct job_record record;

		if (job_record_read(&s->cluster, *names, s->arena, &record, err) < 0)
			return NULL;
		if (strcmp(record.state, "lost") == 0)
			log_info("%s was lost before; 'ringup stop %s' looks for what it left",
				 record.name, record.name);
		else
			words_add(&left, *names);
	}
	return words_list(&left);
}

/* All of them: the end of the first that failed becomes the command's, and the others are said. */
static int wait_for_all(struct stages *s, const char *const *names, struct error *err)
{
	_cleanup_(json_free) cJSON *json = s->ctx->json ? json_document() : NULL;
	cJSON *jobs = json ? cJSON_AddArrayToObject(json, "jobs") : NULL;
	int all = 0;

	for (; *names; names++) {
		struct job_record record;
		struct error own = {0};
		int rc;

		if (wait_for_job(s, *names, &record, err) < 0)
			return -1;
		rc = wait_result(&record, &own);
		if (jobs)
			cJSON_AddItemToArray(jobs, wait_fill(cJSON_CreateObject(), &record,
							     rc < 0 ? (int)own.kind : 0));
		if (rc < 0 && all < 0)
			log_error(own.text);
		else if (rc < 0)
			*err = own;
		all = rc < 0 ? rc : all;
	}
	if (json)
		json_print(stdout, json);
	return all;
}

static int wait_run(struct context *ctx, void *values, const char *const *arguments,
		    struct error *err)
{
	const struct options *o = values;
	const char *const *names;
	struct stages s;

	if (stage_cluster_or_defaults(&s, ctx, err) < 0 ||
	    stage_name_jobs(ctx, &o->hosts, arguments, &names, err) < 0)
		return -1;
	if (!o->hosts.count)
		return wait_one(&s, *names, err);
	names = wait_leave_lost(&s, names, err);
	return names ? wait_for_all(&s, names, err) : -1;
}

const struct command command_wait = {
	.name = "wait",
	.arguments = "[JOB]",
	.summary = "waits for a job's end",
	.help = "The exit status is that of the job; with 'run --retries' that of its last start. In place of a job,\n"
		"--hosts waits for all jobs of this cluster that have a rank on these hosts; the status is then that\n"
		"of the first that failed.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = 1,
	.run = wait_run,
};
