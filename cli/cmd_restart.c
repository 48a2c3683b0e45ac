/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_apply.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_job.h"
#include "cli/app/stage_plan.h"

#include "core/clock.h"
#include "core/file.h"
#include "deployer/container/gpus.h"
#include "deployer/bringup/claim.h"
#include "deployer/records/history.h"
#include "deployer/bringup/mesh.h"
#include "deployer/container/replace.h"
#include "deployer/probe.h"

#include <string.h>

struct options {
	struct job_care care;
	struct words hosts;
};

static const struct opt options[] = {
	JOB_CARE_OPTIONS(struct options, care),
	HOSTS_OPTION(struct options, hosts),
	OPT_END,
};

static int restart_one(struct member *m, void *arg, struct error *err)
{
	struct progress_step *step;
	int rc;

	(void)arg;
	if (member_ask_owner(m, err) < 0)
		return -1;
	if (!*m->state.container_id)
		return error_set(err, ERROR_FAILED,
				 "%s: there is no container; 'ringup up' makes it", m->host->name);
	step = progress_begin(m->host->name, "restarts the container");
	rc = member_restart(m, err);
	progress_end(step, rc == 0, rc == 0 ? "runs again" : "failed");
	return rc;
}

/* The containers again as workers: they log in to each other, and see their GPUs. */
static int restart_all(struct stages *s, struct error *err)
{
	const struct history_note note = {.command = "restart"};
	const struct plan *plan;
	const char *accelerator;

	if (stage_built_plan(s, &plan, err) < 0)
		return -1;
	if (strcmp(plan ? plan->accelerator : s->cluster.accelerator, "cpu") != 0)
		fleet_probe(&s->fleet, false);
	accelerator = plan ? plan->accelerator : stage_plan_accelerator(s);
	fleet_phase(&s->fleet, "GPUs");
	fleet_check_gpus(&s->fleet, accelerator); /* before anything is stopped */
	fleet_phase(&s->fleet, "restart");
	fleet_each(&s->fleet, restart_one, NULL);
	if (fleet_active(&s->fleet))
		fleet_verify(&s->fleet, accelerator);
	history_add(&s->fleet, &note);
	return fleet_result(&s->fleet, err);
}

static int restart_run(struct context *ctx, void *values, const char *const *arguments,
		       struct error *err)
{
	const struct options *o = values;
	_cleanup_(fd_close) int lock = -1;
	uint64_t begin = clock_usec();
	struct stages s;
	int rc;

	if (stage_cluster(&s, ctx, err) < 0 || stage_hold_idle(&s, &o->care, &lock, err) < 0 ||
	    stage_select(&s, &o->hosts, arguments, err) < 0)
		return -1;
	if (stage_has_containers(&s)) {
		rc = restart_all(&s, err);
		stage_print_outcome(&s, begin, rc, err);
	} else {
		rc = error_set(err, ERROR_USAGE, "there is no container with engine %s",
			       s.fleet.members[0].engine->name);
	}
	fleet_close(&s.fleet);
	return rc;
}

const struct command command_restart = {
	.name = "restart",
	.arguments = "[HOST...]",
	.summary = "starts the containers again, on all hosts or on these",
	.help = "The same containers start again, with the same image and settings. Each must let a login in\n"
		"afterwards, and the workers log in to each other. 'ringup up' makes containers anew.\n"
		"HOST is a name, an address or a set such as node[01-08].\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = restart_run,
};
