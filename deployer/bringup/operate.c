/* SPDX-License-Identifier: MIT */
/* Work on a running cluster: take it down, read its logs, run words in it. */
#include "deployer/bringup/operate.h"

#include "core/clock.h"
#include "core/quote.h"
#include "deployer/bringup/bringup.h"
#include "deployer/container/container.h"
#include "deployer/container/images.h"
#include "deployer/records/journal.h"
#include "deployer/lease/up_leases.h"
#include "deployer/remote.h"
#include "deployer/container/replace.h"

#include <string.h>

#define DOWN_TIMEOUT_S 180
#define LOGS_LINES_READ "100000" /* of a log from which lines are left out */

/* What an interrupted `up` may have set aside. Only this cluster's folder can have led to it. */
static int operate_remove_aside(struct member *m, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	const struct engine_value values[] = {{"container", replace_aside_name(m), NULL}, {0}};
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = DOWN_TIMEOUT_S};

	if (!m->engine->has_containers || !*m->state.mesh)
		return 0;
	engine_expand(m->engine->remove, values, &words);
	command.words = words.list;
	/* mostly there is none, which the engine may call an error */
	return ssh_run(m->ssh, &command, &result, err);
}

static int operate_remove_container(struct member *m, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct ssh_command command = {.timeout_s = DOWN_TIMEOUT_S};

	if (operate_remove_aside(m, err) < 0)
		return -1;
	if (!*m->state.container_id)
		return 0;
	command.words = container_remove_words(m);
	m->changed = true;
	if (ssh_check(m->ssh, &command, "cannot remove the container", &result, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	journal_add(m, "remove", m->state.container_id);
	return member_give_up(m, err);
}

static int purge(struct member *m, struct error *err)
{
	const struct cluster *cluster = m->fleet->cluster;
	const char *ca = "";
	struct words words = WORDS_INIT(&m->arena);
	int rc;

	if (*m->engine->trust_folder && *cluster->registry.address)
		ca = arena_printf(&m->arena, "%s/%s/ca.crt", m->engine->trust_folder,
				  cluster->registry.address);
	if (remote_script("purge", WORDS(m->state.folder, ca), &words, err) < 0)
		return -1;
	m->changed = true;
	rc = member_check(m, words.list, "cannot remove all of the cluster's files", err);
	member_remove_images(m);
	return rc;
}

static int down_one(struct member *m, void *arg, struct error *err)
{
	const bool *with_purge = arg;
	struct progress_step *step = progress_begin(m->host->name, "");
	struct error ignored = {0};
	int rc = operate_remove_container(m, err);

	/* keys go also when something else stays; the first error is told */
	if (*with_purge && purge(m, rc == 0 ? err : &ignored) < 0)
		rc = -1;
	progress_end(step, rc == 0, "%s",
		     rc < 0	   ? "failed"
		     : *with_purge ? "down, nothing left"
				   : "down");
	return rc;
}

void fleet_down(struct fleet *fleet, bool with_purge)
{
	fleet_each(fleet, down_one, &with_purge);
}

/* The engine's words, in the script that leaves out what nobody wants to read unless `all`. */
static int operate_logs_words(struct member *m, int tail, bool all, struct words *words,
			      struct error *err)
{
	const char *count = arena_printf(&m->arena, "%d", tail);
	const struct engine_value values[] = {{"container", m->fleet->container, NULL},
					      {"tail", all ? count : LOGS_LINES_READ, NULL},
					      {0}};
	struct words logs = WORDS_INIT(&m->arena);
	_cleanup_(str_release) struct str line = STR_INIT;

	if (all) {
		engine_expand(m->engine->logs, values, words);
		return 0;
	}
	engine_expand(m->engine->logs, values, &logs);
	quote_words(&line, logs.list);
	return remote_script("logs", WORDS(line.text, count), words, err);
}

int member_logs(struct member *m, int tail, bool all, struct proc_result *result, struct error *err)
{
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {0};

	if (!m->engine->has_containers)
		return error_set(err, ERROR_FAILED, "%s: there is no container with engine %s",
				 m->host->name, m->engine->name);
	if (operate_logs_words(m, tail, all, &words, err) < 0 || member_connect(m, err) < 0)
		return -1;
	command.words = words.list;
	if (ssh_check(m->ssh, &command, "cannot read the container's log", result, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	return 0;
}

const char *const *member_bare_words(struct member *m, const char *const *words)
{
	const char *const *env = m->fleet->cluster->container.env;
	struct words all = WORDS_INIT(&m->arena);

	if (m->engine->has_containers || !env[0])
		return words;
	words_add(&all, "env");
	words_add_all(&all, env);
	words_add_all(&all, words);
	return all.list;
}

static const char *const *words_inside(struct member *m, const char *const *pattern,
				       const char *const *words)
{
	const struct engine_value values[] = {{"container", m->fleet->container, NULL}, {0}};
	struct words all = WORDS_INIT(&m->arena);

	engine_expand(pattern, values, &all);
	words_add_all(&all, words);
	return member_bare_words(m, all.list);
}

const char *const *member_exec_words(struct member *m, const char *const *words)
{
	return words_inside(m, m->engine->exec, words);
}

const char *const *member_talk_words(struct member *m, const char *const *words)
{
	return words_inside(m, m->engine->talk, words);
}

const char *const *member_guarded_words(struct member *m, const char *const *words)
{
	const struct engine_value values[] = {{"folder", m->state.folder, NULL}, {0}};
	struct words guarded = WORDS_INIT(&m->arena);

	if (strcmp(m->fleet->cluster->image.base, "scratch") == 0)
		return member_exec_words(m, words);
	words_addf(&guarded, "%sringup-job",
		   engine_expand_word(m->engine->program_folder, values, &m->arena));
	words_add_all(&guarded, WORDS("guard", "--"));
	words_add_all(&guarded, words);
	return member_talk_words(m, guarded.list);
}

static int operate_run(struct member *m, const char *const *words, int timeout_s, int output_fd,
		       struct proc_result *result, struct error *err)
{
	struct ssh_command command = {.words = words,
				      .holds_input = true,
				      .timeout_s = timeout_s,
				      .output_fd = output_fd < 0 ? 0 : output_fd,
				      .output_is_ours = true};
	uint64_t begin;

	if (member_connect(m, err) < 0)
		return -1;
	begin = clock_usec();
	if (ssh_run(m->ssh, &command, result, err) == 0)
		return 0;
	if (err->kind == ERROR_INTERRUPTED || clock_usec() - begin < (uint64_t)timeout_s * 1000000)
		return -1;
	return error_set(err, ERROR_FAILED, "%s: the command was ended, since it ran for %d s",
			 m->host->name, timeout_s);
}

int member_exec_to(struct member *m, bool is_local, const char *const *words, int timeout_s,
		   int output_fd, struct proc_result *result, struct error *err)
{
	struct words all = WORDS_INIT(&m->arena);

	if (!is_local)
		return operate_run(m, member_guarded_words(m, words), timeout_s, output_fd, result,
				   err);
	if (remote_script("on_host", words, &all, err) < 0)
		return -1;
	return operate_run(m, all.list, timeout_s, output_fd, result, err);
}

int member_exec(struct member *m, const char *const *words, int timeout_s,
		struct proc_result *result, struct error *err)
{
	return member_exec_to(m, false, words, timeout_s, -1, result, err);
}

int member_exec_local(struct member *m, const char *const *words, int timeout_s,
		      struct proc_result *result, struct error *err)
{
	return member_exec_to(m, true, words, timeout_s, -1, result, err);
}
