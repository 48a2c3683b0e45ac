/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_job.h"

#include "core/json.h"
#include "core/term.h"

#include <string.h>

/* A job and all its starts (run --retries). */
struct ps_job {
	const char *name;	       /* of the first start */
	const struct job_record *last; /* the last one */
	struct words starts;
};

static const struct job_record *ps_find(const struct job_record *list, size_t count,
					const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (*name && strcmp(list[i].name, name) == 0)
			return &list[i];
	return NULL;
}

static bool ps_is_first(const struct job_record *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].next, name) == 0)
			return false;
	return true;
}

/* Puts the starts of each job together. How many jobs there are. */
static size_t ps_join(const struct job_record *list, size_t count, struct ps_job *jobs,
		      struct arena *arena)
{
	size_t joined = 0;

	for (size_t i = 0; i < count; i++) {
		struct ps_job *job = &jobs[joined];
		const struct job_record *next = &list[i];

		if (!ps_is_first(list, count, list[i].name))
			continue;
		*job = (struct ps_job){.name = next->name, .starts = WORDS_INIT(arena)};
		for (; next && job->starts.count < count; next = ps_find(list, count, next->next)) {
			job->last = next;
			words_add(&job->starts, next->name);
		}
		joined++;
	}
	return joined;
}

static void ps_add_starts(cJSON *item, const struct words *starts)
{
	cJSON *names = cJSON_AddArrayToObject(item, "attempts");

	for (size_t i = 0; i < starts->count; i++)
		cJSON_AddItemToArray(names, cJSON_CreateString(starts->list[i]));
}

static void ps_print_json(const struct ps_job *list, size_t count)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *jobs = cJSON_AddArrayToObject(json, "jobs");

	for (size_t i = 0; i < count; i++) {
		const struct job_record *last = list[i].last;
		cJSON *item = cJSON_CreateObject();

		cJSON_AddItemToArray(jobs, item);
		cJSON_AddStringToObject(item, "job", list[i].name);
		cJSON_AddStringToObject(item, "state", last->state);
		cJSON_AddNumberToObject(item, "status", last->status);
		cJSON_AddNumberToObject(item, "ranks", last->ranks);
		cJSON_AddNumberToObject(item, "hosts", last->hosts);
		cJSON_AddStringToObject(item, "launcher", last->launcher);
		cJSON_AddStringToObject(item, "started", last->started);
		json_add_text(item, "ended", last->ended);
		cJSON_AddStringToObject(item, "command", last->command);
		json_add_text(item, "reason", last->reason);
		ps_add_starts(item, &list[i].starts);
	}
	json_print(stdout, json);
}

static int ps_run(struct context *ctx, void *values, const char *const *arguments,
		  struct error *err)
{
	struct job_record *list;
	struct term_table table;
	struct ps_job *jobs;
	struct stages s;
	size_t count;

	(void)values;
	(void)arguments;
	if (stage_cluster_or_defaults(&s, ctx, err) < 0 ||
	    job_records_list(&s.cluster, s.arena, &list, &count, err) < 0)
		return -1;
	jobs = ARENA_ARRAY(s.arena, count + 1, struct ps_job);
	count = ps_join(list, count, jobs, s.arena);
	if (ctx->json) {
		ps_print_json(jobs, count);
		return 0;
	}
	term_table_init(&table, s.arena,
			WORDS("JOB", "STATE", ">STATUS", ">ATTEMPT", ">RANKS", ">HOSTS", "LAUNCHER",
			      "STARTED", "COMMAND"));
	for (size_t i = 0; i < count; i++) {
		const struct job_record *last = jobs[i].last;

		term_table_row(&table,
			       WORDS(jobs[i].name, last->state,
				     *last->ended ? arena_printf(s.arena, "%d", last->status) : "-",
				     arena_printf(s.arena, "%zu", jobs[i].starts.count),
				     arena_printf(s.arena, "%d", last->ranks),
				     arena_printf(s.arena, "%d", last->hosts), last->launcher,
				     last->started, last->command));
	}
	term_table_print(&table, stdout);
	return 0;
}

const struct command command_ps = {
	.name = "ps",
	.arguments = "",
	.summary = "the cluster's training jobs",
	.help = "STATE is starting, running, retrying, done, failed, stopped, or lost: the ringup that ran it was\n"
		"killed. A job of 'run --retries' is one line, and ATTEMPT says how often it was started.\n"
		"Jobs are kept in .ringup/jobs/JOB; remove the folder of one that is no longer wanted.\n",
	.run = ps_run,
};
