/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/place.h"

void place_add(const struct job_plan *plan, const struct job_host *host, int local_rank,
	       struct words *env)
{
	const struct job_host *first = &plan->hosts[0];

	words_addf(env, "RANK=%d", host->first_rank + local_rank);
	words_addf(env, "WORLD_SIZE=%d", plan->world);
	words_addf(env, "LOCAL_RANK=%d", local_rank);
	words_addf(env, "LOCAL_WORLD_SIZE=%d", host->ranks);
	words_addf(env, "NODE_RANK=%d", (int)(host - plan->hosts));
	words_addf(env, "MASTER_ADDR=%s", first->member->host->address);
	words_addf(env, "MASTER_PORT=%s", job_port(first, 0));
}
