/* SPDX-License-Identifier: MIT */
#include "workload.h"
#include "backend/backend.h"
#include "bench/find.h"
#include "collective/collective.h"
#include "sgd/sgd.h"

#include <stdbool.h>

uint64_t workload_next(const struct workload *w, uint64_t bytes)
{
	uint64_t least = w->type < DTYPE_COUNT ? dtype_bytes((enum dtype)w->type) : 1;

	if (w->factor <= 1)
		return bytes + w->step_bytes;
	return bytes < least ? least : bytes * w->factor;
}

size_t workload_sizes(const struct workload *w)
{
	size_t count = 0;

	for (uint64_t bytes = w->first_bytes; bytes <= w->last_bytes && count <= RESULTS_MAX;
	     bytes = workload_next(w, bytes))
		count++;
	return count;
}

bool workload_fits(const struct workload *w, int world)
{
	size_t results = workload_sizes(w) * (w->cycles ? w->cycles : 1);

	if (w->type == DTYPE_COUNT)
		results *= DTYPE_COUNT;
	if (w->op == OP_COUNT)
		results *= OP_COUNT;
	if (w->root == ROOT_ALL)
		results *= (size_t)world;
	return results <= RESULTS_MAX;
}

/* What concerns only how the sizes are measured. */
static const char *workload_manner(const struct workload *w, const struct backend *backend)
{
	if (w->aggregate < 1 || w->aggregate > ITERATIONS_MAX || w->cycles > CYCLES_MAX ||
	    w->checks > ITERATIONS_MAX)
		return "numbers of repetitions that are out of bounds";
	if (w->blocking >= BLOCKING_COUNT || w->average >= AVERAGE_COUNT ||
	    w->registers >= REGISTERS_COUNT || w->graph > ITERATIONS_MAX)
		return "a way of measuring that does not exist";
	if (w->unalign > UNALIGN_MAX || w->cta_policy > CTA_POLICY_MAX)
		return "buffers or a policy that do not exist";
	if ((w->graph && !backend->record) ||
	    ((w->registers || w->unalign || w->cta_policy) && !backend->registers))
		return "a flag that this rank's backend does not know";
	if (w->graph && w->blocking)
		return "a graph that is to be waited for in its middle";
	return NULL;
}

const char *workload_problem(const struct workload *w, int world, const struct backend *backend)
{
	if (w->type > DTYPE_COUNT || w->op > OP_COUNT || w->collective >= COLLECTIVE_COUNT)
		return "a type, operation or collective that does not exist";
	if (collective_problem((enum collective_kind)w->collective, world))
		return "a collective that does not go with this number of ranks";
	if (w->root >= (uint32_t)world && w->root != ROOT_ALL)
		return "a root that does not exist";
	if (w->first_bytes > w->last_bytes || w->last_bytes > SIZE_MAX_BYTES || w->factor < 1 ||
	    w->factor > FACTOR_MAX || (w->factor == 1 && w->step_bytes < 1) ||
	    w->step_bytes > SIZE_MAX_BYTES)
		return "sizes that are out of bounds";
	if (w->iterations < 1 || w->iterations > ITERATIONS_MAX || w->warmups > ITERATIONS_MAX ||
	    w->sgd_steps > SGD_STEPS_MAX)
		return "numbers of iterations that are out of bounds";
	if (w->find_slow && world > FIND_WORLD_MAX)
		return "more ranks than --find-slow takes";
	if (!workload_fits(w, world))
		return "more results than a run may have";
	return workload_manner(w, backend);
}
