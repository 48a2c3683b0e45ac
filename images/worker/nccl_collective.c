/* SPDX-License-Identifier: MIT */
/* The worker's collectives as NCCL's calls. */
#include "nccl.h"

#define FP8_VERSION 22403 /* 2.24.3 */
#define SEND_VERSION "2.7"

/* ncclDataType_t and ncclRedOp_t of nccl.h. */
static const int types[DTYPE_COUNT] = {
	[DTYPE_U8] = 1,	  [DTYPE_I32] = 2,     [DTYPE_I64] = 4,
	[DTYPE_F16] = 6,  [DTYPE_F32] = 7,     [DTYPE_F64] = 8,
	[DTYPE_BF16] = 9, [DTYPE_F8E4M3] = 10, [DTYPE_F8E5M2] = 11,
};
static const int ops[OP_COUNT] = {
	[OP_SUM] = 0, [OP_PROD] = 1, [OP_MAX] = 2, [OP_MIN] = 3, [OP_AVG] = 4};

static bool uses_send(enum collective_kind kind)
{
	return kind == ALLTOALL || kind == SENDRECV;
}

int nccl_can(const struct nccl *nccl, enum collective_kind kind, enum dtype type,
	     struct failure *err)
{
	char version[16];

	nccl_version_text(nccl->version, version);
	if ((type == DTYPE_F8E4M3 || type == DTYPE_F8E5M2) && nccl->version < FP8_VERSION)
		return failure_set(err, STATUS_GPU, -1, "",
				   "NCCL %s has no fp8 (-d %s): 2.24.3 or newer is needed", version,
				   dtype_name(type));
	if (uses_send(kind) && (!nccl->ncclSend || !nccl->ncclRecv))
		return failure_set(
			err, STATUS_GPU, -1, "",
			"NCCL %s cannot send and receive (--collective %s): " SEND_VERSION
			" or newer is needed",
			version, collective_name(kind));
	return 0;
}

const char *nccl_call(enum collective_kind kind)
{
	static const char *const calls[COLLECTIVE_COUNT] = {
		[ALL_REDUCE] = "ncclAllReduce",	   [REDUCE_SCATTER] = "ncclReduceScatter",
		[ALL_GATHER] = "ncclAllGather",	   [BROADCAST] = "ncclBroadcast",
		[ALLTOALL] = "ncclSend, ncclRecv", [SENDRECV] = "ncclSend, ncclRecv"};

	return calls[kind];
}

static bool good(int rc)
{
	return rc == 0 || rc == NCCL_IN_PROGRESS;
}

int nccl_shift(const struct nccl *nccl, int to, const void *out, int from, void *in, size_t bytes,
	       void *comm, void *stream)
{
	int rc = nccl->ncclGroupStart();

	if (good(rc))
		rc = nccl->ncclSend(out, bytes, types[DTYPE_U8], to, comm, stream);
	if (good(rc))
		rc = nccl->ncclRecv(in, bytes, types[DTYPE_U8], from, comm, stream);
	return good(rc) ? nccl->ncclGroupEnd() : rc;
}

static int alltoall(const struct nccl *nccl, const struct collective *call, int world, void *comm,
		    void *stream)
{
	size_t bytes = call->count * dtype_bytes(call->type);
	int rc = nccl->ncclGroupStart(), type = types[call->type];

	for (int rank = 0; rank < world && good(rc); rank++) {
		rc = nccl->ncclSend((const char *)call->src + (size_t)rank * bytes, call->count,
				    type, rank, comm, stream);
		if (good(rc))
			rc = nccl->ncclRecv((char *)call->dst + (size_t)rank * bytes, call->count,
					    type, rank, comm, stream);
	}
	return good(rc) ? nccl->ncclGroupEnd() : rc;
}

int nccl_collective(const struct nccl *nccl, const struct collective *call, int rank, int world,
		    void *comm, void *stream)
{
	int type = types[call->type], op = ops[call->op];

	switch (call->kind) {
	case REDUCE_SCATTER:
		return nccl->ncclReduceScatter(call->src, call->dst, call->count, type, op, comm,
					       stream);
	case ALL_GATHER:
		return nccl->ncclAllGather(call->src, call->dst, call->count, type, comm, stream);
	case BROADCAST:
		return nccl->ncclBroadcast(call->src, call->dst, call->count, type, call->root,
					   comm, stream);
	case ALLTOALL:
		return alltoall(nccl, call, world, comm, stream);
	case SENDRECV:
		return nccl_shift(nccl, (rank + 1) % world, call->src, (rank + world - 1) % world,
				  call->dst, call->count * dtype_bytes(call->type), comm, stream);
	case ALL_REDUCE:
	case COLLECTIVE_COUNT:
		break;
	}
	return nccl->ncclAllReduce(call->src, call->dst, call->count, type, op, comm, stream);
}
