/* SPDX-License-Identifier: MIT */
/* bench_backend.h - which of the worker's backends measures what a cluster is for: NCCL where the stack is for CUDA. */
#ifndef CLI_BENCH_BACKEND_H
#define CLI_BENCH_BACKEND_H

#include "cli/app/stages.h"
#include "plan/report.h"

struct bench_backend {
	const char *const
		*arguments; /* the worker's flags, with --backend where it was chosen here */
	const char *
		lacking; /* why CPUs are measured although the stack is for CUDA; NULL: nothing lacks */
	const char *nccl; /* the stack's version; NULL: it names none */
};

/*
 * Chooses by ringup.lock and, where the fleet was probed, by the GPUs that its hosts give. Flags that name a backend stay as
 * they are. ERROR_PARTIAL where NCCL is chosen and a host has not the GPUs that `gpus` names.
 */
int bench_backend_choose(struct stages *stages, const char *const *arguments,
			 struct bench_backend *backend, struct error *err);

/*
 * ERROR_VERDICT, and another verdict in the report, where CPUs were measured and nobody asked for that. Warns where the
 * NCCL that was measured is not the stack's.
 */
int bench_backend_judge(const struct bench_backend *backend, struct report *report,
			struct error *err);

#endif
