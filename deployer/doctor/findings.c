/* SPDX-License-Identifier: MIT */
#include "deployer/doctor/findings.h"

#include "core/file.h"
#include "core/foreign.h"
#include "core/str.h"
#include "core/table.h"
#include "deployer/remote.h"
#include "plan/facts_diff.h"
#include "plan/gpu_wish.h"
#include "plan/host_set.h"

#include <stdlib.h>
#include <string.h>

#define FINDINGS_PATH "recipes/findings.csv"
#define FINDING_VALUE_BYTES 200 /* a longer value is cut where it is shown */

const char *const finding_severity_names[FINDING_SEVERITIES] = {"error", "warning", "note"};

const char *const finding_names[][2] = {
	{"cluster_engine", "the engine that cluster.yaml asks for, or none"},
	{"cluster_port", "the port of sshd in the containers"},
	{"cluster_registry", "the registry's host, without its port"},
	{"cluster_running", "yes where the cluster's container runs on the host"},
	{"cluster_hosts", "how many hosts were probed"},
	{"cluster_local", "yes where all hosts are one machine with loopback addresses"},
	{"stack_misfit", "why the stack of ringup.lock does not fit the host's driver and GPUs"},
	{"stack_accelerator", "cuda or cpu"},
	{"overlap", "another interface whose network holds the cluster's"},
	{"try_unreachable", "hosts that this host cannot reach at all"},
	{"try_filtered", "HOST:PORT that something between drops"},
	{"try_mtu", "largest packet that reaches the next host in one piece"},
	{NULL, NULL},
};

/* What a condition is judged by: one host, or NULL and the fleet. */
struct finding_world {
	const struct patient *patient;
	const struct facts *const *hosts;
	size_t count;
	struct arena *arena;
};

static bool finding_knows(const char *name)
{
	for (size_t i = 0; finding_names[i][0]; i++)
		if (strcmp(finding_names[i][0], name) == 0)
			return true;
	return fact_row(name) != FACT_NONE;
}

static const char *finding_value(const void *arg, const char *name)
{
	const struct finding_world *world = arg;
	size_t row = fact_row(name);

	if (!world->patient)
		return "";
	return row == FACT_NONE ? remote_value(world->patient->more, name, world->arena)
				: facts_text(world->patient->facts, row, world->arena);
}

/* A number among the members of struct facts is 0 where it is not known. */
static bool finding_is_unknown(const struct fact_row *row, const char *value)
{
	return !*value || (row->offset != FACT_MORE && strcmp(value, "0") == 0);
}

/* Where nvidia-smi fails, nothing says which GPUs a host has: it is in no group of what that program says of them. */
static bool finding_is_of_gpus(const char *key)
{
	return strcmp(key, "gpu_error") != 0 &&
	       (starts_with(key, "gpu") || starts_with(key, "nvlink"));
}

/* The hosts by what they say of a fact, without those that cannot say it; the groups are in the world's arena. */
static size_t finding_group(const struct finding_world *world, size_t row,
			    struct fact_group **groups)
{
	const struct facts **hosts =
		ARENA_ARRAY(world->arena, world->count + 1, const struct facts *);
	bool is_gpus = finding_is_of_gpus(fact_rows[row].key);
	size_t count = 0;

	for (size_t i = 0; i < world->count; i++)
		if (!is_gpus || !*world->hosts[i]->gpu_error)
			hosts[count++] = world->hosts[i];
	return facts_groups(hosts, count, row, world->arena, groups);
}

/* A number that is not known of a host is no other number; a text that is missing may be the difference, as a driver. */
static bool finding_differs(const void *arg, const char *name)
{
	const struct finding_world *world = arg;
	struct fact_group *groups;
	size_t row = fact_row(name), count, known = 0;

	if (row == FACT_NONE)
		return false;
	count = finding_group(world, row, &groups);
	for (size_t i = 0; i < count; i++)
		known += fact_rows[row].kind != FACT_WHOLE ||
			 !finding_is_unknown(&fact_rows[row], groups[i].value);
	return known > 1;
}

/* ---- the table ---- */

static int finding_row_error(const struct table *table, size_t row, const char *what,
			     struct error *err)
{
	return error_set(err, ERROR_USAGE, "%s:%zu: %s", table->path, table->lines[row], what);
}

/* Each place @{NAME} of the text names something. */
static bool finding_places_are_right(const char *text, struct arena *arena)
{
	for (const char *at = text; (at = strstr(at, "@{")); at += 2) {
		const char *end = strchr(at, '}');
		const char *name;

		if (!end)
			return false;
		name = arena_strndup(arena, at + 2, (size_t)(end - at) - 2);
		if (strcmp(name, "comma") != 0 && strcmp(name, "groups") != 0 &&
		    !finding_knows(name))
			return false;
	}
	return true;
}

static int finding_read(const struct table *table, size_t at, struct arena *arena,
			struct finding_row *row, struct error *err)
{
	const char *severity = table_cell(table, at, "severity");
	const char *scope = table_cell(table, at, "scope");

	*row = (struct finding_row){.id = table_cell(table, at, "id"),
				    .what = table_cell(table, at, "what"),
				    .why = table_cell(table, at, "why"),
				    .fix = table_cell(table, at, "fix"),
				    .command = table_cell(table, at, "command"),
				    .source = table_cell(table, at, "source"),
				    .severity = FINDING_SEVERITIES,
				    .is_fleet = strcmp(scope, "fleet") == 0};
	for (size_t i = 0; i < FINDING_SEVERITIES; i++)
		if (strcmp(severity, finding_severity_names[i]) == 0)
			row->severity = (enum finding_severity)i;
	if (row->severity == FINDING_SEVERITIES)
		return finding_row_error(table, at, "'severity' is not error, warning or note",
					 err);
	if (!row->is_fleet && strcmp(scope, "host") != 0)
		return finding_row_error(table, at, "'scope' is neither host nor fleet", err);
	if (!*row->id || !*row->what || !*row->why || !*row->fix || !*row->source)
		return finding_row_error(table, at, "a cell is empty", err);
	if (!finding_places_are_right(row->what, arena) ||
	    !finding_places_are_right(row->why, arena) ||
	    !finding_places_are_right(row->fix, arena))
		return finding_row_error(table, at, "a place @{NAME} names nothing", err);
	if (condition_parse(table_cell(table, at, "condition"), finding_knows, arena,
			    &row->condition, err) < 0)
		return error_wrap(err, "%s:%zu", table->path, table->lines[at]);
	return 0;
}

static int findings_read(const struct table *table, struct arena *arena, struct findings *findings,
			 struct error *err)
{
	*findings = (struct findings){
		.rows = ARENA_ARRAY(arena, table->row_count + 1, struct finding_row)};
	for (size_t i = 0; i < table->row_count; i++) {
		struct finding_row *row = &findings->rows[findings->count];

		if (finding_read(table, i, arena, row, err) < 0)
			return -1;
		for (size_t k = 0; k < findings->count; k++)
			if (strcmp(findings->rows[k].id, row->id) == 0)
				return finding_row_error(table, i, "a second row of this id", err);
		findings->count++;
	}
	return 0;
}

int findings_parse(const char *path, char *text, size_t length, struct arena *arena,
		   struct findings *findings, struct error *err)
{
	struct table table;

	if (table_parse(path, text, length, arena, &table, err) < 0)
		return -1;
	return findings_read(&table, arena, findings, err);
}

int findings_load(struct arena *arena, struct findings *findings, struct error *err)
{
	const char *path;
	char *text;
	size_t length;

	if (share_path(arena, FINDINGS_PATH, &path, err) < 0 ||
	    file_read(path, FILE_CEILING_BYTES, arena, &text, &length, err) < 0)
		return -1;
	return findings_parse(path, text, length, arena, findings, err);
}

/* ---- what is so ---- */

/* "535 on node[01-07]; 550 on node08": what the hosts say of the fact that a condition found to differ. */
static const char *finding_groups(const struct finding_world *world, size_t row)
{
	struct words parts = WORDS_INIT(world->arena);
	struct fact_group *groups;
	size_t count = finding_group(world, row, &groups);

	for (size_t i = 0; i < count; i++) {
		const char *value = groups[i].value;

		if (strcmp(fact_rows[row].key, "gpus") == 0)
			value = *value ? gpu_products(value, world->arena) : "none";
		words_addf(&parts, "%.200s on %s", *value ? value : "(unknown)",
			   host_set_fold(words_list(&groups[i].hosts), world->arena));
	}
	return words_join(&parts, "; ");
}

/* A value as people read it: sizes have a unit, and what is not known says so. */
static void finding_add_value(const char *name, const char *value, struct str *out)
{
	char buffer[32];
	char *end = NULL;
	double bytes = strtod(value, &end);

	if (!*value)
		str_add(out, "(unknown)");
	else if ((ends_with(name, "_bytes") || ends_with(name, "_memlock")) && !*end && bytes >= 0)
		str_add(out, format_bytes(buffer, (uint64_t)bytes));
	else
		str_add(out, value);
}

/* The text with its places filled in. In a fleet's row @{NAME} is what the groups of hosts say. */
static const char *finding_text(const struct finding_world *world, const char *text)
{
	_cleanup_(str_release) struct str out = STR_INIT, value = STR_INIT;
	const char *at;

	while ((at = strstr(text, "@{"))) {
		const char *end = strchr(at, '}');
		const char *name = arena_strndup(world->arena, at + 2, (size_t)(end - at) - 2);

		str_add_bytes(&out, text, (size_t)(at - text));
		str_clear(&value);
		if (strcmp(name, "comma") == 0)
			str_add(&value, ",");
		else if (!world->patient && fact_row(name) != FACT_NONE)
			str_add(&value, finding_groups(world, fact_row(name)));
		else
			finding_add_value(name, finding_value(world, name), &value);
		str_addf(&out, "%.*s", world->patient ? FINDING_VALUE_BYTES : (int)value.length,
			 foreign_clean_line(value.text));
		text = end + 1;
	}
	str_add(&out, text);
	return arena_strdup(world->arena, out.text);
}

/* Adds it, or its host to one that reads the same. */
static void finding_add(const struct finding_world *world, const struct finding_row *row,
			struct finding *list, size_t *count)
{
	struct finding f = {.row = row,
			    .what = finding_text(world, row->what),
			    .why = finding_text(world, row->why),
			    .fix = finding_text(world, row->fix),
			    .command = *row->command ? finding_text(world, row->command) : "",
			    .hosts = WORDS_INIT(world->arena)};
	struct finding *same = NULL;

	for (size_t i = 0; i < *count && !same; i++)
		if (list[i].row == row && strcmp(list[i].what, f.what) == 0 &&
		    strcmp(list[i].fix, f.fix) == 0)
			same = &list[i];
	if (!same) {
		list[*count] = f;
		same = &list[(*count)++];
	}
	if (world->patient)
		words_add(&same->hosts, world->patient->facts->host);
	for (size_t i = 0; !world->patient && i < world->count; i++)
		words_add(&same->hosts, world->hosts[i]->host);
}

size_t findings_of(const struct findings *findings, const struct patient *patients, size_t count,
		   struct arena *arena, struct finding **list)
{
	const struct facts **hosts = ARENA_ARRAY(arena, count + 1, const struct facts *);
	struct finding_world world = {.hosts = hosts, .count = count, .arena = arena};
	struct condition_world judge = {finding_value, finding_differs, &world};
	size_t found = 0;

	*list = ARENA_ARRAY(arena, findings->count * (count + 1) + 1, struct finding);
	for (size_t i = 0; i < count; i++)
		hosts[i] = patients[i].facts;
	for (size_t severity = 0; severity < FINDING_SEVERITIES; severity++)
		for (size_t r = 0; r < findings->count; r++) {
			const struct finding_row *row = &findings->rows[r];

			if (row->severity != severity)
				continue;
			world.patient = NULL;
			if (row->is_fleet && condition_holds(row->condition, &judge))
				finding_add(&world, row, *list, &found);
			for (size_t i = 0; !row->is_fleet && i < count; i++) {
				world.patient = &patients[i];
				if (condition_holds(row->condition, &judge))
					finding_add(&world, row, *list, &found);
			}
		}
	return found;
}
