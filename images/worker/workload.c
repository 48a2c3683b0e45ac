/* SPDX-License-Identifier: MIT */
#include "workload.h"
#include "backend/backend.h"
#include "bench/find.h"
#include "collective/collective.h"
#include "sgd/sgd.h"

const char *workload_problem(const struct workload *w, int world, const struct backend *backend)
{
	if (w->type >= DTYPE_COUNT || w->op >= OP_COUNT || w->collective >= COLLECTIVE_COUNT)
		return "a type, operation or collective that does not exist";
	if (collective_problem((enum collective_kind)w->collective, world))
		return "a collective that does not go with this number of ranks";
	if (w->root >= (uint32_t)world)
		return "a root that does not exist";
	if (w->first_bytes > w->last_bytes || w->last_bytes > SIZE_MAX_BYTES || w->factor < 2 ||
	    w->factor > FACTOR_MAX)
		return "sizes that are out of bounds";
	if (w->iterations < 1 || w->iterations > ITERATIONS_MAX || w->warmups > ITERATIONS_MAX ||
	    w->sgd_steps > SGD_STEPS_MAX)
		return "numbers of iterations that are out of bounds";
	if (w->find_slow && world > FIND_WORLD_MAX)
		return "more ranks than --find-slow takes";
	if ((w->graph && !backend->record) || (w->registers && !backend->registers))
		return "a flag that this rank's backend does not know";
	return NULL;
}
