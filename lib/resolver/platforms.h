/* SPDX-License-Identifier: MIT */
/*
 * platforms.h - stacks for a cluster whose hosts have one processor or two: one plan for each, of the same
 * versions, with packages, wheels and an image of its own.
 *
 * Ranks on both sides talk by NCCL, MPI and the framework's own protocol, so all versions are the same but
 * those of `platforms_free`: what the OS or the hosts bring, and cuDNN, which talks to nobody.
 */
#ifndef RESOLVER_PLATFORMS_H
#define RESOLVER_PLATFORMS_H

#include "resolver/resolve.h"

/*
 * resolve() for the processors of input->platforms, or else of the hosts. Where a request or input->arch
 * names one, it is for that one alone. Of two, the plan is that for x86_64 and its `other` that for aarch64; each
 * fits the hosts of its processor. ERROR_UNSATISFIED also when there are no versions that both can have:
 * the error then names the first that differs.
 */
int resolve_platforms(const struct catalog *catalog, const struct resolve_input *input,
		      struct arena *arena, struct plan *plan, struct unsatisfied *why,
		      struct error *err);

/* plan_check() of the plan and of its `other`, each with the hosts of its processor. */
int platforms_check(const struct catalog *catalog, const struct resolve_input *input,
		    struct plan *plan, struct arena *arena, struct unsatisfied *why,
		    struct error *err);

#endif
