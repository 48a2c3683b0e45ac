/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_lease.h"
#include "cli/app/stage_job.h"
#include "cli/app/stage_simulated.h"

#include "core/json.h"
#include "core/log.h"
#include "core/term.h"
#include "deployer/lease/lease.h"
#include "deployer/scheduler/scheduled.h"

#include <string.h>

struct options {
	bool gpus;
	struct words hosts;
};

static const struct opt options[] = {
	{0, "gpus", NULL, "ask the hosts who has which GPU: jobs and containers of all clusters",
	 OPT_FLAG, offsetof(struct options, gpus)},
	HOSTS_OPTION(struct options, hosts),
	OPT_END,
};

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

/* --- who has which GPU ----------------------------------------------------------------------- */

static int ps_ask_one(struct member *m, void *arg, struct error *err)
{
	const struct lease_request request = {
		.kind = "job", .id = "", .cluster = "", .job = "", .ticket = "", .among = "all"};
	struct lease_answer *answer = &((struct lease_answer *)arg)[m->index];

	if (member_lease(m, "list", &request, answer, err) < 0)
		return -1;
	if (!answer->is_broken)
		return 0;
	return error_set(err, ERROR_FAILED, "%s: its GPUs cannot be used: %s", m->host->name,
			 answer->none);
}

static const char *ps_gpu_state(const struct lease_gpu *gpu)
{
	return gpu->state == LEASE_FREE ? "free" : gpu->state == LEASE_USED ? "used" : "leased";
}

static void ps_add_gpu(struct term_table *table, cJSON *json, const struct member *m,
		       const struct lease_answer *answer, const struct lease_gpu *gpu)
{
	const char *holder = lease_gpu_holder(answer, gpu, table->arena);
	cJSON *item = cJSON_CreateObject();

	term_table_row(table, WORDS(m->host->name, gpu->index, ps_gpu_state(gpu),
				    *holder ? holder : "-", gpu->uuid));
	cJSON_AddStringToObject(item, "host", m->host->name);
	cJSON_AddStringToObject(item, "gpu", gpu->index);
	cJSON_AddStringToObject(item, "uuid", gpu->uuid);
	cJSON_AddStringToObject(item, "state", ps_gpu_state(gpu));
	json_add_text(item, "holder", *holder ? holder : NULL);
	cJSON_AddItemToArray(json, item);
}

static void ps_add_waiting(struct term_table *table, cJSON *json, const struct member *m,
			   const struct lease_ticket *ticket)
{
	cJSON *item = cJSON_CreateObject();

	term_table_row(table,
		       WORDS(m->host->name, "-", "waits",
			     arena_printf(table->arena, "job %s of cluster %s (%s) wants GPUs",
					  ticket->job, ticket->cluster, ticket->user),
			     "-"));
	cJSON_AddStringToObject(item, "host", m->host->name);
	cJSON_AddStringToObject(item, "job", ticket->job);
	cJSON_AddStringToObject(item, "cluster", ticket->cluster);
	cJSON_AddStringToObject(item, "user", ticket->user);
	cJSON_AddItemToArray(json, item);
}

/* A host that has no GPUs to lease, or none that can be used. */
static void ps_add_none(struct term_table *table, cJSON *json, const struct member *m,
			const struct lease_answer *answer)
{
	cJSON *item = cJSON_CreateObject();

	term_table_row(table, WORDS(m->host->name, "-", answer->is_broken ? "unusable" : "none",
				    answer->none, "-"));
	cJSON_AddStringToObject(item, "host", m->host->name);
	cJSON_AddStringToObject(item, "state", answer->is_broken ? "unusable" : "none");
	cJSON_AddStringToObject(item, "reason", answer->none);
	cJSON_AddItemToArray(json, item);
}

static int ps_gpus(struct stages *s, const struct options *o, struct error *err)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *gpus = cJSON_AddArrayToObject(json, "gpus");
	cJSON *waiting = cJSON_AddArrayToObject(json, "waiting");
	cJSON *none = cJSON_AddArrayToObject(json, "without");
	struct lease_answer *answers;
	struct term_table table;

	if (stage_select(s, &o->hosts, NULL, err) < 0)
		return -1;
	stage_say_simulated_on_file(s);
	stage_add_simulated_on_file(s, json);
	stage_free_lost(s);
	answers = ARENA_ARRAY(s->arena, s->fleet.count, struct lease_answer);
	fleet_each(&s->fleet, ps_ask_one, answers);
	term_table_init(&table, s->arena, WORDS("HOST", "GPU", "STATE", "HOLDER", "UUID"));
	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct member *m = &s->fleet.members[i];

		if (answers[i].none && *answers[i].none)
			ps_add_none(&table, none, m, &answers[i]);
		for (size_t k = 0; k < answers[i].gpu_count; k++)
			ps_add_gpu(&table, gpus, m, &answers[i], &answers[i].gpus[k]);
		for (size_t k = 0; k < answers[i].ticket_count; k++)
			ps_add_waiting(&table, waiting, m, &answers[i].tickets[k]);
	}
	if (s->ctx->json)
		json_print(stdout, json);
	else
		term_table_print(&table, stdout);
	return fleet_result(&s->fleet, err);
}

/* Jobs of a scheduler go on without ringup: it says how they are. */
static void ps_settle(struct job_record *list, size_t count, struct arena *arena)
{
	for (size_t i = 0; i < count; i++) {
		struct error err = {0};

		if (scheduled_settle(&list[i], arena, &err) < 0)
			log_warn("%s: %s", list[i].name, err.text);
	}
}

static int ps_run(struct context *ctx, void *values, const char *const *arguments,
		  struct error *err)
{
	const struct options *o = values;
	struct job_record *list;
	struct term_table table;
	struct ps_job *jobs;
	struct stages s;
	size_t count;
	int rc;

	(void)arguments;
	if (o->gpus || o->hosts.count) {
		if (stage_cluster(&s, ctx, err) < 0)
			return -1;
		rc = ps_gpus(&s, o, err);
		fleet_close(&s.fleet);
		return rc;
	}
	if (stage_cluster_or_defaults(&s, ctx, err) < 0 ||
	    job_records_list(&s.cluster, s.arena, &list, &count, err) < 0)
		return -1;
	ps_settle(list, count, s.arena);
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
	.help = "STATE is starting, waiting (in a scheduler's queue), running, retrying, done, failed, stopped, or\n"
		"lost: the ringup that ran it was killed.\n"
		"A job of 'run --retries' is one line, and ATTEMPT says how often it was started.\n"
		"Jobs are kept in .ringup/jobs/JOB; remove the folder of one that is no longer wanted.\n"
		"--gpus shows the GPUs of the hosts: which are free, which a job or a container of any cluster and\n"
		"user has, which a process uses without a lease, and who waits ('ringup run --gpus N --wait').\n"
		"A host without GPUs is 'none', one whose GPUs fail 'unusable', and the status is then 4 or 1; --json\n"
		"has both in 'without'.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.run = ps_run,
};
