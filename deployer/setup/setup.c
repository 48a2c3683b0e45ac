/* SPDX-License-Identifier: MIT */
#include "deployer/setup/setup.h"

#include "core/file.h"
#include "core/str.h"
#include "core/table.h"
#include "deployer/remote.h"
#include "deployer/setup/daemon_json.h"

#include <string.h>

#define STEP_TIMEOUT_S 1800 /* a driver is a gigabyte, and DKMS compiles it */
#define CHECK_TIMEOUT_S 120

static const char *const setup_parts[] = {"engine", "toolkit", "driver",   "fabric",
					  "time",   "limits",  "registry", NULL};
static const char *const setup_names[] = {"setup_engine", "setup_driver", "setup_registry_ca",
					  NULL};

static bool setup_is_one(const char *const *list, const char *word)
{
	for (; list && *list; list++)
		if (strcmp(*list, word) == 0)
			return true;
	return false;
}

static bool setup_knows(const char *name)
{
	return setup_is_one(setup_names, name) || fact_row(name) != FACT_NONE;
}

/* ---- the table ---- */

static const char *setup_command(const char *cell, struct arena *arena)
{
	_cleanup_(str_release) struct str out = STR_INIT;
	const char *at;

	for (; (at = strstr(cell, "@{comma}")); cell = at + strlen("@{comma}")) {
		str_add_bytes(&out, cell, (size_t)(at - cell));
		str_add(&out, ",");
	}
	str_add(&out, cell);
	return arena_strdup(arena, out.text);
}

static int setup_read(const struct table *table, size_t row, struct arena *arena,
		      struct setup_step *step, struct error *err)
{
	*step = (struct setup_step){.id = table_cell(table, row, "id"),
				    .part = table_cell(table, row, "part"),
				    .what = table_cell(table, row, "what"),
				    .command =
					    setup_command(table_cell(table, row, "command"), arena),
				    .source = table_cell(table, row, "source"),
				    .reboot = strcmp(table_cell(table, row, "reboot"), "yes") == 0};
	if (!*step->id || !*step->what || !*step->command || !*step->source)
		return error_set(err, ERROR_USAGE, "%s:%zu: a cell is empty", table->path,
				 table->lines[row]);
	if (!setup_is_one(setup_parts, step->part))
		return error_set(err, ERROR_USAGE, "%s:%zu: there is no part '%s'", table->path,
				 table->lines[row], step->part);
	if (condition_parse(table_cell(table, row, "condition"), setup_knows, arena,
			    &step->condition, err) < 0)
		return error_wrap(err, "%s:%zu", table->path, table->lines[row]);
	return 0;
}

int setup_parse(const char *path, char *text, size_t length, struct arena *arena,
		struct setup_steps *steps, struct error *err)
{
	struct table table;

	if (table_parse(path, text, length, arena, &table, err) < 0)
		return -1;
	*steps = (struct setup_steps){
		.steps = ARENA_ARRAY(arena, table.row_count + 1, struct setup_step)};
	for (; steps->count < table.row_count; steps->count++)
		if (setup_read(&table, steps->count, arena, &steps->steps[steps->count], err) < 0)
			return -1;
	return 0;
}

int setup_load(struct arena *arena, struct setup_steps *steps, struct error *err)
{
	const char *path;
	char *text;
	size_t length;

	if (share_path(arena, "recipes/setup.csv", &path, err) < 0 ||
	    file_read(path, FILE_CEILING_BYTES, arena, &text, &length, err) < 0)
		return -1;
	return setup_parse(path, text, length, arena, steps, err);
}

/* ---- the plan ---- */

struct setup_world {
	const struct setup_wish *wish;
	const struct facts *facts;
	struct arena *arena;
};

static const char *setup_value(const void *arg, const char *name)
{
	const struct setup_world *world = arg;

	if (strcmp(name, "setup_engine") == 0)
		return world->wish->engine;
	if (strcmp(name, "setup_driver") == 0)
		return world->wish->driver;
	if (strcmp(name, "setup_registry_ca") == 0)
		return world->wish->registry_ca ? "yes" : "";
	return facts_text(world->facts, fact_row(name), world->arena);
}

/* A host is judged by itself. */
static bool setup_differs(const void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return false;
}

void setup_needs(const struct setup_steps *steps, const struct setup_wish *wish,
		 const struct facts *facts, struct arena *arena, bool *needs)
{
	struct setup_world world = {wish, facts, arena};
	struct condition_world judge = {setup_value, setup_differs, &world};

	for (size_t i = 0; i < steps->count; i++)
		needs[i] = !setup_is_one(wish->skip, steps->steps[i].part) &&
			   condition_holds(steps->steps[i].condition, &judge);
}

/* What the threads of the hosts share. */
struct setup_work {
	const struct setup_steps *steps;
	const struct setup_wish *wish;
	struct setup_turn *turns;
};

/* What a file of the host holds; "" where there is none. */
static int setup_cat(struct member *m, const char *path, const char **text, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct ssh_command command = {
		.words = WORDS("sh", "-c", "cat \"$1\" 2>/dev/null || true", "cat", path)};

	if (member_connect(m, err) < 0)
		return -1;
	if (ssh_check(m->ssh, &command, path, &result, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	*text = arena_strdup(&m->arena, result.out.text);
	return 0;
}

/* The steps of the registry are done where its CA is there already. */
static int setup_plan_registry(struct member *m, const struct setup_work *work, struct error *err)
{
	const char *there;

	if (!work->wish->registry_ca)
		return 0;
	if (setup_cat(
		    m,
		    arena_printf(&m->arena, "/etc/docker/certs.d/%s/ca.crt", work->wish->registry),
		    &there, err) < 0)
		return -1;
	for (size_t i = 0; i < work->steps->count; i++)
		if (strcmp(work->steps->steps[i].part, "registry") == 0 &&
		    strcmp(there, work->wish->registry_ca) == 0)
			work->turns[m->index].needs[i] = false;
	return 0;
}

static int setup_plan_one(struct member *m, void *arg, struct error *err)
{
	const struct setup_work *work = arg;
	struct setup_turn *turn = &work->turns[m->index];
	const char *there;

	turn->added = (struct words)WORDS_INIT(&m->arena);
	turn->kept = (struct words)WORDS_INIT(&m->arena);
	turn->needs = ARENA_ARRAY(&m->arena, work->steps->count + 1, bool);
	setup_needs(work->steps, work->wish, &m->facts, &m->arena, turn->needs);
	if (setup_plan_registry(m, work, err) < 0)
		return -1;
	if (!work->wish->daemon)
		return 0;
	if (setup_cat(m, "/etc/docker/daemon.json", &there, err) < 0)
		return -1;
	if (daemon_json_merge(there, work->wish->daemon, &m->arena, &turn->daemon, &turn->added,
			      &turn->kept, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	return 0;
}

struct setup_turn *setup_plan(struct fleet *fleet, const struct setup_steps *steps,
			      const struct setup_wish *wish)
{
	struct setup_work work = {steps, wish,
				  ARENA_ARRAY(fleet->arena, fleet->count + 1, struct setup_turn)};

	fleet_each(fleet, setup_plan_one, &work);
	return work.turns;
}

/* ---- doing it ---- */

static int setup_run(struct member *m, const char *const *words, const char *input,
		     const char *what, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct ssh_command command = {.words = words,
				      .input = input,
				      .input_bytes = input ? strlen(input) : 0,
				      .timeout_s = STEP_TIMEOUT_S};

	if (member_connect(m, err) < 0)
		return -1;
	if (ssh_check(m->ssh, &command, what, &result, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	m->changed = true;
	return 0;
}

static int setup_write(struct member *m, const char *path, const char *text, struct error *err)
{
	struct words words = WORDS_INIT(&m->arena);

	if (remote_script("setup_file", WORDS(path), &words, err) < 0)
		return -1;
	return setup_run(m, words.list, text, path, err);
}

static int setup_do_one(struct member *m, void *arg, struct error *err)
{
	const struct setup_work *work = arg;
	const struct setup_turn *turn = &work->turns[m->index];
	struct progress_step *step = progress_begin(m->host->name, "");
	int rc = 0;

	/* before the engine starts for the first time, so that it starts with them */
	if (turn->daemon)
		rc = setup_write(m, "/etc/docker/daemon.json", turn->daemon, err);
	for (size_t i = 0; rc == 0 && i < work->steps->count; i++) {
		const struct setup_step *s = &work->steps->steps[i];

		if (!turn->needs[i])
			continue;
		progress_state(step, "%s", s->what);
		rc = setup_run(m,
			       WORDS("sh", "-c", s->command, "setup", work->wish->driver,
				     work->wish->registry),
			       strcmp(s->part, "registry") == 0 ? work->wish->registry_ca : NULL,
			       s->id, err);
	}
	progress_end(step, rc == 0, "%s", rc == 0 ? "set up" : "failed");
	return rc;
}

void setup_do(struct fleet *fleet, const struct setup_steps *steps, const struct setup_wish *wish,
	      struct setup_turn *turns)
{
	struct setup_work work = {steps, wish, turns};

	fleet_each(fleet, setup_do_one, &work);
}

static int setup_verify_one(struct member *m, void *arg, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = CHECK_TIMEOUT_S};

	if (remote_script("setup_check", WORDS((const char *)arg), &words, err) < 0 ||
	    member_connect(m, err) < 0)
		return -1;
	command.words = words.list;
	if (ssh_check(m->ssh, &command, "a container of the host's own /bin/true", &result, err) <
	    0)
		return error_wrap(err, "%s", m->host->name);
	return 0;
}

void setup_verify(struct fleet *fleet, const char *engine)
{
	struct progress_step *step = progress_begin("verify", "");

	fleet_each(fleet, setup_verify_one, (void *)engine);
	progress_end(step, fleet_failures(fleet) == 0, "%zu of %zu hosts run a container",
		     fleet_asked(fleet) - fleet_failures(fleet), fleet_asked(fleet));
}
