/* SPDX-License-Identifier: MIT */
#include "cli/status_on.h"
#include "cli/run_on.h"

#include "core/foreign.h"
#include "core/json.h"
#include "core/term.h"
#include "core/words.h"

static void status_on_json(const char *engine, const struct scheduler_overview *overview)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *nodes, *queues;

	cJSON_AddStringToObject(json, "engine", engine);
	nodes = cJSON_AddArrayToObject(json, "nodes");
	for (size_t i = 0; i < overview->node_count; i++) {
		const struct scheduler_node *n = &overview->nodes[i];
		cJSON *item = cJSON_CreateObject();

		cJSON_AddItemToArray(nodes, item);
		cJSON_AddStringToObject(item, "node", n->name);
		cJSON_AddStringToObject(item, "state", n->state);
		cJSON_AddStringToObject(item, "queues", n->queues);
		cJSON_AddNumberToObject(item, "cpus", n->cpus);
		cJSON_AddNumberToObject(item, "cpus_used", n->cpus_used);
		cJSON_AddNumberToObject(item, "gpus", n->gpus);
		cJSON_AddNumberToObject(item, "gpus_used", n->gpus_used);
		json_add_text(item, "gpu", n->gpu);
		json_add_text(item, "reason", n->reason);
	}
	queues = cJSON_AddArrayToObject(json, "queues");
	for (size_t i = 0; i < overview->queue_count; i++) {
		const struct scheduler_queue *q = &overview->queues[i];
		cJSON *item = cJSON_CreateObject();

		cJSON_AddItemToArray(queues, item);
		cJSON_AddStringToObject(item, "queue", q->name);
		cJSON_AddStringToObject(item, "state", q->state);
		cJSON_AddBoolToObject(item, "default", q->is_default);
		cJSON_AddStringToObject(item, "limit", q->limit);
		cJSON_AddNumberToObject(item, "nodes", q->nodes);
		cJSON_AddNumberToObject(item, "running", q->running);
		cJSON_AddNumberToObject(item, "waiting", q->waiting);
	}
	json_print(stdout, json);
}

static void status_on_nodes(const struct scheduler_overview *overview, struct arena *arena)
{
	struct term_table table;

	term_table_init(
		&table, arena,
		WORDS("NODE", "STATE", ">CPUS USED", ">GPUS USED", "GPU", "QUEUES", "REASON"));
	for (size_t i = 0; i < overview->node_count; i++) {
		const struct scheduler_node *n = &overview->nodes[i];

		term_table_row(
			&table,
			WORDS(n->name, n->state,
			      arena_printf(arena, "%d/%d", n->cpus_used, n->cpus),
			      n->gpus ? arena_printf(arena, "%d/%d", n->gpus_used, n->gpus) : "-",
			      *n->gpu ? n->gpu : "-", n->queues, *n->reason ? n->reason : "-"));
	}
	term_table_print(&table, stdout);
}

static void status_on_queues(const struct scheduler_overview *overview, struct arena *arena)
{
	struct term_table table;

	term_table_init(&table, arena,
			WORDS("QUEUE", "STATE", ">NODES", ">RUNNING", ">WAITING", "LIMIT"));
	for (size_t i = 0; i < overview->queue_count; i++) {
		const struct scheduler_queue *q = &overview->queues[i];

		term_table_row(&table,
			       WORDS(arena_printf(arena, "%s%s", q->name, q->is_default ? "*" : ""),
				     q->state, arena_printf(arena, "%d", q->nodes),
				     arena_printf(arena, "%d", q->running),
				     arena_printf(arena, "%d", q->waiting), q->limit));
	}
	term_table_print(&table, stdout);
}

int status_on(struct context *ctx, const char *engine, const char *const *settings,
	      struct error *err)
{
	const struct export_wish wish = {.arena = ctx->arena, .settings = settings};
	const struct exporter *exporter;
	struct scheduler_overview overview;

	if (run_on_find(engine, &exporter, err) < 0 || export_check(exporter, &wish, err) < 0 ||
	    exporter->look(&wish, &overview, err) < 0)
		return -1;
	if (ctx->json) {
		status_on_json(exporter->name, &overview);
		return 0;
	}
	status_on_nodes(&overview, ctx->arena);
	say("\n");
	status_on_queues(&overview, ctx->arena);
	return 0;
}
