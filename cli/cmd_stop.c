/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_job.h"
#include "cli/app/stage_lease.h"

#include "core/clock.h"
#include "core/foreign.h"
#include "core/json.h"
#include "deployer/job/plan.h"
#include "deployer/scheduler/scheduled.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define STOP_SECONDS \
	16 /* and the grace: longer than a run needs to end everything (deployer/job/run.c) */

struct options {
	struct words hosts;
};

static const struct opt options[] = {
	HOSTS_OPTION(struct options, hosts),
	OPT_END,
};

/* What is printed of a job: the text, or an element of `jobs` with --json. */
static void stop_say(cJSON *jobs, const char *name, const char *state, int left, const char *text)
{
	cJSON *item;

	if (!jobs) {
		say("%s %s\n", name, text);
		return;
	}
	item = cJSON_CreateObject();
	cJSON_AddStringToObject(item, "job", name);
	cJSON_AddStringToObject(item, "state", state);
	cJSON_AddNumberToObject(item, "left", left);
	cJSON_AddItemToArray(jobs, item);
}

static void stop_say_before(const struct stages *s, cJSON *jobs, const char *name,
			    const char *state)
{
	stop_say(jobs, name, state, 0, arena_printf(s->arena, "has ended before (%s)", state));
}

/* Ends what a job left on these hosts, and says how many processes that were. */
static int stop_leftovers(struct stages *s, cJSON *jobs, const struct job_record *record,
			  const char *const *hosts, const char *what, struct error *err)
{
	int count, rc = stage_end_leftovers(s, record, hosts, &count, err);

	fleet_close(&s->fleet);
	if (rc == 0)
		stop_say(jobs, record->name, record->state, count,
			 arena_printf(s->arena, "%s; %d process%s of it %s left and %s ended", what,
				      count, count == 1 ? "" : "es", count == 1 ? "was" : "were",
				      count == 1 ? "is" : "are"));
	return rc;
}

/*
 * Ends what a job left whose ringup was killed. Its supervisors end it by themselves, unless they were
 * killed, too.
 */
static int stop_lost(struct stages *s, cJSON *jobs, struct job_record *record, struct error *err)
{
	char now[24];

	if (!*record->id) {
		stop_say_before(s, jobs, record->name, "lost");
		return 0;
	}
	if (stop_leftovers(s, jobs, record, record->host_names, "was lost", err) < 0)
		return -1;
	clock_iso8601(now);
	record->ended = now;
	record->status = ERROR_FAILED;
	record->reason = "the ringup that ran it was killed";
	return job_record_write(record, err);
}

/* A job of a scheduler: whoever follows it sees its end, and otherwise we do. */
static int stop_scheduled(struct stages *s, cJSON *jobs, struct job_record *record,
			  struct error *err)
{
	const char *name = record->name;

	if (scheduled_cancel(record, err) < 0)
		return -1;
	while (scheduled_is_open(record)) {
		struct scheduled *scheduled;
		int rc;

		if (scheduled_open(record, -1, false, s->arena, &scheduled, err) < 0)
			return -1;
		rc = scheduled ? scheduled_wait(scheduled, err) : interrupt_check(err);
		scheduled_close(scheduled);
		if (rc < 0)
			return -1;
		if (!scheduled) {
			usleep(INTERRUPT_POLL_MSEC * 1000);
			if (job_record_read(&s->cluster, name, s->arena, record, err) < 0)
				return -1;
		}
	}
	if (strcmp(record->state, "stopped") == 0)
		stop_say(jobs, record->name, record->state, 0, "is stopped");
	else
		stop_say_before(s, jobs, record->name, record->state);
	return 0;
}

static int stop_job(struct stages *s, cJSON *jobs, const char *name, struct error *err)
{
	struct job_record record;
	uint64_t deadline;

	if (job_record_read(&s->cluster, name, s->arena, &record, err) < 0)
		return -1;
	name = record.name; /* a newer job may have been given the name */
	if (job_record_read_last(&s->cluster, name, s->arena, &record, err) < 0)
		return -1;
	if (scheduled_is_open(&record))
		return stop_scheduled(s, jobs, &record, err);
	if (strcmp(record.state, "lost") == 0 && !*record.ended)
		return stop_lost(s, jobs, &record, err);
	if (*record.ended && *record.unswept) {
		if (stop_leftovers(s, jobs, &record, record.unswept, "has ended before", err) < 0)
			return -1;
		record.unswept = NULL;
		return job_record_write(&record, err);
	}
	if (*record.ended || !job_is_alive(&record)) {
		stop_say_before(s, jobs, name, record.state);
		return 0;
	}
	if (record.pid <= 1 || kill(record.pid, SIGINT) < 0)
		return error_errno(err, "%s: cannot stop the ringup that runs it (pid %d)", name,
				   record.pid);
	deadline = clock_usec() +
		   (uint64_t)(STOP_SECONDS + job_grace_s(record.grace_s)) * UINT64_C(1000000);
	while (job_is_alive(&record)) {
		if (interrupt_check(err) < 0)
			return -1;
		if (clock_usec() > deadline)
			return error_set(err, ERROR_FAILED,
					 "%s: the ringup that runs it (pid %d) does not end", name,
					 record.pid);
		usleep(50000);
		/* it may be about to be started again */
		if (job_record_read_last(&s->cluster, record.name, s->arena, &record, err) < 0)
			return -1;
	}
	stop_say(jobs, name, record.state, 0, "is stopped");
	return 0;
}

static int stop_run(struct context *ctx, void *values, const char *const *arguments,
		    struct error *err)
{
	_cleanup_(json_free) cJSON *json = ctx->json ? json_document() : NULL;
	cJSON *jobs = json ? cJSON_AddArrayToObject(json, "jobs") : NULL;
	const struct options *o = values;
	const char *const *names;
	struct stages s;

	if (stage_cluster_or_defaults(&s, ctx, err) < 0 ||
	    stage_name_jobs(ctx, &o->hosts, arguments, &names, err) < 0)
		return -1;
	for (; *names; names++)
		if (stop_job(&s, jobs, *names, err) < 0)
			return -1;
	if (json)
		json_print(stdout, json);
	return 0;
}

const struct command command_stop = {
	.name = "stop",
	.arguments = "[JOB...]",
	.summary = "ends a job on every host",
	.help = "Returns when nothing of the job is left: SIGTERM first, and SIGKILL after 4 seconds, or after those\n"
		"of 'run --grace'. With 'run --retries' it is not started again. Of a job that is lost it ends what\n"
		"is left on the hosts. A job of a scheduler (run --on) is cancelled there. In place of jobs, --hosts\n"
		"ends all jobs of this cluster that have a rank on these hosts.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = stop_run,
};
