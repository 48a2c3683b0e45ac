/* SPDX-License-Identifier: MIT */
#include "cli/stages.h"

#include "core/file.h"
#include "core/log.h"
#include "core/term.h"

struct options {
	bool explain, no_lock;
	const char *facts;
};

static const struct opt options[] = {
	{0, "explain", NULL, "one sentence per choice, with its source", OPT_FLAG,
	 offsetof(struct options, explain)},
	{0, "facts", "FILE", "facts of the hosts from a file (see 'probe -o')", OPT_TEXT,
	 offsetof(struct options, facts)},
	{0, "no-lock", NULL, "do not write ringup.lock", OPT_FLAG,
	 offsetof(struct options, no_lock)},
	OPT_END,
};

static void print_row(struct term_table *table, bool explain, const struct choice *c)
{
	const char *packages = *c->run_packages ? c->run_packages
			       : *c->pip	? c->pip
			       : *c->download	? c->download
						: "-";

	term_table_row(table, explain ? WORDS(c->name, c->version, c->reason, c->source)
				      : WORDS(c->name, c->version, packages));
}

static void print_plan(const struct stages *s, bool explain)
{
	const struct plan *plan = &s->plan;
	struct term_table table;

	term_table_init(&table, s->arena,
			explain ? WORDS("COMPONENT", "VERSION", "REASON", "SOURCE")
				: WORDS("COMPONENT", "VERSION", "PACKAGES"));
	for (size_t i = 0; i < plan->count; i++)
		print_row(&table, explain, &plan->choices[i]);
	if (*plan->base.name && explain)
		term_table_row(&table, WORDS("image", plan->base.name, plan->base.note,
					     plan->base.source));
	else if (*plan->base.name)
		term_table_row(&table, WORDS("image", plan->base.name,
					     *plan->base.packages ? plan->base.packages : "-"));
	term_table_print(&table, stdout);
	for (size_t i = 0; i < plan->count && explain; i++)
		if (*plan->choices[i].refused)
			printf("%s %s\n", plan->choices[i].name, plan->choices[i].refused);
	for (size_t i = 0; i < plan->env_count; i++)
		printf("container env: %s\n", plan->env[i]);
	for (size_t i = 0; i < plan->note_count; i++)
		log_warn("%s", plan->notes[i]);
}

/* Facts that were written by `probe -o`, as if the hosts had just answered. */
static int load_facts(struct stages *s, const char *path, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const cJSON *item;

	if (json_read(path, &json, err) < 0) {
		err->kind = ERROR_USAGE;
		return -1;
	}
	if (!cJSON_IsArray(json_member(json, "hosts")))
		return error_set(
			err, ERROR_USAGE,
			"%s holds no facts: it has no list of 'hosts'; 'ringup probe -o FILE' "
			"writes one",
			path);
	s->fleet.members =
		ARENA_ARRAY(s->arena, (size_t)cJSON_GetArraySize(json_member(json, "hosts")) + 1,
			    struct member);
	cJSON_ArrayForEach (item, json_member(json, "hosts")) {
		if (facts_from_json(item, s->arena, &s->fleet.members[s->fleet.count++].facts,
				    err) < 0)
			return error_wrap(err, "%s", path);
	}
	return 0;
}

static int run(struct context *ctx, void *values, const char *const *arguments, struct error *err)
{
	const struct options *o = values;
	struct stages s = {.ctx = ctx, .arena = ctx->arena};
	bool from_file = !*arguments;
	int rc;

	/* Without REQ words the cluster file says what is wanted; with them it is not needed. */
	if ((from_file || ctx->cluster_named || file_exists(ctx->cluster_path)) &&
	    stage_cluster(&s, ctx, err) < 0)
		return -1;
	if (o->facts && load_facts(&s, o->facts, err) < 0)
		return -1;
	rc = stage_resolve(&s, from_file ? NULL : arguments, err);
	if (ctx->json && (rc == 0 || err->kind == ERROR_UNSATISFIED)) {
		_cleanup_(json_free) cJSON *json =
			rc == 0 ? plan_to_json(&s.plan) : unsatisfied_to_json(&s.why);

		json_print(stdout, json);
	}
	if (rc < 0)
		return -1;
	if (!ctx->json)
		print_plan(&s, o->explain);
	if (o->no_lock || !s.cluster.path)
		return 0;
	return stage_lock(&s, err);
}

const struct command command_resolve = {
	.name = "resolve",
	.arguments = "[REQ...]",
	.summary = "one consistent stack, with reasons; writes ringup.lock",
	.help = "REQ is a name, or a name with conditions: openmpi, openmpi==4.1.4, "
		"'python>=3,<4',\n"
		"os==debian12. Without REQ the cluster file's `stack` is resolved. Where there is "
		"no cluster\n"
		"file, no lock is written. Exit status 3 when no stack satisfies the request.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = run,
};
