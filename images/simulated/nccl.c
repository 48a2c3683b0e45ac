/* SPDX-License-Identifier: MIT */
/* Stand-in for libnccl.so.2: see standin.h. Prototypes as in images/worker/backend/nccl/nccl.h. Reductions are
 * those of the worker; averages are scaled first, as NCCL does. */
#include "collective/dtype.c"
#include "standin.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define RANKS_MAX 64
#define YIELDS_MAX 64
#define SLOT_BYTES ((size_t)1 << 20)   /* of a collective at a time */
#define MOVES_BYTES ((size_t)32 << 20) /* of a group of sends */

struct id {
	char internal[128];
};

struct meeting { /* the mapped file */
	atomic_int here, arrived, turns;
	atomic_int pids[RANKS_MAX];
	atomic_int sent[RANKS_MAX][RANKS_MAX], taken[RANKS_MAX][RANKS_MAX];
	size_t offset[RANKS_MAX][RANKS_MAX]; /* of what is sent, in the sender's slot */
	unsigned char scalars[RANKS_MAX][DTYPE_COUNT]
			     [ELEMENT_BYTES_MAX]; /* of ncclRedOpCreatePreMulSum() */
	_Alignas(64) unsigned char slots[RANKS_MAX][MOVES_BYTES]; /* a hole where nobody writes */
};

struct comm {
	struct meeting *meeting;
	int rank, ranks, collectives;
	int asked; /* how often since the last collective */
};

/* Between ncclGroupStart() and ncclGroupEnd(). */
struct move {
	const void *send;
	void *recv;
	size_t bytes;
	int peer;
};
static struct {
	struct comm *comm;
	void *stream;
	struct move moves[2 * RANKS_MAX];
	int count;
} pending;

int ncclGetVersion(int *version);
const char *ncclGetErrorString(int result);
const char *ncclGetLastError(void *comm);
int ncclGetUniqueId(struct id *id);
int ncclCommInitRank(void **comm, int ranks, struct id id, int rank);
int ncclCommGetAsyncError(void *comm, int *result);
int ncclCommFinalize(void *comm);
int ncclCommAbort(void *comm);
int ncclCommDestroy(void *comm);
int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op, void *comm,
		  void *stream);
int ncclReduceScatter(const void *send, void *recv, size_t count, int type, int op, void *comm,
		      void *stream);
int ncclAllGather(const void *send, void *recv, size_t count, int type, void *comm, void *stream);
int ncclBroadcast(const void *send, void *recv, size_t count, int type, int root, void *comm,
		  void *stream);
int ncclReduce(const void *send, void *recv, size_t count, int type, int op, int root, void *comm,
	       void *stream);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclSend(const void *send, size_t count, int type, int peer, void *comm, void *stream);
int ncclRecv(void *recv, size_t count, int type, int peer, void *comm, void *stream);
#ifndef STANDIN_OLD
int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence, void *comm);
int ncclRedOpDestroy(int op, void *comm);
int ncclMemAlloc(void **memory, size_t bytes);
int ncclMemFree(void *memory);
int ncclCommRegister(void *comm, void *memory, size_t bytes, void **handle);
int ncclCommDeregister(void *comm, void *handle);
int ncclCommWindowRegister(void *comm, void *memory, size_t bytes, void **window, int flags);
int ncclCommWindowDeregister(void *comm, void *window);
#endif

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

/* The folder of the mapped files. Lab hosts and their containers see one and the same. */
static const char *standin_folder(void)
{
#ifdef SIMULATED
	const char *folder = getenv("RINGUP_SIMULATED_SHARED");

	return folder ? folder : "/run/ringup-simulated/shared";
#else
	const char *folder = getenv("TMPDIR");

	return folder ? folder : "/tmp";
#endif
}

int ncclGetUniqueId(struct id *id)
{
	char path[4096];
	int fd;

	LOGGED;
	snprintf(path, sizeof(path), "%s/standin-nccl.XXXXXX", standin_folder());
	fd = mkstemp(path);
	if (fd < 0 || ftruncate(fd, sizeof(struct meeting)) < 0)
		return 2;
	close(fd);
	snprintf(id->internal, sizeof(id->internal), "%s", strrchr(path, '/') + 1);
	return 0;
}

/* What NCCL writes to its log: $STANDIN_SAYS, to $NCCL_DEBUG_FILE, if $NCCL_DEBUG asks for it. As NCCL does, it opens
 * the file when the library is first used. */
static void say(bool connected)
{
	static int out = -1, said;
	const char *from = getenv("STANDIN_SAYS"), *to = getenv("NCCL_DEBUG_FILE"),
		   *level = getenv("NCCL_DEBUG");
	char text[4096];
	ssize_t got;
	int in;

	if (out < 0 && to && level)
		out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (out < 0 || !from || said || (!connected && standin_number("STANDIN_LAZY", 0)))
		return;
	said = 1;
	in = open(from, O_RDONLY | O_CLOEXEC);
	got = in >= 0 ? read(in, text, sizeof(text)) : 0;
	if (got > 0 && write(out, text, (size_t)got) != got)
		abort();
	if (in >= 0)
		close(in);
}

int ncclCommInitRank(void **out, int ranks, struct id id, int rank)
{
	struct comm *comm = calloc(1, sizeof(*comm));
	char path[4096];
	int fd;

	LOGGED;
	if (getenv("NCCL_CTA_POLICY"))
		standin_log("NCCL_CTA_POLICY");
	snprintf(path, sizeof(path), "%s/%.*s", standin_folder(), (int)sizeof(id.internal),
		 id.internal);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (!comm || fd < 0 || ranks > RANKS_MAX)
		return 2;
	comm->rank = rank;
	comm->ranks = ranks;
	comm->meeting =
		mmap(NULL, sizeof(struct meeting), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	say(false);
	atomic_store(&comm->meeting->pids[rank], (int)getpid());
	if (atomic_fetch_add(&comm->meeting->here, 1) == ranks - 1)
		unlink(path);
	while (standin_number("STANDIN_HANG", 0) || atomic_load(&comm->meeting->here) < ranks)
		usleep(100);
	*out = comm;
	return 0;
}

/* Whether a signal has stopped a rank's process: state T of proc_pid_stat(5). */
static bool standin_one_stopped(const struct comm *comm)
{
	char path[64], state = '?';
	bool stopped = false;

	for (int rank = 0; rank < comm->ranks && !stopped; rank++) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/stat",
			 atomic_load(&comm->meeting->pids[rank]));
		file = fopen(path, "re");
		stopped = file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1 && state == 'T';
		if (file)
			fclose(file);
	}
	return stopped;
}

int ncclCommGetAsyncError(void *state, int *result)
{
	struct comm *comm = state;

	*result = 0;
	if (comm->asked++ < 3 && standin_number("STANDIN_PROGRESS", 0))
		*result = 7;
	else if (comm->collectives > 0 &&
		 (!standin_number("STANDIN_STOPPED", 0) || standin_one_stopped(comm)))
		*result = standin_number("STANDIN_ASYNC", 0);
	return 0;
}

int ncclCommFinalize(void *comm)
{
	LOGGED;
	return comm ? 0 : 4;
}

int ncclCommAbort(void *comm)
{
	LOGGED;
	sleep((unsigned)standin_number("STANDIN_ABORT", 0));
	return comm ? 0 : 4; /* what is late may still be at work in it */
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
	for (int tries = 0; atomic_load(&comm->meeting->turns) == turn; tries++)
		if (tries < YIELDS_MAX)
			sched_yield();
		else
			usleep(100); /* many ranks share few cores here */
}

/* ncclDataType_t of nccl.h. */
static int type_of(int type)
{
	static const int nccl_types[] = {DTYPE_I8,  DTYPE_U8,	DTYPE_I32,    DTYPE_U32,
					 DTYPE_I64, DTYPE_U64,	DTYPE_F16,    DTYPE_F32,
					 DTYPE_F64, DTYPE_BF16, DTYPE_F8E4M3, DTYPE_F8E5M2};

	return type < 0 || type >= (int)(sizeof(nccl_types) / sizeof(nccl_types[0]))
		       ? -1
		       : nccl_types[type];
}

static bool standin_is_wrong(const char *how)
{
	const char *wrong = getenv("STANDIN_WRONG");

	return wrong && strcmp(wrong, how) == 0;
}

/* A result of @bytes; @element_bytes: of the call's last element, if that is in it. */
static void standin_spoil(unsigned char *out, size_t bytes, size_t element_bytes)
{
	if (standin_is_wrong("zero"))
		memset(out, 0, bytes);
	for (size_t i = 0; i < element_bytes && standin_is_wrong("last"); i++)
		out[bytes - 1 - i] ^= 0xff;
}

/* Combines @count elements at @at of everybody's slot; @is_last: they are the call's last ones. */
/* Each element times one of them. */
static void standin_multiply(unsigned char *data, const unsigned char *scalar, size_t count,
			     enum dtype type)
{
	size_t bytes = dtype_bytes(type);

	for (size_t i = 0; i < count; i++)
		dtype_reducer(type, OP_PROD)(data + i * bytes, data + i * bytes, scalar, 1);
}

#define OP_PREMULTIPLIED \
	5 /* NCCL's own numbers end with 4, and each communicator has one more here */

#ifndef STANDIN_OLD
int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence, void *state)
{
	struct comm *comm = state;

	LOGGED;
	if (type_of(type) < 0 || residence != 1)
		return 4;
	memcpy(comm->meeting->scalars[comm->rank][type_of(type)], scalar,
	       dtype_bytes((enum dtype)type_of(type)));
	*op = OP_PREMULTIPLIED;
	return 0;
}

int ncclRedOpDestroy(int op, void *comm)
{
	LOGGED;
	return comm && op == OP_PREMULTIPLIED ? 0 : 4;
}
#endif

static void standin_combine(struct comm *comm, size_t at, void *out, size_t count, enum dtype type,
			    int op, bool is_last)
{
	static const enum op nccl_ops[] = {OP_SUM, OP_PROD, OP_MAX, OP_MIN, OP_SUM, OP_SUM};
	unsigned char *scaled = malloc(SLOT_BYTES);
	size_t bytes = count * dtype_bytes(type);

	for (int rank = 0; rank < comm->ranks && scaled; rank++) {
		memcpy(scaled, comm->meeting->slots[rank] + at, bytes);
		if (op == 4 && dtype_is_float(type))
			dtype_scale(type, scaled, count, comm->ranks);
		if (op == OP_PREMULTIPLIED)
			standin_multiply(scaled, comm->meeting->scalars[rank][type], count, type);
		if (rank == 0)
			memcpy(out, scaled, bytes);
		else if (rank > 1 || !standin_is_wrong("missing"))
			dtype_reducer(type, nccl_ops[op])(out, out, scaled, count);
		if (rank == 1 && standin_is_wrong("doubled"))
			dtype_reducer(type, nccl_ops[op])(out, out, scaled, count);
	}
	if (op == 4 && !dtype_is_float(type))
		dtype_scale(type, out, count, comm->ranks);
	standin_spoil(out, bytes, is_last && count > 0 ? dtype_bytes(type) : 0);
	free(scaled);
}

/* What all collectives begin with: 0, or what they answer; -1: 0 at once. */
static int standin_enter(struct comm *comm, int type, int op, void *stream)
{
	say(true);
	comm->collectives++;
	comm->asked = 0;
	if (type_of(type) < 0 || !stream || op > OP_PREMULTIPLIED)
		return 4;
	return standin_number("STANDIN_ASYNC", 0) && !standin_number("STANDIN_STOPPED", 0) ? -1 : 0;
}

/* How many of the `left` elements go through a slot that `parts` blocks share. */
static size_t portion(size_t left, size_t bytes, int parts)
{
	size_t room = SLOT_BYTES / bytes / (size_t)parts;

	return left < room ? left : room;
}

static void publish(struct comm *comm, size_t at, const void *from, size_t bytes)
{
	memcpy(comm->meeting->slots[comm->rank] + at, from, bytes);
}

/* A collective, as the stream's thread does it. */
struct call {
	void (*work)(const struct call *call);
	struct comm *comm;
	const void *send;
	void *recv;
	size_t count, bytes; /* elements, and bytes of one */
	enum dtype type;
	int op, root;
	struct move moves[2 * RANKS_MAX];
	int move_count;
};

static void standin_do(void *arg)
{
	struct call *call = arg;

	call->work(call);
	free(call);
}

/* Puts @call into the stream, unless the communicator has failed. */
static int standin_put(const struct call *call, void *state, void *stream, int type)
{
	const struct standin_stream *to = stream;
	bool aligned = (uintptr_t)call->send % 16 == 0 && (uintptr_t)call->recv % 16 == 0;
	int rc = standin_enter(state, type, call->op, stream);
	struct call *copy = rc == 0 ? malloc(sizeof(*copy)) : NULL;
	char place[40];

	if (rc != 0)
		return rc < 0 ? 0 : rc;
	if (!aligned)
		standin_log("unaligned");
	if (standin_number("STANDIN_PLACES", 0)) {
		snprintf(place, sizeof(place), "at %p", call->send);
		standin_log(place);
	}
	*copy = *call;
	copy->comm = state;
	copy->type = (enum dtype)type_of(type);
	copy->bytes = dtype_bytes(copy->type);
	to->run(standin_do, copy);
	return standin_number("STANDIN_PROGRESS", 0) ? 7 : 0;
}

static void standin_all_reduce(const struct call *call)
{
	struct comm *comm = call->comm;
	size_t n;

	for (size_t done = 0; done < call->count; done += n) {
		n = portion(call->count - done, call->bytes, 1);
		publish(comm, 0, (const char *)call->send + done * call->bytes, n * call->bytes);
		barrier(comm);
		standin_combine(comm, 0, (char *)call->recv + done * call->bytes, n, call->type,
				call->op, done + n == call->count);
		barrier(comm);
	}
}

int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op, void *comm,
		  void *stream)
{
	LOGGED;
	return standin_put(&(struct call){.work = standin_all_reduce,
					  .send = send,
					  .recv = recv,
					  .count = count,
					  .op = op},
			   comm, stream, type);
}

static void standin_reduce_scatter(const struct call *call)
{
	struct comm *comm = call->comm;
	size_t bytes = call->bytes, n;

	for (size_t done = 0; done < call->count; done += n) {
		n = portion(call->count - done, bytes, comm->ranks);
		for (int rank = 0; rank < comm->ranks; rank++)
			publish(comm, (size_t)rank * n * bytes,
				(const char *)call->send +
					((size_t)rank * call->count + done) * bytes,
				n * bytes);
		barrier(comm);
		standin_combine(comm, (size_t)comm->rank * n * bytes,
				(char *)call->recv + done * bytes, n, call->type, call->op,
				done + n == call->count);
		barrier(comm);
	}
}

int ncclReduceScatter(const void *send, void *recv, size_t count, int type, int op, void *comm,
		      void *stream)
{
	LOGGED;
	return standin_put(&(struct call){.work = standin_reduce_scatter,
					  .send = send,
					  .recv = recv,
					  .count = count,
					  .op = op},
			   comm, stream, type);
}

static void standin_all_gather(const struct call *call)
{
	struct comm *comm = call->comm;
	size_t bytes = call->bytes, n;

	for (size_t done = 0; done < call->count; done += n) {
		n = portion(call->count - done, bytes, 1);
		publish(comm, 0, (const char *)call->send + done * bytes, n * bytes);
		barrier(comm);
		for (int rank = 0; rank < comm->ranks; rank++)
			memcpy((char *)call->recv + ((size_t)rank * call->count + done) * bytes,
			       comm->meeting->slots[rank], n * bytes);
		barrier(comm);
	}
}

int ncclAllGather(const void *send, void *recv, size_t count, int type, void *comm, void *stream)
{
	LOGGED;
	return standin_put(
		&(struct call){
			.work = standin_all_gather, .send = send, .recv = recv, .count = count},
		comm, stream, type);
}

static void standin_broadcast(const struct call *call)
{
	struct comm *comm = call->comm;
	size_t bytes = call->bytes, n;

	for (size_t done = 0; done < call->count; done += n) {
		n = portion(call->count - done, bytes, 1);
		if (comm->rank == call->root)
			publish(comm, 0, (const char *)call->send + done * bytes, n * bytes);
		barrier(comm);
		memcpy((char *)call->recv + done * bytes, comm->meeting->slots[call->root],
		       n * bytes);
		barrier(comm);
	}
}

int ncclBroadcast(const void *send, void *recv, size_t count, int type, int root, void *comm,
		  void *stream)
{
	LOGGED;
	return standin_put(&(struct call){.work = standin_broadcast,
					  .send = send,
					  .recv = recv,
					  .count = count,
					  .root = root},
			   comm, stream, type);
}

/* What others than the root find in their output is nobody's: NCCL does not touch it. */
static void standin_reduce(const struct call *call)
{
	struct call all = *call;

	if (call->comm->rank != call->root)
		all.recv = malloc(call->count * call->bytes + 1);
	standin_all_reduce(&all);
	if (all.recv != call->recv)
		free(all.recv);
}

int ncclReduce(const void *send, void *recv, size_t count, int type, int op, int root, void *comm,
	       void *stream)
{
	LOGGED;
	return standin_put(&(struct call){.work = standin_reduce,
					  .send = send,
					  .recv = recv,
					  .count = count,
					  .op = op,
					  .root = root},
			   comm, stream, type);
}

int ncclGroupStart(void)
{
	LOGGED;
	pending.count = 0;
	return 0;
}

static int standin_add_move(struct move move, int type, void *comm, void *stream)
{
	if (type_of(type) < 0 || !stream || pending.count == 2 * RANKS_MAX)
		return 4;
	move.bytes *= dtype_bytes((enum dtype)type_of(type));
	pending.comm = comm;
	pending.stream = stream;
	pending.moves[pending.count++] = move;
	return 0;
}

int ncclSend(const void *send, size_t count, int type, int peer, void *comm, void *stream)
{
	LOGGED;
	return standin_add_move((struct move){.send = send, .bytes = count, .peer = peer}, type,
				comm, stream);
}

int ncclRecv(void *recv, size_t count, int type, int peer, void *comm, void *stream)
{
	LOGGED;
	return standin_add_move((struct move){.recv = recv, .bytes = count, .peer = peer}, type,
				comm, stream);
}

static void standin_send_all(const struct call *call)
{
	struct comm *comm = call->comm;
	struct meeting *meeting = comm->meeting;
	size_t filled = 0;

	for (int i = 0; i < call->move_count; i++) {
		const struct move *move = &call->moves[i];

		if (!move->send)
			continue;
		if (filled + move->bytes > MOVES_BYTES)
			abort();
		memcpy(meeting->slots[comm->rank] + filled, move->send, move->bytes);
		meeting->offset[comm->rank][move->peer] = filled;
		filled += move->bytes;
		atomic_fetch_add(&meeting->sent[comm->rank][move->peer], 1);
	}
}

static void standin_move(const struct call *call)
{
	struct comm *comm = call->comm;
	struct meeting *meeting = comm->meeting;
	int me = comm->rank;

	standin_send_all(call);
	for (int i = 0; i < call->move_count; i++) {
		const struct move *move = &call->moves[i];
		int peer = move->peer;

		if (!move->recv)
			continue;
		while (atomic_load(&meeting->sent[peer][me]) <=
		       atomic_load(&meeting->taken[peer][me]))
			sched_yield();
		memcpy(move->recv, meeting->slots[peer] + meeting->offset[peer][me], move->bytes);
		atomic_fetch_add(&meeting->taken[peer][me], 1);
	}
	for (int i = 0; i < call->move_count; i++)
		while (call->moves[i].send &&
		       atomic_load(&meeting->taken[me][call->moves[i].peer]) <
			       atomic_load(&meeting->sent[me][call->moves[i].peer]))
			sched_yield();
}

int ncclGroupEnd(void)
{
	struct call call = {.work = standin_move, .move_count = pending.count};

	LOGGED;
	if (call.move_count == 0) /* the calls in it have been put into the stream as they came */
		return 0;
	pending.count = 0;
	memcpy(call.moves, pending.moves, sizeof(call.moves));
	return standin_put(&call, pending.comm, pending.stream, 1);
}

#ifndef STANDIN_OLD
int ncclMemAlloc(void **memory, size_t bytes)
{
	LOGGED;
	*memory = malloc(bytes);
	return *memory ? 0 : 1;
}

int ncclMemFree(void *memory)
{
	LOGGED;
	free(memory);
	return 0;
}

int ncclCommRegister(void *comm, void *memory, size_t bytes, void **handle)
{
	LOGGED;
	*handle = memory;
	return comm && bytes ? 0 : 4;
}

int ncclCommDeregister(void *comm, void *handle)
{
	LOGGED;
	return comm && handle ? 0 : 4;
}

int ncclCommWindowRegister(void *comm, void *memory, size_t bytes, void **window, int flags)
{
	LOGGED;
	*window = memory;
	return comm && bytes && flags == 1 ? 0 : 4;
}

int ncclCommWindowDeregister(void *comm, void *window)
{
	LOGGED;
	return comm && window ? 0 : 4;
}
#endif
