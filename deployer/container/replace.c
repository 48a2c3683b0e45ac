/* SPDX-License-Identifier: MIT */
#include "deployer/container/replace.h"

#include "core/quote.h"
#include "deployer/bringup/claim.h"
#include "deployer/records/journal.h"
#include "deployer/bringup/mesh.h"
#include "deployer/bringup/operate.h"
#include "deployer/probe.h"
#include "deployer/remote.h"

#include <string.h>

#define REPLACE_TIMEOUT_S 300
#define REPLACE_SAID_BYTES 600

const char *replace_aside_name(struct member *m)
{
	/* a dot is in no cluster's name */
	return arena_printf(&m->arena, "%s.before", m->fleet->container);
}

/* One of the engine's fixed commands for a container, which may get another name. */
static const char *const *replace_words(struct member *m, const char *const *pattern,
					const char *container, const char *name)
{
	const struct engine_value values[] = {
		{"container", container, NULL}, {"name", name, NULL}, {"tail", "20", NULL}, {0}};
	struct words words = WORDS_INIT(&m->arena);

	engine_expand(pattern, values, &words);
	return words.list;
}

static void replace_add(struct words *out, const char *key, const char *const *words)
{
	_cleanup_(str_release) struct str line = STR_INIT;

	quote_words(&line, words);
	words_addf(out, "%s=%s", key, line.text);
}

/* An interrupted run leaves a container aside only where it has put its files first. */
static void replace_add_old(struct member *m, bool is_first, struct words *out)
{
	const struct engine *e = m->engine;
	const char *own = m->fleet->container, *aside = replace_aside_name(m);
	const char *old = m->state.container_id;

	words_addf(out, "old=%s", *old ? "yes" : "");
	words_addf(out, "ran=%s", m->state.running ? "yes" : "");
	replace_add(out, "stop", replace_words(m, e->stop, old, ""));
	replace_add(out, "rename", replace_words(m, e->rename, old, aside));
	if (!is_first)
		replace_add(out, "stop_aside", replace_words(m, e->stop, aside, ""));
	replace_add(out, "remove_aside", replace_words(m, e->remove, aside, ""));
	replace_add(out, "back", replace_words(m, e->rename, aside, own));
	replace_add(out, "start", replace_words(m, e->resume, own, ""));
}

/* How to look at the container that has the name in the end. */
static int replace_add_proof(struct member *m, struct words *out, struct error *err)
{
	const struct engine *e = m->engine;
	const char *own = m->fleet->container;
	struct words login = WORDS_INIT(&m->arena);

	if (remote_script("mesh", WORDS("0", m->host->name), &login, err) < 0)
		return -1;
	words_addf(out, "folder=%s", m->state.folder);
	replace_add(out, "state", replace_words(m, e->state, own, ""));
	replace_add(out, "logs", replace_words(m, e->logs, own, ""));
	replace_add(out, "remove", replace_words(m, e->remove, own, ""));
	replace_add(out, "has_ssh",
		    m->sshd_port ? member_exec_words(m, WORDS("sh", "-c", "command -v ssh"))
				 : WORDS("false"));
	replace_add(out, "prove", member_exec_words(m, login.list));
	return 0;
}

void replace_each_command(struct visit *v, void (*add)(void *arg, const char *const *words),
			  void *arg)
{
	struct member *m = v->m;
	const char *old = m->state.container_id, *aside = replace_aside_name(m);

	if (*old) {
		add(arg, replace_words(m, m->engine->stop, old, ""));
		add(arg, replace_words(m, m->engine->rename, old, aside));
	}
	add(arg, container_run_words(m, &v->container));
	add(arg, replace_words(m, m->engine->keep, m->fleet->container, ""));
	if (*old)
		add(arg, replace_words(m, m->engine->remove, aside, ""));
}

static const char *replace_outcome(struct member *m, const char *text)
{
	const char *back = remote_value(text, "back", &m->arena);

	if (strcmp(back, "yes") == 0)
		return "the old container is back and runs";
	if (strcmp(back, "stopped") == 0)
		return "the old container is back, stopped as it was";
	if (strcmp(back, "died") == 0)
		return "the old container is back, but it does not run any more";
	if (strcmp(back, "no") == 0)
		return arena_printf(&m->arena,
				    "the old container cannot be put back: it is %s there",
				    replace_aside_name(m));
	return "";
}

/* What went wrong with the container, by what the script said. Always returns -1. */
static int replace_failed(struct member *m, struct proc_result *result, const char *what,
			  struct error *err)
{
	const char *text = result->out.text;
	const char *failed = remote_value(text, "failed", &m->arena);

	ssh_drop_hints(&result->err);
	str_one_line(&result->err, REPLACE_SAID_BYTES);
	if (strcmp(failed, "died") == 0)
		return mesh_died(m, remote_value(text, "container_exit", &m->arena),
				 result->err.text, err);
	if (strcmp(failed, "sshd") == 0)
		return error_set(err, ERROR_FAILED,
				 "%s: the container's sshd does not let it in on port %d: %s",
				 m->host->name, m->sshd_port, result->err.text);
	return error_set(err, ERROR_FAILED, "%s: cannot %s the container: %s", m->host->name, what,
			 result->err.length ? result->err.text : "it failed without a word");
}

/* The same for a new one, and whether the old one is back. */
static int replace_explain(struct visit *v, struct proc_result *result, struct error *err)
{
	const char *outcome = replace_outcome(v->m, result->out.text);

	replace_failed(v->m, result, "start", err);
	if (strstr(result->out.text, "failed=run"))
		visit_explain(v, ENGINE_RUNS, err);
	return *outcome ? error_advise(err, "%s", outcome) : -1;
}

static int replace_run(struct visit *v, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct member *m = v->m;
	struct words arguments = WORDS_INIT(&m->arena), words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = REPLACE_TIMEOUT_S};

	progress_state(v->step,
		       *m->state.container_id ? "replaces the container" : "starts the container");
	replace_add_old(m, v->is_first, &arguments);
	replace_add(&arguments, "run", container_run_words(m, &v->container));
	if (replace_add_proof(m, &arguments, err) < 0 ||
	    remote_script("replace", arguments.list, &words, err) < 0 || member_connect(m, err) < 0)
		return -1;
	command.words = words.list;
	if (ssh_run(m->ssh, &command, &result, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	if (result.status != 0)
		return replace_explain(v, &result, err);
	probe_read_container(m, result.out.text);
	m->state.container_id = remote_value(result.out.text, "new_id", &m->arena);
	return 0;
}

int visit_replace(struct visit *v, struct error *err)
{
	struct member *m = v->m;

	m->changed = true;
	if (replace_run(v, err) < 0) {
		/*
		 * After the probe, the engine finished a start that an interrupted run had begun. Or
		 * somebody else made a container of that name: then it stays.
		 */
		if (!m->engine->is_name_taken(err))
			return -1;
		*err = (struct error){0};
		if (member_ask_owner(m, err) < 0 || replace_run(v, err) < 0)
			return -1;
	}
	m->state.config = v->container.config_hash;
	m->state.running = true;
	journal_add(m, "run", m->state.container_id);
	return 0;
}

int member_restart(struct member *m, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words arguments = WORDS_INIT(&m->arena), words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = REPLACE_TIMEOUT_S};

	replace_add(&arguments, "restart",
		    replace_words(m, m->engine->restart, m->state.container_id, ""));
	if (replace_add_proof(m, &arguments, err) < 0 ||
	    remote_script("replace", arguments.list, &words, err) < 0 || member_connect(m, err) < 0)
		return -1;
	command.words = words.list;
	m->changed = true;
	if (ssh_run(m->ssh, &command, &result, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	if (result.status != 0)
		return replace_failed(m, &result, "restart", err);
	probe_read_container(m, result.out.text);
	journal_add(m, "restart", m->state.container_id);
	return 0;
}
