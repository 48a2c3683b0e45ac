/* SPDX-License-Identifier: MIT */
#include "backend/mpi/plugin.h"

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct mpi_plugin mpi_plugin;

typedef void reduce_fn(void *dst, const void *a, const void *b, size_t count);

static MPI_Comm world_comm = MPI_COMM_NULL;
static MPI_Op half_op = MPI_OP_NULL;
static reduce_fn
	*half_reduce; /* what half_op does: MPI gives its functions no argument of their own */

static int plugin_explain(int rc, const char *what, char *why, size_t why_bytes)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int length = 0;

	if (rc == MPI_SUCCESS)
		return 0;
	MPI_Error_string(rc, text, &length);
	snprintf(why, why_bytes, "%s: %s", what, text);
	return -1;
}

static void combine_halves(void *in, void *inout, int *count, MPI_Datatype *type)
{
	(void)type;
	half_reduce(inout, in, inout, (size_t)*count);
}

static const char *plugin_version(void)
{
	static char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int length = 0;

	MPI_Get_library_version(text, &length);
	text[strcspn(text, ",\n")] = '\0';
	return text;
}

static int plugin_start(int world, char *why, size_t why_bytes)
{
	int size = 0, level = 0, started = 0, rc = MPI_Initialized(&started);

	if (rc == MPI_SUCCESS && !started)
		rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
	if (rc != MPI_SUCCESS)
		return plugin_explain(rc, "MPI_Init_thread", why, why_bytes);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size == world)
		return 0;
	snprintf(why, why_bytes, "MPI has %d ranks, this run %d: start every rank with mpirun",
		 size, world);
	return -1;
}

static int plugin_meet(void *data, size_t bytes, int processes, int color, char *why,
		       size_t why_bytes)
{
	MPI_Comm part = MPI_COMM_WORLD;
	int rc = MPI_SUCCESS;

	if (plugin_start(processes, why, why_bytes) < 0)
		return -1;
	if (color >= 0)
		rc = MPI_Comm_split(MPI_COMM_WORLD, color, 0, &part);
	if (rc == MPI_SUCCESS)
		rc = MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, part);
	if (rc == MPI_SUCCESS && color >= 0)
		rc = MPI_Comm_free(&part);
	return plugin_explain(rc, "MPI_Bcast", why, why_bytes);
}

static int plugin_open(int rank, int world, char *why, size_t why_bytes)
{
	int rc;

	if (plugin_start(world, why, why_bytes) < 0)
		return -1;
	rc = MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &world_comm);
	if (rc == MPI_SUCCESS)
		rc = MPI_Op_create(combine_halves, 1, &half_op);
	return plugin_explain(rc, "MPI_Comm_split", why, why_bytes);
}

static void *plugin_alloc(size_t bytes)
{
	void *memory = NULL;

	return MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &memory) == MPI_SUCCESS ? memory
										     : NULL;
}

static MPI_Datatype plugin_type_of(const char *name)
{
	if (strcmp(name, "f32") == 0)
		return MPI_FLOAT;
	if (strcmp(name, "f64") == 0)
		return MPI_DOUBLE;
	if (strcmp(name, "i32") == 0)
		return MPI_INT32_T;
	if (strcmp(name, "i64") == 0)
		return MPI_INT64_T;
	if (strcmp(name, "u8") == 0)
		return MPI_UINT8_T;
	if (strcmp(name, "i8") == 0)
		return MPI_INT8_T;
	if (strcmp(name, "u32") == 0)
		return MPI_UINT32_T;
	if (strcmp(name, "u64") == 0)
		return MPI_UINT64_T;
	return strchr(name, '8') ? MPI_BYTE : MPI_UINT16_T; /* f16, bf16 and fp8, with half_op */
}

static MPI_Op op_of(MPI_Datatype type, const char *name)
{
	if (type == MPI_UINT16_T || type == MPI_BYTE)
		return half_op;
	if (strcmp(name, "prod") == 0)
		return MPI_PROD;
	if (strcmp(name, "min") == 0)
		return MPI_MIN;
	if (strcmp(name, "max") == 0)
		return MPI_MAX;
	return MPI_SUM;
}

static int all_reduce(const struct mpi_call *c, MPI_Datatype type)
{
	return MPI_Allreduce(c->src == c->dst ? MPI_IN_PLACE : c->src, c->dst, (int)c->count, type,
			     op_of(type, c->op), world_comm);
}

/* In place MPI leaves the result at the start of the input, NCCL at the block's own place. */
static int plugin_reduce_scatter(const struct mpi_call *c, MPI_Datatype type, int world)
{
	size_t bytes = c->count * c->element_bytes;
	char *src = (char *)(uintptr_t)c->src, *dst = c->dst;
	int rc;

	if (dst < src || dst >= src + bytes * (size_t)world)
		return MPI_Reduce_scatter_block(src, dst, (int)c->count, type, op_of(type, c->op),
						world_comm);
	rc = MPI_Reduce_scatter_block(MPI_IN_PLACE, src, (int)c->count, type, op_of(type, c->op),
				      world_comm);
	if (dst != src)
		memcpy(dst, src, bytes);
	return rc;
}

static int plugin_all_gather(const struct mpi_call *c, MPI_Datatype type, int rank)
{
	const char *own = (char *)c->dst + (size_t)rank * c->count * c->element_bytes;

	return MPI_Allgather(c->src == own ? MPI_IN_PLACE : c->src, (int)c->count, type, c->dst,
			     (int)c->count, type, world_comm);
}

static int plugin_broadcast(const struct mpi_call *c, MPI_Datatype type, int rank)
{
	if (rank == c->root && c->src != c->dst)
		memcpy(c->dst, c->src, c->count * c->element_bytes);
	return MPI_Bcast(c->dst, (int)c->count, type, c->root, world_comm);
}

static int plugin_reduce(const struct mpi_call *c, MPI_Datatype type, int rank)
{
	bool in_place = rank == c->root && c->src == c->dst;

	return MPI_Reduce(in_place ? MPI_IN_PLACE : c->src, rank == c->root ? c->dst : NULL,
			  (int)c->count, type, op_of(type, c->op), c->root, world_comm);
}

static int plugin_gather(const struct mpi_call *c, MPI_Datatype type, int rank)
{
	const char *own = (char *)c->dst + (size_t)rank * c->count * c->element_bytes;
	bool in_place = rank == c->root && c->src == own;

	return MPI_Gather(in_place ? MPI_IN_PLACE : c->src, (int)c->count, type, c->dst,
			  (int)c->count, type, c->root, world_comm);
}

static int plugin_scatter(const struct mpi_call *c, MPI_Datatype type, int rank)
{
	const char *own = (const char *)c->src + (size_t)rank * c->count * c->element_bytes;
	bool in_place = rank == c->root && c->dst == own;

	return MPI_Scatter(c->src, (int)c->count, type, in_place ? MPI_IN_PLACE : c->dst,
			   (int)c->count, type, c->root, world_comm);
}

/* What two ranks send to each other is as much in both directions. */
static int plugin_alltoallv(const struct mpi_call *c, MPI_Datatype type, int rank, int world)
{
	int *counts = malloc(2 * (size_t)world * sizeof(*counts)), *places = counts + world, rc;

	if (!counts)
		return MPI_ERR_NO_MEM;
	for (int peer = 0; peer < world; peer++) {
		counts[peer] = (int)c->part(c->count, rank, peer, world);
		places[peer] = peer * (int)c->count;
	}
	rc = MPI_Alltoallv(c->src, counts, places, type, c->dst, counts, places, type, world_comm);
	free(counts);
	return rc;
}

static int plugin_hypercube(const struct mpi_call *c, MPI_Datatype type, int rank, int world)
{
	size_t bytes = c->count * c->element_bytes;
	char *all = c->dst, *own = all + (size_t)rank * bytes;
	int rc = MPI_SUCCESS;

	if (own != c->src)
		memcpy(own, c->src, bytes);
	for (int mask = 1; mask < world && rc == MPI_SUCCESS; mask <<= 1) {
		int have = rank & ~(mask - 1), count = (int)c->count * mask;

		rc = MPI_Sendrecv(all + (size_t)have * bytes, count, type, rank ^ mask, 0,
				  all + (size_t)(have ^ mask) * bytes, count, type, rank ^ mask, 0,
				  world_comm, MPI_STATUS_IGNORE);
	}
	return rc;
}

/* Those with a root, and those made of others. */
static int plugin_run_other(const struct mpi_call *c, MPI_Datatype type, int rank, int world)
{
	if (strcmp(c->name, "reduce") == 0)
		return plugin_reduce(c, type, rank);
	if (strcmp(c->name, "gather") == 0)
		return plugin_gather(c, type, rank);
	if (strcmp(c->name, "scatter") == 0)
		return plugin_scatter(c, type, rank);
	if (strcmp(c->name, "alltoallv") == 0)
		return plugin_alltoallv(c, type, rank, world);
	if (strcmp(c->name, "hypercube") == 0)
		return plugin_hypercube(c, type, rank, world);
	return all_reduce(c, type);
}

static int plugin_run(const struct mpi_call *c, int rank, int world)
{
	MPI_Datatype type = plugin_type_of(c->type);
	int count = (int)c->count;

	if (strcmp(c->name, "barrier") == 0)
		return MPI_Barrier(world_comm);
	if (strcmp(c->name, "reduce_scatter") == 0)
		return plugin_reduce_scatter(c, type, world);
	if (strcmp(c->name, "all_gather") == 0)
		return plugin_all_gather(c, type, rank);
	if (strcmp(c->name, "broadcast") == 0)
		return plugin_broadcast(c, type, rank);
	if (strcmp(c->name, "alltoall") == 0)
		return MPI_Alltoall(c->src, count, type, c->dst, count, type, world_comm);
	if (strcmp(c->name, "sendrecv") == 0)
		return MPI_Sendrecv(c->src, count, type, (rank + 1) % world, 0, c->dst, count, type,
				    (rank + world - 1) % world, 0, world_comm, MPI_STATUS_IGNORE);
	return plugin_run_other(c, type, rank, world);
}

/* Does MPI count the elements of all ranks together? */
static bool plugin_counts_all(const struct mpi_call *call)
{
	return strcmp(call->name, "alltoallv") == 0 || strcmp(call->name, "hypercube") == 0;
}

static int plugin_collective(const struct mpi_call *call, char *why, size_t why_bytes)
{
	int rank = 0, world = 0;

	MPI_Comm_rank(world_comm, &rank);
	MPI_Comm_size(world_comm, &world);
	if (call->count > INT_MAX ||
	    (plugin_counts_all(call) && call->count > INT_MAX / (size_t)world)) {
		snprintf(why, why_bytes, "MPI counts no more than %d elements", INT_MAX);
		return -1;
	}
	half_reduce = call->reduce;
	return plugin_explain(plugin_run(call, rank, world), call->name, why, why_bytes);
}

static int plugin_exchange(const void *src, void *dst, size_t bytes, int peer, char *why,
			   size_t why_bytes)
{
	int count = (int)bytes;

	return plugin_explain(MPI_Sendrecv(src, count, MPI_BYTE, peer, 0, dst, count, MPI_BYTE,
					   peer, 0, world_comm, MPI_STATUS_IGNORE),
			      "MPI_Sendrecv", why, why_bytes);
}

static void plugin_close(void *first, void *second, int orderly)
{
	if (!orderly)
		return;
	if (first)
		MPI_Free_mem(first);
	if (second)
		MPI_Free_mem(second);
	if (half_op != MPI_OP_NULL)
		MPI_Op_free(&half_op);
	if (world_comm != MPI_COMM_NULL)
		MPI_Comm_free(&world_comm);
	MPI_Finalize();
}

const struct mpi_plugin mpi_plugin = {
	.abi = MPI_PLUGIN_ABI,
	.version = plugin_version,
	.meet = plugin_meet,
	.open = plugin_open,
	.alloc = plugin_alloc,
	.collective = plugin_collective,
	.exchange = plugin_exchange,
	.close = plugin_close,
};
