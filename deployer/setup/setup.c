/* SPDX-License-Identifier: MIT */
#include "deployer/setup/setup.h"

#include "core/file.h"
#include "core/quote.h"
#include "core/str.h"
#include "core/table.h"
#include "deployer/remote.h"
#include "deployer/setup/daemon_json.h"
#include "deployer/setup/nvidia_source.h"

#include <string.h>

#define STEP_TIMEOUT_S 1800 /* a driver is a gigabyte, and DKMS compiles it */
#define CHECK_TIMEOUT_S 120
#define DAEMON_JSON "/etc/docker/daemon.json"

static const char *const setup_parts[] = {"engine", "toolkit", "driver",   "fabric",
					  "time",   "limits",  "registry", NULL};
static const char *const setup_afters[] = {"nothing", "reboot", "engine", NULL};
static const char *const setup_names[] = {"setup_engine", "setup_driver", "setup_registry_ca",
					  "setup_nvidia", NULL};

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
	const char *after = table_cell(table, row, "after");

	*step = (struct setup_step){.id = table_cell(table, row, "id"),
				    .part = table_cell(table, row, "part"),
				    .what = table_cell(table, row, "what"),
				    .command =
					    setup_command(table_cell(table, row, "command"), arena),
				    .source = table_cell(table, row, "source"),
				    .reboot = strcmp(after, "reboot") == 0,
				    .restarts_engine = strcmp(after, "engine") == 0};
	if (!*step->id || !*step->what || !*step->command || !*step->source)
		return error_set(err, ERROR_USAGE, "%s:%zu: a cell is empty", table->path,
				 table->lines[row]);
	if (!setup_is_one(setup_afters, after))
		return error_set(err, ERROR_USAGE,
				 "%s:%zu: 'after' is not nothing, reboot or engine", table->path,
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

/* ---- the values of commands ---- */

static void setup_values(const struct setup_wish *wish, const struct facts *facts,
			 struct arena *arena, const char *values[SETUP_VALUES])
{
	struct nvidia_source source;

	values[0] = wish->driver;
	values[1] = wish->registry ? wish->registry : "";
	nvidia_source_of(wish->catalog, facts, arena, &source);
	values[2] = source.place;
	values[3] = source.key;
	values[4] = source.fingerprint;
	values[5] = source.sha256;
}

/* The words behind "@NAME", with the values in the place of $1 to $6. */
static void setup_script_words(const char *text, const char *const values[SETUP_VALUES],
			       struct words *words)
{
	char *rest = arena_strdup(words->arena, text), *word;

	while ((word = strsep(&rest, " "))) {
		_cleanup_(str_release) struct str out = STR_INIT;

		for (; *word; word++)
			if (word[0] == '$' && word[1] >= '1' && word[1] <= '0' + SETUP_VALUES)
				str_add(&out, values[*++word - '1']);
			else
				str_add_char(&out, *word);
		words_add(words, out.text);
	}
}

/* "repository" of "@repository nvidia ..."; NULL where the command is for a shell. *rest is what follows. */
static const char *setup_script(const struct setup_step *step, struct arena *arena,
				const char **rest)
{
	size_t length = strcspn(step->command, " ");

	if (*step->command != '@')
		return NULL;
	*rest = step->command + length + (step->command[length] == ' ');
	return arena_printf(arena, "setup_%.*s", (int)length - 1, step->command + 1);
}

static int setup_words(const struct setup_step *step, const char *const values[SETUP_VALUES],
		       struct words *words, struct error *err)
{
	struct words arguments = WORDS_INIT(words->arena);
	const char *rest, *script = setup_script(step, words->arena, &rest);

	if (!script) {
		words_add_all(words,
			      WORDS("sh", "-c", step->command, "setup", values[0], values[1]));
		return 0;
	}
	setup_script_words(rest, values, &arguments);
	return remote_script(script, words_list(&arguments), words, err);
}

const char *setup_shown(const struct setup_step *step, const char *const values[SETUP_VALUES],
			struct arena *arena)
{
	_cleanup_(str_release) struct str out = STR_INIT;
	struct words words = WORDS_INIT(arena);
	const char *rest, *script = setup_script(step, arena, &rest);
	size_t last = 0;

	if (script) {
		setup_script_words(rest, values, &words);
		str_addf(&out, "%s.sh ", script);
		quote_words(&out, words_list(&words));
		return arena_strdup(arena, out.text);
	}
	for (size_t i = 0; i < 2; i++)
		if (strstr(step->command, arena_printf(arena, "$%zu", i + 1)) ||
		    strstr(step->command, arena_printf(arena, "${%zu", i + 1)))
			last = i + 1;
	if (last)
		str_add(&out, "set --");
	for (size_t i = 0; i < last; i++) {
		str_add_char(&out, ' ');
		quote_word(&out, values[i]);
	}
	str_addf(&out, "%s%s", last ? "; " : "", step->command);
	return arena_strdup(arena, out.text);
}

/* ---- the plan ---- */

struct setup_world {
	const struct setup_wish *wish;
	const struct facts *facts;
	struct nvidia_source nvidia;
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
	if (strcmp(name, "setup_nvidia") == 0)
		return world->nvidia.place;
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
	struct setup_world world = {.wish = wish, .facts = facts, .arena = arena};
	struct condition_world judge = {setup_value, setup_differs, &world};

	nvidia_source_of(wish->catalog, facts, arena, &world.nvidia);
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
	const char *there = "";

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

/* Takes what setup_look.sh printed apart: *look has its lines, *text the file. */
static int setup_look(struct member *m, const char **look, const char **text, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = CHECK_TIMEOUT_S};
	char *said, *file;

	if (remote_script("setup_look", WORDS(DAEMON_JSON), &words, err) < 0 ||
	    member_connect(m, err) < 0)
		return -1;
	command.words = words.list;
	if (ssh_check(m->ssh, &command, DAEMON_JSON, &result, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	said = arena_printf(&m->arena, "\n%s", result.out.text);
	file = strstr(said, "\nfile\n");
	*text = file ? file + strlen("\nfile\n") : "";
	if (file)
		file[1] = '\0';
	*look = said + 1;
	return 0;
}

static int setup_plan_daemon(struct member *m, const struct setup_work *work, const char *look,
			     const char *there, struct error *err)
{
	struct setup_turn *turn = &work->turns[m->index];
	const char *file = remote_value(look, "flag_config-file", &m->arena);

	if (!work->wish->daemon)
		return 0;
	if (*file && strcmp(file, DAEMON_JSON) != 0)
		return error_set(err, ERROR_USAGE,
				 "%s: its Docker Engine reads %s and not " DAEMON_JSON
				 ": leave it alone with --skip daemon",
				 m->host->name, file);
	if (daemon_json_merge(there, look, work->wish->daemon, &m->arena, &turn->daemon,
			      &turn->added, &turn->kept, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	return 0;
}

/* What of the plan needs the engine to be restarted, and whether it may be. */
static void setup_plan_engine(struct member *m, const struct setup_work *work, const char *look)
{
	struct setup_turn *turn = &work->turns[m->index];
	struct words steps = WORDS_INIT(&m->arena);
	bool is_fresh = false;

	for (size_t i = 0; i < work->steps->count; i++) {
		const struct setup_step *step = &work->steps->steps[i];

		if (turn->needs[i] && step->restarts_engine)
			words_add(&steps, step->id);
		is_fresh |= turn->needs[i] && strcmp(step->part, "engine") == 0;
	}
	/* an engine without a daemon has nothing to restart */
	is_fresh &= work->wish->has_settings && !*m->facts.engine &&
		    strcmp(facts_text(&m->facts, fact_row("init"), &m->arena), "systemd") == 0;
	daemon_turn_plan(look, &turn->added, &steps, is_fresh, &m->arena, &turn->engine);
}

/* A sentence that says how to become root there; "" where we are. */
static const char *setup_not_root(struct member *m)
{
	const char *by = facts_text(&m->facts, fact_row("root_by"), &m->arena);
	const char *user = facts_text(&m->facts, fact_row("user"), &m->arena);

	if (!*by || strcmp(by, "login") == 0)
		return "";
	if (strcmp(by, "sudo") == 0)
		return arena_printf(
			&m->arena,
			"user %s is not root there, and can become it by sudo: set sudo: true for "
			"the host in cluster.yaml",
			user);
	return arena_printf(
		&m->arena,
		"user %s is not root there, and sudo without a password does not work: set "
		"user: root for the host in cluster.yaml, or allow sudo and set sudo: true",
		user);
}

static bool setup_has_work(const struct setup_work *work, const struct setup_turn *turn)
{
	bool has = turn->daemon != NULL;

	for (size_t i = 0; i < work->steps->count; i++)
		has |= turn->needs[i];
	return has;
}

static int setup_plan_one(struct member *m, void *arg, struct error *err)
{
	const struct setup_work *work = arg;
	struct setup_turn *turn = &work->turns[m->index];
	const char *look = "", *there = "";

	turn->added = (struct words)WORDS_INIT(&m->arena);
	turn->kept = (struct words)WORDS_INIT(&m->arena);
	turn->not_root = "";
	setup_values(work->wish, &m->facts, &m->arena, turn->values);
	turn->needs = ARENA_ARRAY(&m->arena, work->steps->count + 1, bool);
	setup_needs(work->steps, work->wish, &m->facts, &m->arena, turn->needs);
	if (setup_plan_registry(m, work, err) < 0)
		return -1;
	if (work->wish->has_settings && setup_look(m, &look, &there, err) < 0)
		return -1;
	if (setup_plan_daemon(m, work, look, there, err) < 0)
		return -1;
	setup_plan_engine(m, work, look);
	if (setup_has_work(work, turn))
		turn->not_root = setup_not_root(m);
	if (*turn->not_root && !work->wish->only_plan)
		return error_set(err, ERROR_FAILED, "%s: %s", m->host->name, turn->not_root);
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

static int setup_write_daemon(struct member *m, const char *text, struct error *err)
{
	struct words words = WORDS_INIT(&m->arena);

	if (remote_script("setup_file", WORDS(DAEMON_JSON, "dockerd"), &words, err) < 0)
		return -1;
	return setup_run(m, words.list, text, DAEMON_JSON, err);
}

static int setup_do_steps(struct member *m, const struct setup_work *work,
			  struct progress_step *step, struct error *err)
{
	for (size_t i = 0; i < work->steps->count; i++) {
		const struct setup_step *s = &work->steps->steps[i];
		const struct setup_turn *turn = &work->turns[m->index];
		struct words words = WORDS_INIT(&m->arena);

		if (!turn->needs[i])
			continue;
		progress_state(step, "%s", s->what);
		if (setup_words(s, turn->values, &words, err) < 0 ||
		    setup_run(m, words.list,
			      strcmp(s->part, "registry") == 0 ? work->wish->registry_ca : NULL,
			      s->id, err) < 0)
			return -1;
	}
	return 0;
}

/* Lets the engine take over what was written, also where a later step failed. */
static int setup_do_engine(struct member *m, const struct daemon_turn *turn,
			   struct progress_step *step, struct error *err)
{
	if (!*turn->script)
		return 0;
	progress_state(step, "%s", turn->command);
	return setup_run(m, WORDS("sh", "-c", turn->script), NULL, turn->command, err);
}

static int setup_do_one(struct member *m, void *arg, struct error *err)
{
	const struct setup_work *work = arg;
	const struct setup_turn *turn = &work->turns[m->index];
	struct progress_step *step = progress_begin(m->host->name, "");
	struct error later = {0};
	int rc = 0;

	/* before the engine starts for the first time, so that it starts with them */
	if (turn->daemon && setup_write_daemon(m, turn->daemon, err) < 0) {
		progress_end(step, false, "failed");
		return -1;
	}
	rc = setup_do_steps(m, work, step, err);
	if ((rc == 0 || turn->daemon) &&
	    setup_do_engine(m, &turn->engine, step, rc == 0 ? err : &later) < 0)
		rc = -1;
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
