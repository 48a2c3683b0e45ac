/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_fleet.h"
#include "deployer/claim.h"
#include "deployer/operate.h"

#include <string.h>

#define TAIL_DEFAULT 100

struct options {
	int tail;
};

static const struct opt options[] = {
	{'n', "tail", "N", "lines per host (100)", OPT_INT, offsetof(struct options, tail)},
	OPT_END,
};

struct logs {
	int tail;
	struct proc_result *results; /* one per member */
};

static int logs_fetch(struct member *m, void *arg, struct error *err)
{
	struct logs *logs = arg;

	if (m->engine->has_containers && member_ask_owner(m, err) < 0)
		return -1;
	return member_logs(m, logs->tail, &logs->results[m->index], err);
}

static void logs_print_all(const struct stages *s, const struct logs *logs)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *hosts = cJSON_AddArrayToObject(json, "hosts");

	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct member *m = &s->fleet.members[i];
		const struct proc_result *r = &logs->results[i];
		cJSON *item = cJSON_CreateObject();

		cJSON_AddItemToArray(hosts, item);
		cJSON_AddStringToObject(item, "host", m->host->name);
		if (m->failed)
			continue;
		json_add_text(item, "stdout", r->out.text);
		json_add_text(item, "stderr", r->err.text);
		if (s->ctx->json)
			continue;
		stage_print_lines(stdout, m->host->name, r->out.text);
		stage_print_lines(stdout, m->host->name, r->err.text);
	}
	if (s->ctx->json)
		json_print(stdout, json);
}

static int logs_run(struct context *ctx, void *values, const char *const *arguments,
		    struct error *err)
{
	const struct options *o = values;
	struct logs logs = {.tail = o->tail ? o->tail : TAIL_DEFAULT};
	struct stages s;

	if (stage_cluster(&s, ctx, err) < 0 || stage_select(&s, arguments, err) < 0)
		return -1;
	logs.results = ARENA_ARRAY(s.arena, s.fleet.count, struct proc_result);
	fleet_each(&s.fleet, logs_fetch, &logs);
	logs_print_all(&s, &logs);
	for (size_t i = 0; i < s.fleet.count; i++)
		proc_result_release(&logs.results[i]);
	fleet_result(&s.fleet, err);
	fleet_close(&s.fleet);
	return err->kind ? -1 : 0;
}

const struct command command_logs = {
	.name = "logs",
	.arguments = "[HOST...]",
	.summary = "the containers' logs, each line behind its host",
	.help = "Without HOST the logs of all hosts are printed.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = logs_run,
};
