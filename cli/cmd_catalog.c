/* SPDX-License-Identifier: MIT */
#include "cli/app/catalog_age.h"
#include "cli/app/command.h"
#include "cli/app/registry_access.h"
#include "cli/app/stage_plan.h"

#include "core/foreign.h"
#include "core/json.h"
#include "core/log.h"
#include "core/progress.h"
#include "core/term.h"
#include "registry-client/list.h"
#include "upstream/refresh.h"
#include "upstream/tags.h"
#include "upstream/write.h"

#include <string.h>

#define CATALOG_CELL_SHOWN 90 /* characters of a cell in the table */

struct options {
	bool check;
};

static const struct opt options[] = {
	{0, "check", NULL,
	 "write nothing; the status is 1 when something is new or to be looked at", OPT_FLAG,
	 offsetof(struct options, check)},
	OPT_END,
};

/* --- which components ----------------------------------------------------------------------- */

static const struct refresh_part *catalog_part(const char *component)
{
	for (const struct refresh_part *part = refresh_parts; part->component; part++)
		if (strcmp(part->component, component) == 0)
			return part;
	return NULL;
}

static const char *catalog_part_names(struct arena *arena)
{
	struct words names = WORDS_INIT(arena);

	for (const struct refresh_part *part = refresh_parts; part->component; part++)
		words_add(&names, part->component);
	return words_join(&names, " ");
}

static int catalog_check_words(const struct context *ctx, const char *const *components,
			       const struct catalog *catalog, struct error *err)
{
	for (; *components; components++) {
		if (!catalog_part(*components))
			return error_set(err, ERROR_USAGE,
					 "'%s' cannot be refreshed from an upstream; what can: %s",
					 *components, catalog_part_names(ctx->arena));
		if (!catalog_table(catalog, *components))
			return error_set(err, ERROR_USAGE, "%s has no table %s.csv",
					 catalog->folder, *components);
	}
	return 0;
}

/* The tags that one registry after another is asked for. */
struct catalog_tags {
	struct context *ctx;
	struct words *tags;
};

/* --- upstreams ------------------------------------------------------------------------------ */

static bool catalog_is_wanted(const struct refresh *refresh, const struct refresh_part *part,
			      const char *const *components)
{
	if (!*components)
		return catalog_table(refresh->rows.catalog, part->component) != NULL;
	for (; *components; components++)
		if (strcmp(*components, part->component) == 0)
			return true;
	return false;
}

/* Asks each upstream; one that fails is named, and the others go on. Their number, or -1. */
static int catalog_ask(struct refresh *refresh, const char *const *components, struct error *err)
{
	int failed = 0;

	for (const struct refresh_part *part = refresh_parts; part->component; part++) {
		struct error one = {0};
		struct progress_step *step;
		size_t before = refresh->rows.count;

		if (!catalog_is_wanted(refresh, part, components))
			continue;
		step = progress_begin(part->component,
				      arena_printf(refresh->arena, "asking %s", part->what));
		if (refresh_component(refresh, part, &one) == 0) {
			progress_end(step, true, "compared with %s", part->what);
			continue;
		}
		progress_end(step, false, "not wholly compared with %s", part->what);
		if (one.kind == ERROR_INTERRUPTED) {
			*err = one;
			return -1;
		}
		log_warn("%s: %s%s", part->component, one.text,
			 refresh->rows.count > before ? "; what did answer is taken" : "");
		failed++;
	}
	return failed;
}

static int catalog_ask_tags(void *arg, const struct mirror *place, struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	struct catalog_tags *asked = arg;

	return access_open_place(asked->ctx, NULL, place, &registry, err) < 0
		       ? -1
		       : registry_list_tags(registry, &place->ref, asked->tags, err);
}

/* Of the mirrors of Docker Hub that cluster.yaml and this machine name, then of Docker Hub itself. */
static int catalog_list_tags(void *arg, struct words *tags, struct error *err)
{
	struct catalog_tags asked = {arg, tags};
	struct reference ref;

	return reference_parse(TAGS_REPOSITORY, asked.ctx->arena, &ref, err) < 0
		       ? -1
		       : access_read(asked.ctx, &ref, catalog_ask_tags, &asked, err);
}

static int catalog_begin(struct context *ctx, struct stages *s, struct refresh *refresh,
			 struct words *folders, struct error *err)
{
	const struct cluster *cluster;
	char today[16];

	if (context_cluster_or_defaults(ctx, &cluster, err) < 0 ||
	    stage_catalog_folders(s, folders, err) < 0 || stage_catalog(s, err) < 0)
		return -1;
	catalog_today(today);
	*refresh = (struct refresh){
		.arena = ctx->arena,
		.web = {.timeout_s = ctx->timeout_s},
		.pip = cluster->mirrors.pip,
		.pytorch = cluster->mirrors.pytorch,
		.downloads = cluster->mirrors.downloads,
		.list_tags = catalog_list_tags,
		.list_tags_arg = ctx,
		.rows = {.catalog = &s->catalog,
			 .arena = ctx->arena,
			 .today = arena_strdup(ctx->arena, today)},
	};
	return 0;
}

/* --- what is shown -------------------------------------------------------------------------- */

static const char *catalog_news(enum row_news news)
{
	switch (news) {
	case ROW_NEW:
		return "new row";
	case ROW_FILLED:
		return "filled";
	default:
		return "look at this";
	}
}

static void catalog_print_text(const struct refresh *refresh)
{
	const struct rows *rows = &refresh->rows;
	struct term_table table;
	size_t shown = 0;

	term_table_init(&table, refresh->arena,
			WORDS("COMPONENT", "VERSION", "NEWS", "WHAT", "SOURCE"));
	for (size_t i = 0; i < rows->count; i++) {
		const struct row_change *c = &rows->changes[i];
		const char *what = c->what;

		if (c->news == ROW_STAMP)
			continue;
		shown++;
		if (c->news != ROW_DIFFERS && strlen(what) > CATALOG_CELL_SHOWN)
			what = arena_printf(refresh->arena, "%.*s...", CATALOG_CELL_SHOWN, what);
		term_table_row(&table, WORDS(c->table, c->version, catalog_news(c->news),
					     *what ? what : "-", c->source));
	}
	if (shown)
		term_table_print(&table, stdout);
	else
		say("nothing is new\n");
}

static void catalog_print_json(const struct refresh *refresh, const char *folder, bool written,
			       int failed)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *list;

	cJSON_AddBoolToObject(json, "written", written);
	json_add_text(json, "folder", folder);
	cJSON_AddNumberToObject(json, "failed", failed);
	list = cJSON_AddArrayToObject(json, "changes");
	for (size_t i = 0; i < refresh->rows.count; i++) {
		const struct row_change *c = &refresh->rows.changes[i];
		cJSON *item;

		if (c->news == ROW_STAMP)
			continue;
		item = cJSON_CreateObject();
		cJSON_AddItemToArray(list, item);
		json_add_text(item, "component", c->table);
		json_add_text(item, "version", c->version);
		json_add_text(item, "news",
			      c->news == ROW_NEW      ? "new"
			      : c->news == ROW_FILLED ? "filled"
						      : "contradiction");
		json_add_text(item, "what", c->what);
		json_add_text(item, "source", c->source);
		json_add_text(item, "url", c->url);
	}
	json_print(stdout, json);
}

/* --- the command ---------------------------------------------------------------------------- */

/* The exit status: what is left to do for a person. */
static int catalog_verdict(const struct refresh *refresh, bool check, int failed, struct error *err)
{
	size_t differ = rows_count(&refresh->rows, ROW_DIFFERS);
	size_t news = rows_count(&refresh->rows, ROW_NEW) + rows_count(&refresh->rows, ROW_FILLED);

	if (failed)
		return error_set(err, ERROR_FAILED,
				 "%d %s not be compared with %s upstream; see the warnings", failed,
				 failed == 1 ? "component could" : "components could",
				 failed == 1 ? "its" : "their");
	if (differ)
		return error_set(
			err, ERROR_FAILED,
			"%zu %s to be looked at: correct or add %s marked 'look at this', or note in reviewed.csv that the catalog is right",
			differ, differ == 1 ? "thing is" : "things are",
			differ == 1 ? "the row" : "the rows");
	if (check && news)
		return error_set(
			err, ERROR_FAILED,
			"%zu %s new; run 'ringup catalog refresh' to take over what is new", news,
			news == 1 ? "row is" : "rows are");
	return 0;
}

static int catalog_refresh(struct context *ctx, const struct options *o,
			   const char *const *components, struct error *err)
{
	struct stages s = {.ctx = ctx, .arena = ctx->arena};
	struct words folders = WORDS_INIT(ctx->arena);
	struct refresh refresh;
	int failed;

	if (catalog_begin(ctx, &s, &refresh, &folders, err) < 0 ||
	    catalog_check_words(ctx, components, &s.catalog, err) < 0)
		return -1;
	failed = catalog_ask(&refresh, components, err);
	if (failed < 0)
		return -1;
	if (refresh.rows.odd)
		log_warn("%zu rows of upstream are left out, since a table cannot hold their words",
			 refresh.rows.odd);
	if (!o->check && rows_write(&refresh.rows, folders.list, err) < 0)
		return -1;
	if (ctx->json)
		catalog_print_json(&refresh, folders.list[0], !o->check, failed);
	else
		catalog_print_text(&refresh);
	return catalog_verdict(&refresh, o->check, failed, err);
}

static int catalog_run(struct context *ctx, void *values, const char *const *arguments,
		       struct error *err)
{
	if (strcmp(arguments[0], "refresh") != 0)
		return error_set(err, ERROR_USAGE, "there is no 'catalog %s'; there is: refresh",
				 arguments[0]);
	return catalog_refresh(ctx, values, arguments + 1, err);
}

static void catalog_fill(const char *name, struct str *out)
{
	(void)name;
	for (const struct refresh_part *part = refresh_parts; part->component; part++)
		str_addf(out, "%s%s", part == refresh_parts ? "" : " ", part->component);
}

const struct command command_catalog = {
	.name = "catalog",
	.arguments = "refresh [COMPONENT...]",
	.summary = "brings the version facts up to date from upstream indices",
	.help = "Compares the catalog with its upstreams, shows what is new, and writes it. Without COMPONENT all of\n"
		"these are compared: @{components}.\n\n"
		"Rows go to your own folder of the catalog (docs/catalog.md), or to the one of --catalog. No fact\n"
		"that is there is changed: missing rows are added, empty cells are filled, and a cell that\n"
		"contradicts its upstream is listed for you to look at. The mirrors of cluster.yaml count.\n\n"
		"  ringup catalog refresh --check      is there anything new?\n"
		"  ringup catalog refresh torch        PyTorch only\n"
		"  ringup --catalog recipes/catalog catalog refresh\n",
	.fill = catalog_fill,
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 1,
	.max_arguments = -1,
	.run = catalog_run,
};
