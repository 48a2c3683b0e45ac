/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_departed.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_job.h"
#include "cli/app/stage_seeds.h"

#include "core/file.h"
#include "core/foreign.h"
#include "core/log.h"
#include "deployer/bringup/claim.h"
#include "deployer/records/history.h"
#include "deployer/bringup/operate.h"
#include "deployer/records/placed.h"

#include <unistd.h>

struct options {
	bool purge, take_over;
	struct job_care care;
	struct words hosts;
};

static const struct opt options[] = {
	{0, "purge", NULL, "also remove keys, files and images everywhere", OPT_FLAG,
	 offsetof(struct options, purge)},
	{0, "take-over", NULL, "remove what somebody else started under this name on the hosts",
	 OPT_FLAG, offsetof(struct options, take_over)},
	JOB_CARE_OPTIONS(struct options, care),
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

static int down_hosts(struct stages *s, bool purges, struct error *err)
{
	const struct history_note note = {.command = purges ? "down --purge" : "down"};
	struct error ignored = {0};

	fleet_check_owner(&s->fleet);
	fleet_down(&s->fleet, purges);
	stage_seeds_remove(s);
	history_add(&s->fleet, &note);
	if (purges && placed_remove(&s->fleet, &ignored) < 0)
		log_warn("%s", ignored.text);
	return fleet_result(&s->fleet, err);
}

static void down_say(const struct stages *s, bool purged)
{
	if (s->ctx->json)
		say("{\"schema\": 1, \"ok\": true}\n");
	else
		say("cluster %s is down on %zu host%s%s\n", s->cluster.name, s->fleet.count,
		    s->fleet.count == 1 ? "" : "s", purged ? "; nothing of it is left there" : "");
}

static int down_run(struct context *ctx, void *values, const char *const *arguments,
		    struct error *err)
{
	const struct options *o = values;
	_cleanup_(fd_close) int lock = -1;
	bool is_departed, purges;
	struct stages s;
	int rc;

	if (stage_cluster(&s, ctx, err) < 0 || stage_hold_idle(&s, &o->care, &lock, err) < 0 ||
	    stage_choose_departed(&s, arguments, &is_departed, err) < 0 ||
	    (!is_departed && stage_choose(&s, &o->hosts, arguments, err) < 0))
		return -1;
	/* a host that has left the cluster must not keep its keys */
	purges = o->purge || is_departed;
	rc = is_departed ? 0 : stage_probe(&s, err);
	if (rc == 0) {
		s.fleet.takes_over = o->take_over;
		if (o->take_over && !o->care.force)
			fleet_check_their_jobs(&s.fleet);
		rc = down_hosts(&s, purges, err);
	}
	if (rc < 0 && is_departed)
		error_advise(err, "a host that is gone for good: take it out of %s",
			     cluster_state_path(&s.cluster, "hosts.json", s.arena));
	if (rc == 0 && o->purge && !is_departed && !s.is_choice)
		rc = purge_here(&s, err);
	if (rc == 0)
		down_say(&s, purges);
	fleet_close(&s.fleet);
	return rc;
}

const struct command command_down = {
	.name = "down",
	.arguments = "[HOST...]",
	.summary = "stops and removes the cluster's containers",
	.help = "The image and the cluster's files stay on the hosts, so that the next 'up' is quick;\n"
		"--purge removes them, too. Running it twice is harmless.\n"
		"With hosts only these are taken down, and the cluster's keys stay on this machine. A HOST that was\n"
		"taken out of cluster.yaml, as 'up' and 'status' name it, loses its container, image and files.\n"
		"What somebody else started under this name stays, unless you say --take-over.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = down_run,
};
