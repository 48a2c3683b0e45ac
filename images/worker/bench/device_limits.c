/* SPDX-License-Identifier: MIT */
#include "bench/device_limits.h"
#include "rendezvous/control.h"

#include <stdlib.h>

#define BUFFERS 2
#define LIBRARIES_BYTES (1ULL << 30)

/* The lesser of the two, of which 0 is unknown. */
static uint64_t lesser(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

bool device_limits_reduce(struct workload *workload, uint64_t memory)
{
	uint64_t left = memory > 2 * LIBRARIES_BYTES ? memory - LIBRARIES_BYTES : memory / 2;
	uint64_t most = left / BUFFERS;

	if (!memory || workload->last_bytes <= most)
		return false;
	workload->last_bytes = most;
	if (workload->first_bytes > most)
		workload->first_bytes = most;
	return true;
}

int device_limits_agree(struct group *group, const struct backend *backend, bool *reduced,
			struct failure *err)
{
	struct device_limits own = {0}, *all;
	int rc;

	*reduced = false;
	if (!backend->limits)
		return 0;
	all = calloc(group->rank == 0 ? (size_t)group->world : 1, sizeof(*all));
	if (!all)
		abort();
	backend->limits(&own);
	rc = control_gather(group->control, &own, sizeof(own), all, err);
	for (int rank = 0; rc == 0 && group->rank == 0 && rank < group->world; rank++) {
		own.memory = lesser(own.memory, all[rank].memory);
		own.capability = (uint32_t)lesser(own.capability, all[rank].capability);
	}
	free(all);
	if (rc < 0 || control_share(group->control, &own, sizeof(own), err) < 0)
		return -1;
	group->limits = own;
	*reduced = device_limits_reduce(&group->workload, own.memory);
	return 0;
}
