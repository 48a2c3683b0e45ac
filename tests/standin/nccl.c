/* SPDX-License-Identifier: MIT */
/* Stand-in for libnccl.so.2: see standin.h. Prototypes as in images/worker/nccl.h. Sums and
 * averages of float and int32 only. */
#include "standin.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define RANKS_MAX 16
#define SLOT_BYTES ((size_t)1 << 20)

struct id {
	char internal[128];
};

struct config {
	size_t size;
	unsigned magic, version;
	int blocking;
};

struct meeting { /* the mapped file */
	atomic_int here, arrived, turns;
	atomic_int sent[RANKS_MAX][RANKS_MAX], taken[RANKS_MAX][RANKS_MAX];
	_Alignas(64) unsigned char slots[RANKS_MAX][SLOT_BYTES];
};

struct comm {
	struct meeting *meeting;
	int rank, ranks, collectives;
};

/* Between ncclGroupStart() and ncclGroupEnd(): one send and one receive, with the same peer. */
static struct {
	struct comm *comm;
	const void *send;
	void *recv;
	size_t bytes;
	int peer;
} pending;

int ncclGetVersion(int *version);
const char *ncclGetErrorString(int result);
const char *ncclGetLastError(void *comm);
int ncclGetUniqueId(struct id *id);
int ncclCommInitRank(void **comm, int ranks, struct id id, int rank);
int ncclCommInitRankConfig(void **comm, int ranks, struct id id, int rank, struct config *config);
int ncclCommGetAsyncError(void *comm, int *result);
int ncclCommFinalize(void *comm);
int ncclCommAbort(void *comm);
int ncclCommDestroy(void *comm);
int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op, void *comm,
		  void *stream);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclSend(const void *send, size_t count, int type, int peer, void *comm, void *stream);
int ncclRecv(void *recv, size_t count, int type, int peer, void *comm, void *stream);

int ncclGetVersion(int *version)
{
	LOGGED;
	*version = standin_number("STANDIN_NCCL", 21803);
	return 0;
}

const char *ncclGetErrorString(int result)
{
	return result == 6 ? "remote process exited" : "stand-in error";
}

const char *ncclGetLastError(void *comm)
{
	return comm ? "last words of the stand-in" : "";
}

int ncclGetUniqueId(struct id *id)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	LOGGED;
	snprintf(id->internal, sizeof(id->internal), "%s/standin-nccl.XXXXXX",
		 folder ? folder : "/tmp");
	fd = mkstemp(id->internal);
	if (fd < 0 || ftruncate(fd, sizeof(struct meeting)) < 0)
		return 2;
	close(fd);
	return 0;
}

int ncclCommInitRank(void **out, int ranks, struct id id, int rank)
{
	struct comm *comm = calloc(1, sizeof(*comm));
	int fd = open(id.internal, O_RDWR | O_CLOEXEC);

	LOGGED;
	if (!comm || fd < 0 || ranks > RANKS_MAX)
		return 2;
	comm->rank = rank;
	comm->ranks = ranks;
	comm->meeting =
		mmap(NULL, sizeof(struct meeting), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (atomic_fetch_add(&comm->meeting->here, 1) == ranks - 1)
		unlink(id.internal);
	*out = comm;
	return 0;
}

int ncclCommInitRankConfig(void **out, int ranks, struct id id, int rank, struct config *config)
{
	LOGGED;
	if (config->magic != 0xcafebeef || config->size != sizeof(*config) || config->blocking)
		return 4;
	return ncclCommInitRank(out, ranks, id, rank) ? 2 : 7;
}

int ncclCommGetAsyncError(void *state, int *result)
{
	struct comm *comm = state;

	*result = 0;
	if (standin_number("STANDIN_HANG", 0) || atomic_load(&comm->meeting->here) < comm->ranks)
		*result = 7;
	else if (comm->collectives > 0)
		*result = standin_number("STANDIN_ASYNC", 0);
	return 0;
}

int ncclCommFinalize(void *comm)
{
	LOGGED;
	return comm ? 7 : 4;
}

int ncclCommAbort(void *comm)
{
	LOGGED;
	return ncclCommDestroy(comm);
}

int ncclCommDestroy(void *state)
{
	struct comm *comm = state;

	LOGGED;
	munmap(comm->meeting, sizeof(struct meeting));
	free(comm);
	return 0;
}

static void barrier(struct comm *comm)
{
	int turn = atomic_load(&comm->meeting->turns);

	if (atomic_fetch_add(&comm->meeting->arrived, 1) == comm->ranks - 1) {
		atomic_store(&comm->meeting->arrived, 0);
		atomic_store(&comm->meeting->turns, turn + 1);
		return;
	}
	while (atomic_load(&comm->meeting->turns) == turn)
		sched_yield();
}

static void add_floats(struct comm *comm, float *out, size_t count, int average)
{
	float scale = average ? 1.0f / (float)comm->ranks : 1.0f;

	for (size_t i = 0; i < count; i++) {
		float sum = 0;

		for (int rank = 0; rank < comm->ranks; rank++)
			sum += ((const float *)(void *)comm->meeting->slots[rank])[i] * scale;
		out[i] = sum;
	}
	if (standin_number("STANDIN_WRONG", 0) && count > 0)
		out[count - 1] += 1;
}

static void add_ints(struct comm *comm, int32_t *out, size_t count, int average)
{
	for (size_t i = 0; i < count; i++) {
		int64_t sum = 0;

		for (int rank = 0; rank < comm->ranks; rank++)
			sum += ((const int32_t *)(void *)comm->meeting->slots[rank])[i];
		out[i] = (int32_t)(average ? sum / comm->ranks : sum);
	}
}

int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op, void *state,
		  void *stream)
{
	struct comm *comm = state;

	LOGGED;
	comm->collectives++;
	if ((type != 7 && type != 2) || (op != 0 && op != 4) || !stream || count * 4 > SLOT_BYTES)
		return 4;
	if (standin_number("STANDIN_ASYNC", 0))
		return 0;
	memcpy(comm->meeting->slots[comm->rank], send, count * 4);
	barrier(comm);
	if (type == 7)
		add_floats(comm, recv, count, op == 4);
	else
		add_ints(comm, recv, count, op == 4);
	barrier(comm);
	return 0;
}

int ncclGroupStart(void)
{
	LOGGED;
	pending.comm = NULL;
	return 0;
}

int ncclSend(const void *send, size_t count, int type, int peer, void *comm, void *stream)
{
	LOGGED;
	pending.comm = comm;
	pending.send = send;
	pending.bytes = count;
	pending.peer = peer;
	return type == 1 && stream && count <= SLOT_BYTES ? 0 : 4;
}

int ncclRecv(void *recv, size_t count, int type, int peer, void *comm, void *stream)
{
	LOGGED;
	pending.recv = recv;
	return type == 1 && stream && comm == pending.comm && peer == pending.peer &&
			       count == pending.bytes
		       ? 0
		       : 4;
}

/* Tells the peer that we have come this far, and waits until it has. */
static void meet(atomic_int (*counts)[RANKS_MAX], int rank, int peer)
{
	int number = atomic_fetch_add(&counts[rank][peer], 1) + 1;

	while (atomic_load(&counts[peer][rank]) < number)
		sched_yield();
}

int ncclGroupEnd(void)
{
	struct comm *comm = pending.comm;

	LOGGED;
	memcpy(comm->meeting->slots[comm->rank], pending.send, pending.bytes);
	meet(comm->meeting->sent, comm->rank, pending.peer);
	memcpy(pending.recv, comm->meeting->slots[pending.peer], pending.bytes);
	meet(comm->meeting->taken, comm->rank, pending.peer);
	return 0;
}
