/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_job.h"

#include "core/file.h"
#include "core/foreign.h"
#include "deployer/claim.h"
#include "deployer/probe.h"
#include "deployer/operate.h"

#include <unistd.h>

struct options {
	bool purge, take_over, force;
	struct words hosts;
};

static const struct opt options[] = {
	{0, "purge", NULL, "also remove keys, files and images everywhere", OPT_FLAG,
	 offsetof(struct options, purge)},
	{0, "take-over", NULL, "remove what somebody else started under this name on the hosts",
	 OPT_FLAG, offsetof(struct options, take_over)},
	{0, "force", NULL, "also while a job runs on the cluster", OPT_FLAG,
	 offsetof(struct options, force)},
	HOSTS_OPTION(struct options, hosts),
	OPT_END,
};

/* Removes what belongs to this cluster; the login, and a lab beside it, stay. */
static int purge_here(struct stages *s, struct error *err)
{
	unlink(cluster_state_path(&s->cluster, "verified", s->arena));
	unlink(cluster_state_path(&s->cluster, "facts.json", s->arena));
	unlink(cluster_state_path(&s->cluster, "journal.jsonl", s->arena));
	unlink(cluster_state_path(&s->cluster, "last-bench.json", s->arena));
	return folder_remove(cluster_state_path(&s->cluster, "keys", s->arena), err);
}

static int down_run(struct context *ctx, void *values, const char *const *arguments,
		    struct error *err)
{
	const struct options *o = values;
	_cleanup_(fd_close) int lock = -1;
	struct stages s;
	int rc;

	if (stage_cluster(&s, ctx, err) < 0 || stage_choose(&s, &o->hosts, arguments, err) < 0 ||
	    (!o->force && stage_no_jobs(&s, err) < 0) || stage_hold(&s, &lock, err) < 0)
		return -1;
	rc = stage_probe(&s, err);
	if (rc == 0) {
		s.fleet.takes_over = o->take_over;
		fleet_check_owner(&s.fleet);
		fleet_down(&s.fleet, o->purge);
		rc = fleet_result(&s.fleet, err);
	}
	if (rc == 0 && o->purge && !s.is_choice)
		rc = purge_here(&s, err);
	if (rc == 0 && ctx->json)
		say("{\"schema\": 1, \"ok\": true}\n");
	else if (rc == 0)
		say("cluster %s is down on %zu hosts%s\n", s.cluster.name, s.fleet.count,
		    o->purge ? "; nothing of it is left there" : "");
	fleet_close(&s.fleet);
	return rc;
}

const struct command command_down = {
	.name = "down",
	.arguments = "[HOST...]",
	.summary = "stops and removes the cluster's containers",
	.help = "The image and the cluster's files stay on the hosts, so that the next 'up' is quick;\n"
		"--purge removes them, too. Running it twice is harmless.\n"
		"With hosts only these are taken down, and the cluster's keys stay on this machine.\n"
		"What somebody else started under this name stays, unless you say --take-over.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = down_run,
};
