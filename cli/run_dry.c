/* SPDX-License-Identifier: MIT */
#include "cli/run_dry.h"

#include "cli/app/stage_lease.h"
#include "cli/app/stage_facts.h"
#include "cli/run_view.h"

#include "core/log.h"
#include "core/words.h"
#include "deployer/container/gpus.h"
#include "deployer/launcher/launcher.h"

#include <string.h>

/*
 * Takes what the last probe said of the hosts, since a dry run asks nobody, and says what the numbers of ranks rest on.
 */
static int dry_facts(struct stages *s, const struct job_options *o, struct error *err)
{
	struct words unknown = WORDS_INIT(s->arena);
	size_t has, most = 0;
	struct gpu_wish wish;

	if (stage_lend_facts(s, err) < 0)
		return -1;
	for (size_t i = 0; i < s->fleet.count; i++) {
		struct member *m = &s->fleet.members[i];

		if (m->facts.gpus) {
			member_gpu_wish(m, &wish);
			has = gpu_wish_count(&wish, &m->facts);
			most = has > most ? has : most;
		} else if (o->gpus || (!o->per_host && !m->host->slots)) {
			words_add(&unknown, m->host->name);
		}
	}
	if (unknown.count)
		log_warn(
			"%zu of %zu hosts have no facts on file (%s%s): how many ranks they take is not known, and one stands for it; 'ringup probe' asks them",
			unknown.count, s->fleet.count, unknown.list[0],
			unknown.count > 1 ? " ..." : "");
	else if (o->gpus && most < (size_t)o->gpus)
		return error_set(
			err, most ? ERROR_USAGE : ERROR_PARTIAL,
			"--gpus %d: by the last probe no host gives the job more than %zu GPUs",
			o->gpus, most);
	if (o->gpus)
		log_warn(
			"the leases choose hosts and GPUs when the job starts, so these may be others, and fewer where somebody has some");
	return 0;
}

int run_dry_plan(struct stages *s, const struct job_options *wish, struct job_plan *plan,
		 struct error *err)
{
	if ((wish->gpus && stage_check_gpus_given(s, err) < 0) || dry_facts(s, wish, err) < 0)
		return -1;
	for (size_t i = 0; i < s->fleet.count; i++)
		s->fleet.members[i].state.folder = "FOLDER";
	return job_plan_without_hosts(&s->fleet, wish, s->arena, plan, err);
}

int run_dry_print(struct stages *s, const struct job_plan *plan, struct error *err)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *shown = NULL, *joining = NULL;

	cJSON_AddStringToObject(json, "launcher", plan->options->launcher->name);
	cJSON_AddNumberToObject(json, "ranks", plan->world);
	if (s->ctx->json)
		shown = cJSON_AddArrayToObject(json, "tasks");
	for (size_t i = 0; i < plan->host_count; i++) {
		struct job_tasks tasks = {.arena = s->arena};

		if (plan->options->launcher->tasks(plan, &plan->hosts[i], &tasks, err) < 0)
			return -1;
		for (size_t k = 0; k < tasks.count; k++)
			run_view_task(plan, &plan->hosts[i], &tasks.list[k], shown);
	}
	if (shown && plan->options->launcher->ranks_join)
		joining = cJSON_AddArrayToObject(json, "joining");
	for (size_t i = 0; i < plan->host_count && plan->options->launcher->ranks_join; i++)
		run_view_joining(plan, &plan->hosts[i], joining);
	if (shown)
		json_print(stdout, json);
	return 0;
}
