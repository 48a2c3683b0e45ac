/* SPDX-License-Identifier: MIT */
#include "cli/run_view.h"

#include "core/foreign.h"
#include "core/quote.h"
#include "deployer/job/record.h"

#include <string.h>

/* All NAME=VALUE of a task; of two with one name the later counts. */
static const char *const *run_view_env(const struct job_plan *plan, const struct job_host *host,
				       const char *const *own)
{
	struct words env = WORDS_INIT(plan->arena);

	words_add_all(&env, job_host_defaults(plan, host));
	words_add_all(&env, own);
	words_add_all(&env, plan->options->env);
	return words_list(&env);
}

/* `who` is "" or what comes behind the host's name. */
static void run_view_line(const struct job_plan *plan, const struct job_host *host, const char *who,
			  const char *const *env, const char *const *command)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	const char *workdir = job_workdir(plan->options, host->member);
	struct words words = WORDS_INIT(plan->arena);

	words_add(&words, "env");
	words_add_all(&words, env);
	words_add_all(&words, command);
	quote_words(&line, words.list);
	say("%s%s: %s%s%s%s\n", host->member->host->name, who, *workdir ? "cd " : "", workdir,
	    *workdir ? "; " : "", line.text);
}

static cJSON *run_view_env_json(const char *const *env, struct arena *arena)
{
	cJSON *object = cJSON_CreateObject();

	for (; *env; env++) {
		char *name = arena_strdup(arena, *env), *value = strchr(name, '=');

		*value++ = '\0';
		cJSON_DeleteItemFromObjectCaseSensitive(object, name);
		cJSON_AddStringToObject(object, name, value);
	}
	return object;
}

/* A new element of the array, with all but the ranks. */
static cJSON *run_view_item(const struct job_plan *plan, const struct job_host *host,
			    const char *const *env, const char *const *command, cJSON *list)
{
	cJSON *item = cJSON_CreateObject(), *words;

	cJSON_AddItemToArray(list, item);
	cJSON_AddStringToObject(item, "host", host->member->host->name);
	json_add_text(item, "workdir", job_workdir(plan->options, host->member));
	words = cJSON_AddArrayToObject(item, "words");
	for (const char *const *word = command; *word; word++)
		cJSON_AddItemToArray(words, cJSON_CreateString(*word));
	cJSON_AddItemToObject(item, "env", run_view_env_json(env, plan->arena));
	return item;
}

void run_view_task(const struct job_plan *plan, const struct job_host *host,
		   const struct job_task *task, cJSON *tasks)
{
	const char *const *env = run_view_env(plan, host, task->env);
	int rank = job_label_rank(task->label);
	cJSON *item;

	if (!tasks) {
		run_view_line(plan, host, "", env, task->words);
		return;
	}
	item = run_view_item(plan, host, env, task->words, tasks);
	if (rank >= 0)
		cJSON_AddNumberToObject(item, "rank", rank);
}

void run_view_joining(const struct job_plan *plan, const struct job_host *host, cJSON *joining)
{
	const char *const *env = run_view_env(plan, host, WORDS(NULL));
	const char *const *command = plan->options->command;
	int last = host->first_rank + host->ranks - 1;
	cJSON *ranks;

	if (!joining) {
		const char *who = last == host->first_rank
					  ? arena_printf(plan->arena, ", rank %d", last)
					  : arena_printf(plan->arena, ", ranks %d to %d",
							 host->first_rank, last);

		run_view_line(plan, host, who, env, command);
		return;
	}
	ranks = cJSON_AddArrayToObject(run_view_item(plan, host, env, command, joining), "ranks");
	for (int rank = host->first_rank; rank <= last; rank++)
		cJSON_AddItemToArray(ranks, cJSON_CreateNumber(rank));
}

void run_view_begin(const struct stages *s, const char *name)
{
	_cleanup_(json_free) cJSON *json = NULL;
	struct job_record record = {0};
	struct error ignored = {0};
	bool waits;

	if (!s->ctx->json) {
		say("%s\n", name);
		return;
	}
	json = json_document();
	waits = job_record_read(&s->cluster, name, s->arena, &record, &ignored) == 0 &&
		strcmp(record.state, "waiting") == 0;
	cJSON_AddStringToObject(json, "job", name);
	cJSON_AddStringToObject(json, "state", waits ? "waiting" : "running");
	cJSON_AddStringToObject(json, "folder",
				arena_printf(s->arena, "%s/%s",
					     cluster_state_path(&s->cluster, "jobs", s->arena),
					     name));
	json_print(stdout, json);
}
