/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* sched_getaffinity */
#include "host/placement.h"

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

bool placement_crowded(const struct group *group)
{
	cpu_set_t cores;
	int allowed = allowed_cores(&cores);

	/* A rank that may use one core only was bound by its launcher, which is taken to know the
	 * machine. */
	return allowed > 1 && ranks_here(group, group->world) > allowed;
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
