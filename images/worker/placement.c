/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* sched_getaffinity */
#include "placement.h"

#include <sched.h>
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

bool placement_crowded(const struct group *group)
{
	cpu_set_t cores;
	int allowed = allowed_cores(&cores);

	/* A rank that may use one core only was bound by its launcher, which is taken to know the
	 * machine. */
	return allowed > 1 && ranks_here(group, group->world) > allowed;
}

void placement_bind(const struct group *group)
{
	cpu_set_t cores, own;
	int allowed = allowed_cores(&cores), ranks = ranks_here(group, group->world);
	int wanted;

	if (ranks < 2 || ranks > allowed)
		return;
	wanted = ranks_here(group, group->rank) * allowed / ranks;
	for (int core = 0; core < CPU_SETSIZE; core++) {
		if (!CPU_ISSET(core, &cores) || wanted-- > 0)
			continue;
		CPU_ZERO(&own);
		CPU_SET(core, &own);
		sched_setaffinity(0, sizeof(own), &own);
		return;
	}
}
