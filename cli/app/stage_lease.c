/* SPDX-License-Identifier: MIT */
#include "cli/app/stage_lease.h"

#include "cli/app/stage_fleet.h"
#include "deployer/bringup/claim.h"
#include "deployer/job/record.h"

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

void stage_free_lost(struct stages *s)
{
	struct job_record *list;
	struct error ignored = {0};
	size_t count;

	if (job_records_list(&s->cluster, s->arena, &list, &count, &ignored) < 0)
		return;
	for (size_t i = count > LOST_MAX ? count - LOST_MAX : 0; i < count; i++)
		if (strcmp(list[i].state, "lost") == 0 && *list[i].id && !list[i].is_local &&
		    !*list[i].ended)
			fleet_free_job(&s->fleet, list[i].id);
}

int stage_lease(struct stages *s, struct job_options *wish, bool spread, bool waits,
		struct error *err)
{
	struct job_lease_wish lease = {.name = wish->name ? wish->name : "-",
				       .gpus = wish->gpus,
				       .ranks = wish->ranks,
				       .per_host = wish->per_host,
				       .spread = spread,
				       .waits = waits};
	char *id = arena_alloc(s->arena, JOB_ID_BYTES);
	struct job_leases leases;

	if (job_new_id(id, err) < 0 ||
	    (!*s->fleet.owner.user &&
	     owner_load(&s->cluster, false, s->arena, &s->fleet.owner, err) < 0))
		return -1;
	lease.id = id;
	stage_free_lost(s);
	if (fleet_lease_job(&s->fleet, &lease, s->arena, &leases, err) < 0)
		return -1;
	wish->id = id;
	wish->devices = leases.devices;
	if (!leases.leaves_out || stage_lease_narrow(s, &leases, err) == 0)
		return 0;
	stage_give_back(s, wish);
	return -1;
}

void stage_give_back(struct stages *s, struct job_options *wish)
{
	if (wish->devices)
		fleet_give_job(&s->fleet, wish->id);
	wish->devices = NULL;
	wish->id = NULL;
}
