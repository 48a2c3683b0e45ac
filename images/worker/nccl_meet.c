/* SPDX-License-Identifier: MIT */
/* How the ranks' NCCLs meet. */
#include "control.h"
#include "nccl.h"

#include <stdlib.h>

/* Rank 0: do all ranks have the same NCCL? */
static int compare_versions(const struct group *group, const int *all, struct failure *err)
{
	char ours[16], theirs[16];

	for (int rank = 1; rank < group->world; rank++) {
		if (all[rank] == all[0])
			continue;
		nccl_version_text(all[0], ours);
		nccl_version_text(all[rank], theirs);
		return failure_set(
			err, STATUS_VERSION, rank, group->members[rank].host,
			"versions differ: rank 0 (%s) has NCCL %s, rank %d (%s) has NCCL %s; deploy one image to all hosts",
			group->members[0].host, ours, rank, group->members[rank].host, theirs);
	}
	return 0;
}

static int make_id(const struct nccl *nccl, const struct group *group, struct nccl_id *id,
		   struct failure *err)
{
	int rc = nccl->ncclGetUniqueId(id);

	if (rc == 0)
		return 0;
	return failure_set(err, STATUS_GPU, 0, group->members[0].host,
			   "rank 0 (%s): ncclGetUniqueId: %s; run again with NCCL_DEBUG=INFO",
			   group->members[0].host, nccl->ncclGetErrorString(rc));
}

int nccl_meet(const struct nccl *nccl, const struct group *group, struct nccl_id *id,
	      struct failure *err)
{
	int *all = calloc((size_t)group->world, sizeof(*all)), rc;

	if (!all)
		abort();
	rc = control_gather(group->control, &nccl->version, sizeof(nccl->version), all, err);
	if (rc == 0 && group->rank == 0)
		rc = compare_versions(group, all, err);
	free(all);
	if (rc == 0 && group->rank == 0)
		rc = make_id(nccl, group, id, err);
	return rc < 0 ? -1 : control_share(group->control, id, sizeof(*id), err);
}
