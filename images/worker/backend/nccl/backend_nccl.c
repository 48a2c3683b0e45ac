/* SPDX-License-Identifier: MIT */
/*
 * The NCCL backend: one GPU per rank, NCCL's own all-reduce on a stream of its own, through the
 * driver API. Both libraries are opened at run time (cuda.h, nccl.h).
 *
 * Queues and errors are polled with an eye on the control plane, and a failed run aborts the communicator. The
 * communicator blocks: for one that does not, NCCL 2.23 and newer makes a thread for each collective, which costs small
 * sizes their time. So NCCL may hang while it sets itself up or connects (from 2.22 on with the first collective). Then the
 * control thread tells the verdict and ends the process.
 */
#include "backend/backend.h"
#include "backend/nccl/cuda.h"
#include "backend/nccl/devices.h"
#include "backend/nccl/nccl.h"
#include "backend/nccl/nccl_log.h"
#include "backend/nccl/verify.h"
#include "clock.h"
#include "rendezvous/control.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLOSE_USEC 5000000 /* how long the end waits for the other ranks' end */

static struct cuda cuda; /* by probe(); a process has one driver and one NCCL */
static struct nccl nccl;

struct state {
	const struct group *group;
	int device;
	void *context, *comm, *stream;
	void **events; /* [event_count], of which the first marks + 1 are in use */
	uint32_t event_count, marks;
	cuda_address send, recv;
	void *graph;		 /* CUgraphExec of --graph, until it has run */
	void *handles[2];	 /* of registered buffers */
	int mulsum[DTYPE_COUNT]; /* OP_MULSUM of each type, where it is made */
	bool has_mulsum[DTYPE_COUNT];
	enum collective_kind kind; /* of the last collective */
	struct verifier verifier;
	bool verifies;	    /* the verifier is there */
	char why_not[120];  /* "": it is, or is not needed */
	bool nccl_memory;   /* the buffers are of ncclMemAlloc() */
	bool queued;	    /* the stream may have work */
	int64_t leave_usec; /* when closing gives up waiting for others; 0: not closing */
};

static int nccl_probe(struct failure *err)
{
	if (cuda_open(&cuda, err) < 0 || cuda_start(&cuda, err) < 0)
		return -1;
	return nccl_open(&nccl, err);
}

static void nccl_limits(struct device_limits *limits)
{
	int count = 0;

	if (cuda.cuDeviceGetCount(&count) != 0)
		return;
	for (int device = 0; device < count; device++) {
		struct failure ignored;
		int capability;
		size_t bytes;

		if (cuda.cuDeviceTotalMem && cuda.cuDeviceTotalMem(&bytes, device) == 0 &&
		    (!limits->memory || bytes < limits->memory))
			limits->memory = bytes;
		if (cuda_capability(&cuda, device, &capability, &ignored) == 0 &&
		    (!limits->capability || (uint32_t)capability < limits->capability))
			limits->capability = (uint32_t)capability;
	}
}

/* What simulated GPUs do is no GPU's work, and no report may look as if it were. */
static const char *nccl_title(void)
{
	return cuda.simulated ? "nccl (simulated)" : "nccl";
}

static const char *nccl_version(void)
{
	static char text[96];
	char number[16];

	nccl_version_text(nccl.version, number);
	snprintf(text, sizeof(text), "%sNCCL %s, driver %s, CUDA %d.%d",
		 cuda.simulated ? "simulated: " : "", number,
		 cuda.driver[0] ? cuda.driver : "unknown", cuda.version / 1000,
		 cuda.version % 1000 / 10);
	return text;
}

static const char *nccl_file(void)
{
	return nccl.path;
}

static const char *nccl_algorithm(void *state, enum collective_kind kind, size_t bytes)
{
	(void)state;
	(void)bytes;
	return nccl_call(kind);
}

/* Puts the rank in front of what was @said of CUDA. */
static int nccl_blames(const struct state *s, const struct failure *said, struct failure *err)
{
	const struct group *group = s->group;
	const char *host = group->members[group->rank].host;

	return failure_set(err, STATUS_GPU, group->rank, host, "rank %d (%s), GPU %d: %.300s",
			   group->rank, host, s->device, said->reason);
}

static int cuda_says(const struct state *s, const char *call, int rc, struct failure *err)
{
	struct failure said = {.status = STATUS_PASS};

	if (rc == 0)
		return 0;
	cuda_failed(&cuda, call, rc, &said);
	return nccl_blames(s, &said, err);
}

static int nccl_says(const struct state *s, const char *call, int rc, struct failure *err)
{
	const struct group *group = s->group;
	const char *host = group->members[group->rank].host, *more = "";
	bool seen = rc == NCCL_SYSTEM_ERROR || rc == NCCL_INTERNAL_ERROR || rc == NCCL_REMOTE_ERROR;

	if (rc == 0)
		return 0;
	if (nccl.ncclGetLastError)
		more = nccl.ncclGetLastError(s->comm);
	return failure_set(err, rc == NCCL_REMOTE_ERROR ? STATUS_LOST : STATUS_GPU,
			   seen ? -1 : group->rank, seen ? "" : host,
			   "%srank %d (%s), GPU %d: %s: %s: %.200s; run again with NCCL_DEBUG=INFO",
			   seen ? "seen by " : "", group->rank, host, s->device, call,
			   nccl.ncclGetErrorString(rc), more ? more : "");
}

/* Waits until the communicator has done what @rc says is in progress: with $NCCL_COMM_BLOCKING=0 it does not block. */
static int nccl_wait(const struct state *s, const char *call, int rc, struct failure *err)
{
	while (rc == NCCL_IN_PROGRESS) {
		int said = nccl.ncclCommGetAsyncError(s->comm, &rc);

		if (said != 0)
			return nccl_says(s, "ncclCommGetAsyncError", said, err);
		if (control_failed(s->group->control) ||
		    (s->leave_usec > 0 && clock_usec() > s->leave_usec))
			return -1;
		sched_yield();
	}
	return nccl_says(s, call, rc, err);
}

/* Waits until the stream has come to @event, or NULL: is empty. */
static int nccl_await(struct state *s, void *event, struct failure *err)
{
	for (;;) {
		int async = 0,
		    rc = event ? cuda.cuEventQuery(event) : cuda.cuStreamQuery(s->stream), said;

		if (rc != 0 && rc != CUDA_NOT_READY)
			return cuda_says(s, event ? "cuEventQuery" : "cuStreamQuery", rc, err);
		said = nccl.ncclCommGetAsyncError(s->comm, &async);
		if (said != 0 || (async != 0 && async != NCCL_IN_PROGRESS))
			return nccl_says(s, nccl_call(s->kind), said ? said : async, err);
		if (control_failed(s->group->control))
			return -1;
		if (rc == 0)
			return 0;
		sched_yield();
	}
}

/* Waits until the stream is empty. */
static int nccl_drain(struct state *s, struct failure *err)
{
	if (s->queued && nccl_await(s, NULL, err) < 0)
		return -1;
	s->queued = false;
	return 0;
}

static int allocate_for_nccl(struct state *s, size_t bytes, struct failure *err)
{
	void *memory[2] = {NULL, NULL};

	for (int i = 0; i < 2; i++)
		if (nccl_says(s, "ncclMemAlloc", nccl.ncclMemAlloc(&memory[i], bytes), err) < 0)
			return -1;
	s->send = (cuda_address)(uintptr_t)memory[0];
	s->recv = (cuda_address)(uintptr_t)memory[1];
	s->nccl_memory = true;
	return 0;
}

/* Makes the GPU this thread's, with a stream and two buffers. */
static int open_device(struct state *s, size_t bytes, struct failure *err)
{
	int device = 0;

	bytes = bytes > 0 ? bytes : 1;
#define CALL(function, ...)                                      \
	do {                                                     \
		int rc = cuda.function(__VA_ARGS__);             \
                                                                 \
		if (rc != 0)                                     \
			return cuda_says(s, #function, rc, err); \
	} while (0)
	CALL(cuDeviceGet, &device, s->device);
	CALL(cuDevicePrimaryCtxRetain, &s->context, device);
	CALL(cuCtxSetCurrent, s->context);
	CALL(cuStreamCreate, &s->stream, CUDA_STREAM_NON_BLOCKING);
	if (s->group->workload.registers && nccl.ncclMemAlloc && nccl.ncclMemFree)
		return allocate_for_nccl(s, bytes, err);
	CALL(cuMemAlloc, &s->send, bytes);
	CALL(cuMemAlloc, &s->recv, bytes);
#undef CALL
	return 0;
}

static bool is_symmetric(const struct state *s)
{
	return s->group->workload.registers == REGISTERS_SYMMETRIC;
}

/* Tells NCCL of both buffers, so that it may use them without copying to its own. */
static int register_buffers(struct state *s, size_t bytes, struct failure *err)
{
	cuda_address buffers[2] = {s->send, s->recv};

	for (int i = 0; i < 2 && s->group->workload.registers; i++) {
		void *buffer = (void *)(uintptr_t)buffers[i];
		size_t room = bytes > 0 ? bytes : 1;
		int rc =
			is_symmetric(s)
				? nccl.ncclCommWindowRegister(s->comm, buffer, room, &s->handles[i],
							      NCCL_WINDOW_SYMMETRIC)
				: nccl.ncclCommRegister(s->comm, buffer, room, &s->handles[i]);

		if (nccl_wait(s, is_symmetric(s) ? "ncclCommWindowRegister" : "ncclCommRegister",
			      rc, err) < 0)
			return -1;
	}
	return 0;
}

static int open_comm(struct state *s, struct failure *err)
{
	const struct group *group = s->group;
	struct nccl_id id = {.internal = ""};
	char policy[16];
	int rc;

	if (nccl_meet(&nccl, group, &id, err) < 0)
		return -1;
	/* NCCL itself prefers the environment to what it is asked for */
	snprintf(policy, sizeof(policy), "%u", group->workload.cta_policy);
	if (group->workload.cta_policy)
		setenv("NCCL_CTA_POLICY", policy, 0);
	rc = nccl.ncclCommInitRank(&s->comm, group->world, id, group->rank);
	return nccl_wait(s, "ncclCommInitRank", rc, err);
}

static bool finalize(struct state *s)
{
	struct failure ignored;

	s->leave_usec = clock_usec() + CLOSE_USEC;
	return !nccl.ncclCommFinalize ||
	       nccl_wait(s, "ncclCommFinalize", nccl.ncclCommFinalize(s->comm), &ignored) == 0;
}

static void free_buffers(const struct state *s)
{
	if (s->nccl_memory) {
		nccl.ncclMemFree((void *)(uintptr_t)s->send);
		nccl.ncclMemFree((void *)(uintptr_t)s->recv);
		return;
	}
	cuda.cuMemFree(s->send);
	cuda.cuMemFree(s->recv);
}

/* Nothing here waits for others once the run has failed. */
static void nccl_close(void *state)
{
	struct state *s = state;
	bool failed = control_failed(s->group->control);

	nccl_log_stop();

	for (int i = 0; i < 2 && !failed; i++)
		if (s->handles[i] && is_symmetric(s))
			nccl.ncclCommWindowDeregister(s->comm, s->handles[i]);
		else if (s->handles[i])
			nccl.ncclCommDeregister(s->comm, s->handles[i]);
	if (s->graph && !failed)
		cuda.cuGraphExecDestroy(s->graph);
	for (int type = 0; type < DTYPE_COUNT && !failed; type++)
		if (s->has_mulsum[type])
			nccl.ncclRedOpDestroy(s->mulsum[type], s->comm);
	if (s->comm && !failed && finalize(s))
		nccl.ncclCommDestroy(s->comm);
	else if (s->comm)
		nccl.ncclCommAbort(s->comm);
	if (s->context && !failed) { /* freeing waits for the stream: leave that to the exit */
		verifier_close(&s->verifier);
		free_buffers(s);
		for (uint32_t i = 0; i < s->event_count; i++)
			cuda.cuEventDestroy(s->events[i]);
		cuda.cuStreamDestroy(s->stream);
		cuda.cuDevicePrimaryCtxRelease(s->device);
	}
	free(s->events);
	free(s);
}

/* A GPU that loads no kernels is no reason to fail: the host can do that. */
static void open_verifier(struct state *s)
{
	struct failure why = {.status = STATUS_PASS};

	if (s->group->workload.checks == 0)
		return;
	s->verifies = verifier_open(&s->verifier, &cuda, s->device, s->stream, &why) == 0;
	if (!s->verifies)
		snprintf(s->why_not, sizeof(s->why_not), "%.*s", (int)sizeof(s->why_not) - 1,
			 why.reason);
}

/* Do this driver and this NCCL have what is asked for? */
static int check_wishes(const struct group *group, struct failure *err)
{
	const struct workload *w = &group->workload;
	const char *host = group->members[group->rank].host;
	char version[16];

	nccl_version_text(nccl.version, version);
	if (w->graph && (!cuda.cuStreamBeginCapture || !cuda.cuGraphInstantiateWithFlags))
		return failure_set(
			err, STATUS_GPU, group->rank, host,
			"rank %d (%s): --graph needs a driver of CUDA 11.4 or newer; this one is of CUDA %d.%d",
			group->rank, host, cuda.version / 1000, cuda.version % 1000 / 10);
	if (w->registers && (!nccl.ncclCommRegister || !nccl.ncclCommDeregister))
		return failure_set(
			err, STATUS_GPU, group->rank, host,
			"rank %d (%s): --register needs NCCL 2.19 or newer; this one is %s",
			group->rank, host, version);
	if (w->registers == REGISTERS_SYMMETRIC &&
	    (!nccl.ncclCommWindowRegister || !nccl.ncclCommWindowDeregister))
		return failure_set(err, STATUS_GPU, group->rank, host,
				   "rank %d (%s): -R 2 needs NCCL 2.27 or newer; this one is %s",
				   group->rank, host, version);
	return nccl_can(&nccl, w, group, err);
}

static int nccl_connect(const struct group *group, size_t bytes, void **state, struct failure *err)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->group = group;
	*state = s;
	nccl_log_start();
	if (check_wishes(group, err) < 0 || devices_choose(group, &cuda, &s->device, err) < 0 ||
	    open_device(s, bytes, err) < 0 || open_comm(s, err) < 0)
		return -1;
	open_verifier(s);
	return register_buffers(s, bytes, err);
}

static void nccl_warn(void *state, struct warnings *warnings)
{
	const struct state *s = state;
	struct warning *warning;

	nccl_log_check(s->group, warnings);
	if (!s->why_not[0])
		return;
	warning = warning_add(
		warnings,
		"upgrade the driver; until then each rank needs as much host memory as its "
		"largest size, and checks take longer",
		"results are verified on the host, not on the GPU");
	if (warning)
		snprintf(warning->why, sizeof(warning->why), "%s", s->why_not);
}

static void nccl_links(void *state, uint8_t *links)
{
	devices_links(((const struct state *)state)->group, links);
}

static void nccl_buffers(void *state, void **send, void **recv)
{
	const struct state *s = state;

	*send = (void *)(uintptr_t)s->send;
	*recv = (void *)(uintptr_t)s->recv;
}

/* Before the first collective that needs it, which no graph records. */
static int make_mulsum(struct state *s, enum dtype type, struct failure *err)
{
	if (s->has_mulsum[type])
		return 0;
	if (nccl_wait(s, "ncclRedOpCreatePreMulSum",
		      nccl_make_mulsum(&nccl, type, s->group->rank, s->comm, &s->mulsum[type]),
		      err) < 0)
		return -1;
	s->has_mulsum[type] = true;
	return 0;
}

static int nccl_run(void *state, const struct collective *call, struct failure *err)
{
	struct state *s = state;
	const struct group *group = s->group;

	if (call->count == 0)
		return 0;
	if (collective_reduces(call->kind) && call->op == OP_MULSUM &&
	    make_mulsum(s, call->type, err) < 0)
		return -1;
	s->queued = true;
	s->kind = call->kind;
	return nccl_wait(s, nccl_call(call->kind),
			 nccl_collective(&nccl, call, s->mulsum[call->type], group->rank,
					 group->world, s->comm, s->stream),
			 err);
}

static int nccl_exchange(void *state, int peer, size_t bytes, uint32_t number, struct failure *err)
{
	struct state *s = state;
	void *send, *recv;

	(void)number;
	if (!nccl.ncclSend || !nccl.ncclRecv)
		return failure_set(
			err, STATUS_GPU, -1, "",
			"--find-slow needs NCCL 2.7 or newer, which can send and receive");
	nccl_buffers(s, &send, &recv);
	s->queued = true;
	s->kind = SENDRECV;
	return nccl_wait(s, nccl_call(SENDRECV),
			 nccl_shift(&nccl, peer, send, peer, recv, bytes, s->comm, s->stream), err);
}

static int nccl_put(void *state, void *to, const void *from, size_t bytes, struct failure *err)
{
	const struct state *s = state;
	int rc = cuda.cuMemcpyHtoD((cuda_address)(uintptr_t)to, from, bytes);

	/*
	 * the copy may return before the data is on the device, and our stream does not wait for it
	 */
	return cuda_says(s, "cuMemcpyHtoD", rc ? rc : cuda.cuCtxSynchronize(), err);
}

static int nccl_get(void *state, void *to, const void *from, size_t bytes, struct failure *err)
{
	struct state *s = state;

	if (nccl_drain(s, err) < 0)
		return -1;
	if (bytes == 0)
		return 0;
	return cuda_says(s, "cuMemcpyDtoH",
			 cuda.cuMemcpyDtoH(to, (cuda_address)(uintptr_t)from, bytes), err);
}

static bool nccl_verifies(const void *state)
{
	return ((const struct state *)state)->verifies;
}

static int nccl_fill(void *state, void *to, const void *period, size_t element_bytes, size_t count,
		     struct failure *err)
{
	struct state *s = state;
	struct failure why = {.status = STATUS_PASS};

	if (nccl_drain(s, err) < 0)
		return -1;
	if (verifier_fill(&s->verifier, (cuda_address)(uintptr_t)to, period, element_bytes, count,
			  &why) < 0)
		return nccl_blames(s, &why, err);
	s->queued = true;
	return nccl_drain(s, err);
}

static int nccl_compare(void *state, const void *at, const struct bounds *bounds, size_t count,
			struct difference *difference, struct failure *err)
{
	struct state *s = state;
	cuda_address data = (cuda_address)(uintptr_t)at;
	struct failure why = {.status = STATUS_PASS};

	if (nccl_drain(s, err) < 0)
		return -1;
	if (verifier_compare(&s->verifier, data, bounds, count, &why) < 0)
		return nccl_blames(s, &why, err);
	s->queued = true;
	if (nccl_drain(s, err) < 0)
		return -1;
	if (verifier_result(&s->verifier, data, bounds->element_bytes, difference, &why) < 0)
		return nccl_blames(s, &why, err);
	return 0;
}

static int nccl_begin(void *state, uint32_t marks, struct failure *err)
{
	struct state *s = state;

	if (s->event_count < marks + 1) {
		s->events = realloc(s->events, (marks + 1) * sizeof(*s->events));
		if (!s->events)
			abort();
	}
	for (; s->event_count < marks + 1; s->event_count++) {
		int rc = cuda.cuEventCreate(&s->events[s->event_count], 0);

		if (rc != 0)
			return cuda_says(s, "cuEventCreate", rc, err);
	}
	s->marks = 0;
	return cuda_says(s, "cuEventRecord", cuda.cuEventRecord(s->events[0], s->stream), err);
}

static int nccl_mark(void *state, struct failure *err)
{
	struct state *s = state;

	s->queued = true;
	return cuda_says(s, "cuEventRecord", cuda.cuEventRecord(s->events[++s->marks], s->stream),
			 err);
}

static int nccl_elapsed(const struct state *s, uint32_t from, uint32_t to, double *usec,
			struct failure *err)
{
	float milliseconds = 0;
	int rc = cuda.cuEventElapsedTime(&milliseconds, s->events[from], s->events[to]);

	*usec = (double)milliseconds * 1000;
	return cuda_says(s, "cuEventElapsedTime", rc, err);
}

/* While a graph is there NCCL takes another way through the host for all collectives on its communicator. */
static int drop_graph(struct state *s, struct failure *err)
{
	void *graph = s->graph;

	s->graph = NULL;
	return graph ? cuda_says(s, "cuGraphExecDestroy", cuda.cuGraphExecDestroy(graph), err) : 0;
}

static int nccl_finish(void *state, float *times, double *usec, struct failure *err)
{
	struct state *s = state;
	double between;

	for (uint32_t i = 0; i <= s->marks; i++) {
		if (nccl_await(s, s->events[i], err) < 0)
			return -1;
		if (s->marks > 1)
			control_begin(s->group->control, clock_usec());
	}
	s->queued = false;
	if (drop_graph(s, err) < 0)
		return -1;
	for (uint32_t i = 0; i < s->marks && times; i++) {
		if (nccl_elapsed(s, i, i + 1, &between, err) < 0)
			return -1;
		times[i] = (float)between;
	}
	return nccl_elapsed(s, 0, s->marks, usec, err);
}

/* Ends the recording and makes of it what can be launched. */
static int make_graph(struct state *s, struct failure *err)
{
	void *graph = NULL;
	int rc = cuda.cuStreamEndCapture(s->stream, &graph);

	if (rc != 0)
		return cuda_says(s, "cuStreamEndCapture", rc, err);
	rc = cuda.cuGraphInstantiateWithFlags(&s->graph, graph, 0);
	cuda.cuGraphDestroy(graph);
	return cuda_says(s, "cuGraphInstantiate", rc, err);
}

static int nccl_record(void *state, bool begin, struct failure *err)
{
	struct state *s = state;

	if (!begin)
		return make_graph(s, err);
	if (nccl_drain(s, err) < 0)
		return -1;
	return cuda_says(s, "cuStreamBeginCapture",
			 cuda.cuStreamBeginCapture(s->stream, CUDA_CAPTURE_THREAD_LOCAL), err);
}

static int nccl_batch(void *state, bool begin, struct failure *err)
{
	const struct state *s = state;

	return nccl_wait(s, begin ? "ncclGroupStart" : "ncclGroupEnd",
			 begin ? nccl.ncclGroupStart() : nccl.ncclGroupEnd(), err);
}

/* As nccl-tests leaves out what its NCCL has not when it is asked for all. */
static bool nccl_has(const struct group *group, enum dtype type, enum op op)
{
	struct workload w = group->workload;
	struct failure ignored;

	w.type = type;
	w.op = op;
	return nccl_can(&nccl, &w, group, &ignored) == 0;
}

static int nccl_replay(void *state, struct failure *err)
{
	struct state *s = state;

	s->queued = true;
	return cuda_says(s, "cuGraphLaunch", cuda.cuGraphLaunch(s->graph, s->stream), err);
}

const struct backend backend_nccl = {
	.name = "nccl",
	.title = nccl_title,
	.probe = nccl_probe,
	.limits = nccl_limits,
	.version = nccl_version,
	.file = nccl_file,
	.device = devices_name,
	.links = nccl_links,
	.algorithm = nccl_algorithm,
	.open = nccl_connect,
	.buffers = nccl_buffers,
	.warn = nccl_warn,
	.connects_late = true,
	.words = nccl_log_words,
	.collective = nccl_run,
	.exchange = nccl_exchange,
	.put = nccl_put,
	.get = nccl_get,
	.verifies = nccl_verifies,
	.fill = nccl_fill,
	.compare = nccl_compare,
	.begin = nccl_begin,
	.mark = nccl_mark,
	.finish = nccl_finish,
	.record = nccl_record,
	.replay = nccl_replay,
	.batch = nccl_batch,
	.can = nccl_has,
	.registers = true,
	.premultiplies = true,
	.scales_first = true,
	.close = nccl_close,
};
