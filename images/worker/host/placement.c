/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* sched_getaffinity */
#include "host/placement.h"
#include "rendezvous/control.h"

#include <stdlib.h>
#include <string.h>

/* Number of ranks below @limit on this rank's machine. */
static int ranks_here(const struct group *group, int limit)
{
	int ranks = 0;

	for (int rank = 0; rank < limit; rank++)
		ranks += strcmp(group->members[rank].kernel, group->members[group->rank].kernel) ==
			 0;
	return ranks;
}

static int allowed_cores(cpu_set_t *cores)
{
	CPU_ZERO(cores);
	return sched_getaffinity(0, sizeof(*cores), cores) == 0 ? CPU_COUNT(cores) : 0;
}

int placement_cores(void)
{
	cpu_set_t cores;

	return allowed_cores(&cores);
}

/* The lowest rank of @rank's machine. */
static int first_there(const struct group *group, int rank)
{
	int first = 0;

	while (strcmp(group->members[first].kernel, group->members[rank].kernel) != 0)
		first++;
	return first;
}

/* Launchers bind ranks to some cores each, so that no rank's own cores say how many there are. */
void placement_judge(const struct group *group, const cpu_set_t *cores, uint8_t *crowded)
{
	size_t world = (size_t)group->world;
	cpu_set_t *unions = calloc(world, sizeof(*unions));
	int *ranks = calloc(world, sizeof(*ranks));

	if (!unions || !ranks)
		abort();
	for (int rank = 0; rank < group->world; rank++) {
		int first = first_there(group, rank);

		CPU_OR(&unions[first], &unions[first], &cores[rank]);
		ranks[first]++;
	}
	for (int rank = 0; rank < group->world; rank++) {
		int first = first_there(group, rank);

		crowded[rank] = ranks[first] > CPU_COUNT(&unions[first]);
	}
	free(unions);
	free(ranks);
}

int placement_crowded(const struct group *group, bool *crowded, struct failure *err)
{
	size_t world = (size_t)group->world;
	cpu_set_t own, *cores = group->rank == 0 ? calloc(world, sizeof(*cores)) : NULL;
	uint8_t *all = calloc(world, sizeof(*all));
	int rc;

	if (!all || (group->rank == 0 && !cores))
		abort();
	allowed_cores(&own);
	rc = control_gather(group->control, &own, sizeof(own), cores, err);
	if (rc == 0 && group->rank == 0)
		placement_judge(group, cores, all);
	if (rc == 0)
		rc = control_share(group->control, all, world, err);
	*crowded = all[group->rank] != 0;
	free(cores);
	free(all);
	return rc;
}

static void bind_to(const cpu_set_t *cores, int number)
{
	cpu_set_t own;

	for (int core = 0; core < CPU_SETSIZE; core++) {
		if (!CPU_ISSET(core, cores) || number-- > 0)
			continue;
		CPU_ZERO(&own);
		CPU_SET(core, &own);
		sched_setaffinity(0, sizeof(own), &own);
		return;
	}
}

void placement_take(struct seat *seat, int number)
{
	int allowed = allowed_cores(&seat->before);

	seat->taken = allowed > 1;
	if (seat->taken)
		bind_to(&seat->before, number % allowed);
}

void placement_leave(const struct seat *seat)
{
	if (seat->taken)
		sched_setaffinity(0, sizeof(seat->before), &seat->before);
}

void placement_bind(const struct group *group)
{
	cpu_set_t cores;
	int allowed = allowed_cores(&cores), ranks = ranks_here(group, group->world);

	if (ranks < 2 || ranks > allowed)
		return;
	bind_to(&cores, ranks_here(group, group->rank) * allowed / ranks);
}
