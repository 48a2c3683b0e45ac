/* SPDX-License-Identifier: MIT */
#include "cli/app/stage_lease.h"

#include "cli/app/stage_facts.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_job.h"
#include "core/str.h"
#include "deployer/bringup/claim.h"
#include "deployer/job/leftovers.h"

#include <string.h>

#define LOST_MAX 20 /* the newest jobs are looked at */

static int stage_ask_again(struct member *m, void *arg, struct error *err)
{
	(void)arg;
	return member_ask_owner(m, err);
}

/* A job's hosts are the whole fleet, so one with the others' hosts left out is made. */
static int stage_lease_narrow(struct stages *s, struct job_leases *leases, struct error *err)
{
	struct words names = WORDS_INIT(s->arena);
	size_t kept = 0;

	for (size_t i = 0; i < s->fleet.count; i++) {
		if (!*leases->devices[i])
			continue;
		leases->devices[kept++] = leases->devices[i];
		words_add(&names, s->fleet.members[i].host->name);
	}
	fleet_close(&s->fleet);
	if (stage_select(s, NULL, words_list(&names), err) < 0)
		return -1;
	fleet_each(&s->fleet, stage_ask_again, NULL);
	return fleet_result(&s->fleet, err);
}

/* Whether a job may have leases that nobody gives back. */
static bool stage_is_lost(const struct job_record *record)
{
	bool is_lost =
		*record->ended ? *record->unswept != NULL : strcmp(record->state, "lost") == 0;

	return is_lost && *record->id && !*record->scheduler && !record->is_local;
}

void stage_free_lost(struct stages *s)
{
	struct job_record *list;
	struct error ignored = {0};
	size_t count;

	if (job_records_list(&s->cluster, s->arena, &list, &count, &ignored) < 0)
		return;
	for (size_t i = count > LOST_MAX ? count - LOST_MAX : 0; i < count; i++)
		if (stage_is_lost(&list[i]))
			fleet_free_job(&s->fleet, list[i].id, false);
}

static int stage_end_on_fleet(struct stages *s, const struct job_record *record, int *count,
			      struct error *err)
{
	job_end_leftovers(&s->fleet, record->id, job_grace_s(record->grace_s), count);
	if (!record->is_local)
		fleet_free_job(&s->fleet, record->id, true);
	return fleet_result(&s->fleet, err);
}

int stage_end_leftovers(struct stages *s, const struct job_record *record, const char *const *hosts,
			int *count, struct error *err)
{
	const struct cluster cluster = s->cluster;
	bool is_choice = s->is_choice;
	int rc;

	*count = 0;
	rc = record->is_local ? stage_local(s, 1, err) : stage_select(s, NULL, hosts, err);
	if (rc == 0)
		rc = stage_end_on_fleet(s, record, count, err);
	s->cluster = cluster;
	s->is_choice = is_choice;
	return rc;
}

/* An id for the leases, and an owner for the fleet. */
static int stage_lease_begin(struct stages *s, struct job_options *wish,
			     struct job_lease_wish *lease, struct error *err)
{
	char *id = arena_alloc(s->arena, JOB_ID_BYTES);

	if (job_new_id(id, err) < 0 ||
	    (!*s->fleet.owner.user &&
	     owner_load(&s->cluster, false, s->arena, &s->fleet.owner, err) < 0))
		return -1;
	stage_free_lost(s);
	wish->id = lease->id = id;
	return 0;
}

/* Without an id there is nothing to give back. */
static int stage_lease_fleet(struct stages *s, struct job_options *wish,
			     const struct job_lease_wish *lease, struct job_leases *leases,
			     struct error *err)
{
	int rc = fleet_lease_job(&s->fleet, lease, s->arena, leases, err);

	if (rc < 0 && !leases->may_hold)
		wish->id = NULL;
	return rc;
}

static int stage_lease_own(struct stages *s, struct job_options *wish, struct job_lease_wish *lease,
			   struct error *err)
{
	struct job_leases leases;

	if (stage_lease_begin(s, wish, lease, err) < 0 ||
	    stage_lease_fleet(s, wish, lease, &leases, err) < 0)
		return -1;
	wish->devices = leases.devices;
	return leases.leaves_out ? stage_lease_narrow(s, &leases, err) : 0;
}

/* Whether the job may use GPUs that it sees. */
static bool stage_is_for_gpus(const struct stages *s, const struct job_options *wish,
			      const struct plan *plan)
{
	bool hides = false;

	for (const char *const *env = wish->env; *env; env++) /* of two the later counts */
		if (starts_with(*env, "CUDA_VISIBLE_DEVICES="))
			hides = ends_with(*env, "=");
	return !hides && strcmp(plan ? plan->accelerator : s->cluster.accelerator, "cpu") != 0;
}

/*
 * Where ranks meet GPUs, as far as the last probe knows: *any says whether they do somewhere. A job that does not fit the hosts
 * then may fit them now; the hosts themselves say so a little later.
 */
static int stage_find_seen(struct stages *s, const struct job_options *wish, bool *sees, bool *any,
			   struct error *err)
{
	struct error misfit = {0};
	struct job_plan plan;

	*any = false;
	if (stage_lend_facts(s, err) < 0)
		return -1;
	if (job_plan_without_hosts(&s->fleet, wish, s->arena, &plan, &misfit) < 0)
		return 0;
	for (size_t i = 0; i < plan.host_count; i++) {
		const struct member *m = plan.hosts[i].member;

		sees[m->index] = m->facts.gpus && (*m->facts.gpus || *m->facts.gpu_error);
		*any |= sees[m->index];
	}
	return 0;
}

static int stage_lease_seen(struct stages *s, struct job_options *wish,
			    struct job_lease_wish *lease, struct error *err)
{
	bool *sees = ARENA_ARRAY(s->arena, s->fleet.count, bool), any = false;
	const struct plan *plan;
	struct job_leases leases;

	if (stage_built_plan(s, &plan, err) < 0)
		return -1;
	if (stage_is_for_gpus(s, wish, plan) && stage_find_seen(s, wish, sees, &any, err) < 0)
		return -1;
	if (!any && lease->waits)
		return error_set(
			err, ERROR_USAGE,
			"--wait waits for GPUs, and by the last probe the job's ranks see none");
	if (!any)
		return 0;
	lease->sees = sees;
	return stage_lease_begin(s, wish, lease, err) < 0
		       ? -1
		       : stage_lease_fleet(s, wish, lease, &leases, err);
}

int stage_check_gpus_given(struct stages *s, struct error *err)
{
	const struct plan *plan;

	if (stage_built_plan(s, &plan, err) < 0)
		return -1;
	if (!s->fleet.members[0].engine->has_containers ||
	    strcmp(plan ? plan->accelerator : s->cluster.accelerator, "cpu") != 0)
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"--gpus: the containers of this cluster have no GPUs, as its stack is for CPUs; set 'accelerator: cuda' in %s and run 'ringup up', or leave --gpus out",
		s->cluster.path);
}

int stage_lease(struct stages *s, struct job_options *wish, const struct stage_lease_wish *how,
		struct error *err)
{
	struct job_lease_wish lease = {.name = wish->name,
				       .gpus = wish->gpus,
				       .spread = how->spread,
				       .waits = how->waits,
				       .forced = how->force,
				       .waiting = how->waiting,
				       .arg = how->arg};

	if (!wish->gpus)
		return stage_lease_seen(s, wish, &lease, err);
	if (stage_check_gpus_given(s, err) < 0)
		return -1;
	lease.ranks = wish->ranks;
	lease.per_host = wish->per_host;
	return stage_lease_own(s, wish, &lease, err);
}

void stage_give_back(struct stages *s, struct job_options *wish, struct words *kept)
{
	if (wish->id)
		fleet_give_job(&s->fleet, wish->id, kept);
	wish->devices = NULL;
	wish->id = NULL;
}
