/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_job.h"

#include "core/json.h"
#include "core/term.h"

static void ps_print_json(const struct job_record *list, size_t count)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *jobs = cJSON_AddArrayToObject(json, "jobs");

	for (size_t i = 0; i < count; i++) {
		cJSON *item = cJSON_CreateObject();

		cJSON_AddItemToArray(jobs, item);
		cJSON_AddStringToObject(item, "job", list[i].name);
		cJSON_AddStringToObject(item, "state", list[i].state);
		cJSON_AddNumberToObject(item, "status", list[i].status);
		cJSON_AddNumberToObject(item, "ranks", list[i].ranks);
		cJSON_AddNumberToObject(item, "hosts", list[i].hosts);
		cJSON_AddStringToObject(item, "launcher", list[i].launcher);
		cJSON_AddStringToObject(item, "started", list[i].started);
		json_add_text(item, "ended", list[i].ended);
		cJSON_AddStringToObject(item, "command", list[i].command);
		json_add_text(item, "reason", list[i].reason);
	}
	json_print(stdout, json);
}

static int ps_run(struct context *ctx, void *values, const char *const *arguments,
		  struct error *err)
{
	struct job_record *list;
	struct term_table table;
	struct stages s;
	size_t count;

	(void)values;
	(void)arguments;
	if (stage_cluster_or_defaults(&s, ctx, err) < 0 ||
	    job_records_list(&s.cluster, s.arena, &list, &count, err) < 0)
		return -1;
	if (ctx->json) {
		ps_print_json(list, count);
		return 0;
	}
	term_table_init(&table, s.arena,
			WORDS("JOB", "STATE", ">STATUS", ">RANKS", ">HOSTS", "LAUNCHER", "STARTED",
			      "COMMAND"));
	for (size_t i = 0; i < count; i++)
		term_table_row(
			&table,
			WORDS(list[i].name, list[i].state,
			      *list[i].ended ? arena_printf(s.arena, "%d", list[i].status) : "-",
			      arena_printf(s.arena, "%d", list[i].ranks),
			      arena_printf(s.arena, "%d", list[i].hosts), list[i].launcher,
			      list[i].started, list[i].command));
	term_table_print(&table, stdout);
	return 0;
}

const struct command command_ps = {
	.name = "ps",
	.arguments = "",
	.summary = "the cluster's training jobs",
	.help = "STATE is starting, running, done, failed, stopped, or lost: the ringup that ran it was killed.\n"
		"Jobs are kept in .ringup/jobs/JOB; remove the folder of one that is no longer wanted.\n",
	.run = ps_run,
};
