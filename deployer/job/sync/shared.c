/* SPDX-License-Identifier: MIT */
#include "deployer/job/sync/shared.h"

#include "deployer/job/record.h"

#include <string.h>
#include <unistd.h>

const char *job_sync_name(const struct job_sync *sync)
{
	return *sync->target ? sync->target : strrchr(sync->folder, '/');
}

static bool sync_shares_host(const struct fleet *fleet, const struct job_record *job)
{
	for (const char *const *name = job->host_names; name && *name; name++)
		for (size_t i = 0; i < fleet->count; i++)
			if (strcmp(fleet->members[i].host->name, *name) == 0)
				return true;
	return !job->host_names || !*job->host_names; /* it has not said yet */
}

int job_sync_may_change(const struct job_sync *sync, struct fleet *fleet, struct arena *arena,
			struct error *err)
{
	struct job_record *jobs;
	size_t count;

	if (job_records_list(fleet->cluster, arena, &jobs, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		bool runs = !*jobs[i].ended && !*jobs[i].scheduler && jobs[i].pid != getpid() &&
			    job_is_alive(&jobs[i]);

		if (!runs || strcmp(jobs[i].sync, job_sync_name(sync)) != 0 ||
		    !sync_shares_host(fleet, &jobs[i]))
			continue;
		return error_set(
			err, ERROR_USAGE,
			"--sync %s: the job '%s' runs with what is in %s, and files would change under it; wait for it, or give this "
			"one a folder of its own: --sync %s:/TARGET",
			sync->folder, jobs[i].name, job_sync_target(sync, &fleet->members[0]),
			sync->folder);
	}
	return 0;
}
