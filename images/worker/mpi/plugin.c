/* SPDX-License-Identifier: MIT */
#include "plugin.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

extern const struct mpi_plugin mpi_plugin;

typedef void reduce_fn(void *dst, const void *a, const void *b, size_t count);

static MPI_Comm world_comm = MPI_COMM_NULL;
static MPI_Op half_op = MPI_OP_NULL;
static reduce_fn
	*half_reduce; /* what half_op does: MPI gives its functions no argument of their own */

static int explain(int rc, const char *what, char *why, size_t why_bytes)
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

static int plugin_open(int rank, int world, char *why, size_t why_bytes)
{
	int size = 0, level = 0, rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);

	if (rc != MPI_SUCCESS)
		return explain(rc, "MPI_Init_thread", why, why_bytes);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != world) {
		snprintf(why, why_bytes,
			 "MPI has %d ranks, this run %d: start every rank with mpirun", size,
			 world);
		return -1;
	}
	rc = MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &world_comm);
	if (rc == MPI_SUCCESS)
		rc = MPI_Op_create(combine_halves, 1, &half_op);
	return explain(rc, "MPI_Comm_split", why, why_bytes);
}

static void *plugin_alloc(size_t bytes)
{
	void *memory = NULL;

	return MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &memory) == MPI_SUCCESS ? memory
										     : NULL;
}

static MPI_Datatype type_of(const char *name)
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
	return MPI_UINT16_T; /* f16 and bf16, with half_op */
}

static MPI_Op op_of(MPI_Datatype type, const char *name)
{
	if (type == MPI_UINT16_T)
		return half_op;
	if (strcmp(name, "prod") == 0)
		return MPI_PROD;
	if (strcmp(name, "min") == 0)
		return MPI_MIN;
	if (strcmp(name, "max") == 0)
		return MPI_MAX;
	return MPI_SUM;
}

static int plugin_allreduce(const void *src, void *dst, size_t count, const char *type,
			    const char *op, reduce_fn *reduce, char *why, size_t why_bytes)
{
	MPI_Datatype mpi_type = type_of(type);
	const void *from = src == dst ? MPI_IN_PLACE : src;

	if (count > INT_MAX) {
		snprintf(why, why_bytes, "MPI counts no more than %d elements", INT_MAX);
		return -1;
	}
	half_reduce = reduce;
	return explain(
		MPI_Allreduce(from, dst, (int)count, mpi_type, op_of(mpi_type, op), world_comm),
		"MPI_Allreduce", why, why_bytes);
}

static int plugin_exchange(const void *src, void *dst, size_t bytes, int peer, char *why,
			   size_t why_bytes)
{
	int count = (int)bytes;

	return explain(MPI_Sendrecv(src, count, MPI_BYTE, peer, 0, dst, count, MPI_BYTE, peer, 0,
				    world_comm, MPI_STATUS_IGNORE),
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
	.open = plugin_open,
	.alloc = plugin_alloc,
	.allreduce = plugin_allreduce,
	.exchange = plugin_exchange,
	.close = plugin_close,
};
