/* SPDX-License-Identifier: MIT */
/* NCCL is not part of this build: asking for it is an error, never a silent run on the CPU. */
#include "backend.h"

static int nccl_probe(struct failure *err)
{
	return failure_set(err, STATUS_GPU, -1, "",
			   "this build has no usable GPU and no NCCL: use --backend cpu to test "
			   "without a GPU");
}

const struct backend backend_nccl = {.name = "nccl", .probe = nccl_probe};
