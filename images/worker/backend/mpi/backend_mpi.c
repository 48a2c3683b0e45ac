/* SPDX-License-Identifier: MIT */
/* The MPI backend: the collectives of the image's own MPI, through a shared object of its own
 * (mpi/plugin.h), so that the worker itself needs no MPI. */
#include "backend/backend.h"
#include "backend/mpi/mpi_library.h"
#include "rendezvous/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mpi {
	const struct mpi_plugin *plugin;
	const struct group *group;
	void *send, *recv;
};

static const struct mpi_plugin *loaded; /* by probe() */

static int mpi_probe(struct failure *err)
{
	loaded = mpi_library(err);
	return loaded ? 0 : -1;
}

static int open_buffers(struct mpi *mpi, size_t bytes, struct failure *err)
{
	const struct group *group = mpi->group;
	const char *host = group->members[group->rank].host;
	char why[256] = "";

	bytes = bytes > 0 ? bytes : 1;
	if (mpi->plugin->open(group->rank, group->world, why, sizeof(why)) < 0)
		return failure_set(err, STATUS_USAGE, group->rank, host,
				   "--backend mpi on rank %d (%s): %s", group->rank, host, why);
	mpi->send = mpi->plugin->alloc(bytes);
	mpi->recv = mpi->plugin->alloc(bytes);
	if (mpi->send && mpi->recv)
		return 0;
	return failure_set(err, STATUS_USAGE, group->rank, host,
			   "rank %d (%s) has no memory for two buffers of %zu bytes; lower -e",
			   group->rank, host, bytes);
}

static int mpi_open(const struct group *group, size_t bytes, void **state, struct failure *err)
{
	struct mpi *mpi = calloc(1, sizeof(*mpi));

	if (!mpi)
		abort();
	mpi->plugin = loaded;
	mpi->group = group;
	if (open_buffers(mpi, bytes, err) < 0) {
		free(mpi);
		return -1;
	}
	*state = mpi;
	return 0;
}

static const char *mpi_version(void)
{
	return loaded->version();
}

static const char *mpi_algorithm(void *state, enum collective_kind kind, size_t bytes)
{
	static const char *const calls[COLLECTIVE_COUNT] = {
		[ALL_REDUCE] = "MPI_Allreduce", [REDUCE_SCATTER] = "MPI_Reduce_scatter_block",
		[ALL_GATHER] = "MPI_Allgather", [BROADCAST] = "MPI_Bcast",
		[ALLTOALL] = "MPI_Alltoall",	[SENDRECV] = "MPI_Sendrecv",
		[REDUCE] = "MPI_Reduce",	[GATHER] = "MPI_Gather",
		[SCATTER] = "MPI_Scatter",	[ALLTOALLV] = "MPI_Alltoallv",
		[HYPERCUBE] = "MPI_Sendrecv"};

	(void)state;
	(void)bytes;
	return calls[kind];
}

static void mpi_buffers(void *state, void **send, void **recv)
{
	struct mpi *mpi = state;

	*send = mpi->send;
	*recv = mpi->recv;
}

static int mpi_says(const struct mpi *mpi, const char *why, struct failure *err)
{
	const struct group *group = mpi->group;
	const char *host = group->members[group->rank].host;

	return failure_set(err, STATUS_LOST, group->rank, host, "rank %d (%s): %s", group->rank,
			   host, why);
}

static int mpi_exchange(void *state, int peer, size_t bytes, uint32_t number, struct failure *err)
{
	struct mpi *mpi = state;
	char why[256] = "";

	(void)number;
	if (mpi->plugin->exchange(mpi->send, mpi->recv, bytes, peer, why, sizeof(why)) < 0)
		return mpi_says(mpi, why, err);
	return 0;
}

static int mpi_collective(void *state, const struct collective *call, struct failure *err)
{
	struct mpi *mpi = state;
	bool reduces = collective_reduces(call->kind);
	const struct mpi_call mpi_call = {.name = collective_name(call->kind),
					  .type = dtype_name(call->type),
					  .op = op_name(call->op),
					  .src = call->src,
					  .dst = call->dst,
					  .count = call->count,
					  .element_bytes = dtype_bytes(call->type),
					  .root = call->root,
					  .part = alltoallv_count,
					  .reduce = dtype_reducer(call->type, call->op)};
	char why[256] = "";

	if (mpi->plugin->collective(&mpi_call, why, sizeof(why)) < 0)
		return mpi_says(mpi, why, err);
	if (reduces && call->op == OP_AVG)
		dtype_scale(call->type, call->dst, call->count, mpi->group->world);
	return 0;
}

/* MPI sends on only while it is called, and a call may return with data in its queues. */
static int mpi_settle(void *state, struct failure *err)
{
	const struct mpi *mpi = state;
	const struct mpi_call barrier = {.name = "barrier", .type = "u8", .op = ""};
	char why[256] = "";

	if (mpi->plugin->collective(&barrier, why, sizeof(why)) < 0)
		return mpi_says(mpi, why, err);
	return 0;
}

static void mpi_close(void *state)
{
	struct mpi *mpi = state;

	mpi->plugin->close(mpi->send, mpi->recv, !control_failed(mpi->group->control));
	free(mpi);
}

const struct backend backend_mpi = {
	.name = "mpi",
	.uses_mpi = true,
	.probe = mpi_probe,
	.version = mpi_version,
	.algorithm = mpi_algorithm,
	.open = mpi_open,
	.buffers = mpi_buffers,
	.collective = mpi_collective,
	.settle = mpi_settle,
	.exchange = mpi_exchange,
	.close = mpi_close,
};
