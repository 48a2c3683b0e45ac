/* SPDX-License-Identifier: MIT */
#include "cli/run_view.h"

#include "core/foreign.h"
#include "core/quote.h"

#include <string.h>

/* All NAME=VALUE of a task; of two with one name the later counts. */
static const char *const *run_view_env(const struct job_plan *plan, const struct job_host *host,
				       const struct job_task *task)
{
	struct words env = WORDS_INIT(plan->arena);

	words_add_all(&env, job_host_defaults(plan, host));
	words_add_all(&env, task->env);
	words_add_all(&env, plan->options->env);
	return words_list(&env);
}

static void run_view_line(const struct job_plan *plan, const struct job_host *host,
			  const struct job_task *task)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	const char *workdir = job_workdir(plan->options, host->member);
	struct words words = WORDS_INIT(plan->arena);

	words_add(&words, "env");
	words_add_all(&words, run_view_env(plan, host, task));
	words_add_all(&words, task->words);
	quote_words(&line, words.list);
	say("%s: %s%s%s%s\n", host->member->host->name, *workdir ? "cd " : "", workdir,
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

void run_view_task(const struct job_plan *plan, const struct job_host *host,
		   const struct job_task *task, cJSON *tasks)
{
	int rank = job_label_rank(task->label);
	cJSON *item, *words;

	if (!tasks) {
		run_view_line(plan, host, task);
		return;
	}
	item = cJSON_CreateObject();
	cJSON_AddItemToArray(tasks, item);
	cJSON_AddStringToObject(item, "host", host->member->host->name);
	if (rank >= 0)
		cJSON_AddNumberToObject(item, "rank", rank);
	json_add_text(item, "workdir", job_workdir(plan->options, host->member));
	words = cJSON_AddArrayToObject(item, "words");
	for (const char *const *word = task->words; *word; word++)
		cJSON_AddItemToArray(words, cJSON_CreateString(*word));
	cJSON_AddItemToObject(item, "env",
			      run_view_env_json(run_view_env(plan, host, task), plan->arena));
}

void run_view_begin(const char *name, const char *folder)
{
	_cleanup_(json_free) cJSON *json = json_document();

	cJSON_AddStringToObject(json, "job", name);
	cJSON_AddStringToObject(json, "state", "running");
	cJSON_AddStringToObject(json, "folder", folder);
	json_print(stdout, json);
}
