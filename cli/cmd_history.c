/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_fleet.h"

#include "core/foreign.h"
#include "core/json.h"
#include "core/term.h"
#include "deployer/records/history.h"

#include <string.h>

struct options {
	struct words hosts;
};

static const struct opt options[] = {
	HOSTS_OPTION(struct options, hosts),
	OPT_END,
};

/* Leaves what the chosen hosts had part in, and of it these hosts alone. */
static void history_choose(cJSON *documents, const struct cluster *chosen, struct arena *arena)
{
	for (int i = cJSON_GetArraySize(documents) - 1; i >= 0; i--) {
		cJSON *hosts =
			cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(documents, i), "hosts");

		for (int k = cJSON_GetArraySize(hosts) - 1; k >= 0; k--) {
			const char *name = json_text(cJSON_GetArrayItem(hosts, k), "host", arena);

			if (!name || !cluster_host(chosen, name))
				cJSON_DeleteItemFromArray(hosts, k);
		}
		if (!cJSON_GetArraySize(hosts))
			cJSON_DeleteItemFromArray(documents, i);
	}
}

/* "2 of 3 hosts changed, 1 failed" */
static const char *history_hosts(const cJSON *document, struct arena *arena)
{
	const cJSON *hosts = json_member(document, "hosts"), *item;
	int all = cJSON_GetArraySize(hosts), changed = 0, failed = 0;

	cJSON_ArrayForEach (item, hosts) {
		const char *outcome = json_text(item, "outcome", arena);

		changed += outcome && strcmp(outcome, "changed") == 0;
		failed += outcome && strcmp(outcome, "failed") == 0;
	}
	if (failed)
		return arena_printf(arena, "%d of %d, %d failed", changed, all, failed);
	return arena_printf(arena, "%d of %d", changed, all);
}

static void history_print_row(struct term_table *table, const cJSON *document, struct arena *arena)
{
	const char *user = json_text(document, "user", arena);
	const char *machine = json_text(document, "machine", arena);
	const char *image = json_text(document, "image", arena);
	const char *digest = image ? strstr(image, "sha256:") : NULL;
	const char *stack = json_text(document, "stack", arena);

	term_table_row(
		table,
		WORDS(arena_printf(arena, "%d", json_int(document, "number", 0)),
		      json_text(document, "time", arena),
		      arena_printf(arena, "%s@%s", user ? user : "?", machine ? machine : "?"),
		      json_text(document, "command", arena), json_text(document, "outcome", arena),
		      history_hosts(document, arena),
		      digest ? arena_printf(arena, "%.19s", digest) : "-",
		      stack && *stack ? stack : "-"));
}

static void history_print(const cJSON *documents, struct arena *arena)
{
	struct term_table table;
	const cJSON *item;

	term_table_init(
		&table, arena,
		WORDS(">NUMBER", "TIME", "WHO", "COMMAND", "OUTCOME", "CHANGED", "IMAGE", "STACK"));
	cJSON_ArrayForEach (item, documents)
		history_print_row(&table, item, arena);
	term_table_print(&table, stdout);
}

/* The locks stay in the files: they are long. */
static void history_print_json(cJSON *documents)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *list = cJSON_AddArrayToObject(json, "history"), *item;

	while ((item = cJSON_DetachItemFromArray(documents, 0))) {
		cJSON_DeleteItemFromObject(item, "lock");
		cJSON_DeleteItemFromObject(item, "schema");
		cJSON_AddItemToArray(list, item);
	}
	json_print(stdout, json);
}

static int history_run(struct context *ctx, void *values, const char *const *arguments,
		       struct error *err)
{
	_cleanup_(json_free) cJSON *documents = NULL;
	const struct options *o = values;
	struct stages s;

	(void)arguments;
	if (stage_cluster(&s, ctx, err) < 0 || history_read(&s.cluster, &documents, err) < 0 ||
	    stage_choose(&s, &o->hosts, NULL, err) < 0)
		return -1;
	if (o->hosts.count)
		history_choose(documents, &s.cluster, s.arena);
	if (ctx->json)
		history_print_json(documents);
	else
		history_print(documents, s.arena);
	return 0;
}

const struct command command_history = {
	.name = "history",
	.arguments = "",
	.summary = "who changed the cluster when, to what, and how it ended",
	.help = "Lists each up, down, restart and rollback from this folder that changed a host or failed on\n"
		"one, the oldest first. CHANGED counts hosts. The last 50 are kept, in .ringup/history.\n"
		"'ringup rollback NUMBER' goes back to the image and stack of a line. With --hosts, the\n"
		"lines in which these hosts had part, and CHANGED counts these alone.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.run = history_run,
};
