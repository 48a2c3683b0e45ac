/* SPDX-License-Identifier: MIT */
/*
 * A backend moves the data. Each one is a file backend_NAME.c with one record, backend_NAME. The
 * build makes the list of them from the files' names, so that a new backend needs no other edit.
 *
 * Life of a backend: probe() before the ranks meet, then on every rank open(), buffers(),
 * collective() any number of times, close(). All ranks make the same calls in the same order.
 * Waiting inside is bounded by the control plane: poll control_failed(group->control) and return -1
 * when it says so; what you put into *err then does not matter.
 */
#ifndef WORKER_BACKEND_H
#define WORKER_BACKEND_H

#include "collective/collective.h"
#include "group.h"
#include "host/warning.h"

#include <stdbool.h>

/* A device, as people find it: the words of nvidia-smi. */
struct device_name {
	char model[64], bus[16], uuid[48];
};

struct backend {
	const char *name;

	/* How reports call it, after probe(), where that says more than the name; NULL: the name. */
	const char *(*title)(void);

	/* The backend with the lowest number is `auto`. 0: never, since it needs hardware or software
	 * that is not everywhere. */
	int auto_rank;

	/* Can it work on this machine? Must not need other ranks. err->status says which exit
	 * status it means. */
	int (*probe)(struct failure *err);

	/* The least that one of the devices has which this process sees. After probe(), before open(). NULL: it has no
	 * devices. */
	void (*limits)(struct device_limits *limits);

	/* What moves the data, with its version, on this machine: "" if only this program does.
	 * After probe(). */
	const char *(*version)(void);

	/* The file of the library that moves the data, after probe(); NULL: there is none. */
	const char *(*file)(void);

	/* The device that a rank uses, after open(); NULL, also as a result: none. */
	const struct device_name *(*device)(int rank);

	/* After open(): what lies between this rank and each of its host's, @links[rank], as nvml_link() has it; the others'
	 * are left as they are. NULL: nothing is known. */
	void (*links)(void *state, uint8_t *links);

	/* How a collective of @bytes (of the larger buffer) is done: a few words that live on. */
	const char *(*algorithm)(void *state, enum collective_kind kind, size_t bytes);

	/* Connects this rank to the others and sets up two buffers of @bytes each. *state is the
	 * backend's own. Where it is not NULL after a failure, close() is called, too: once the
	 * verdict has been told, since closing may hang. */
	int (*open)(const struct group *group, size_t bytes, void **state, struct failure *err);

	/* The two buffers: cache-line aligned, owned by the backend; in host memory, unless there
	 * is put(). */
	void (*buffers)(void *state, void **send, void **recv);

	/* One collective. Its input and output begin at the start of a buffer of buffers() (-u: so many elements later), or, in
	 * place, at this rank's block of the second one; what else lies in the second one may be
	 * overwritten. Returns when the output is ready and the input may be written. */
	int (*collective)(void *state, const struct collective *call, struct failure *err);

	/* Before the ranks meet outside of the backend, which all of them call together: what a
	 * collective that has returned here still owes to others is sent. NULL: it owes nothing. */
	int (*settle)(void *state, struct failure *err);

	/* What makes it slower than it could be here, after open(), or, if it @connects_late, after
	 * the first collective; NULL: it does not know. */
	void (*warn)(void *state, struct warnings *warnings);
	bool connects_late;

	/* After a failure: what the library that moves the data has warned of in a log that nobody
	 * else will read, in lines, each with its line feed; "": nothing. NULL: there is no log. */
	void (*words)(char *text, size_t bytes);

	/* Exchanges the first @bytes of the send buffers with rank @peer, into the receive buffers;
	 * the peer makes the same call. @number grows with each exchange of a rank and is the same
	 * on both sides. */
	int (*exchange)(void *state, int peer, size_t bytes, uint32_t number, struct failure *err);

	/* For buffers in a device's memory, else NULL: copy @bytes of host memory to @to,
	 * which lies in a buffer, and back from @from. Return when that is done; get() waits for
	 * the collectives before it. */
	int (*put)(void *state, void *to, const void *from, size_t bytes, struct failure *err);
	int (*get)(void *state, void *to, const void *from, size_t bytes, struct failure *err);

	/* For devices that fill and compare their memory themselves, so that no more than a period of the data is ever
	 * copied; else NULL. verifies(), after open(): whether this one does. fill(): @count elements at @to, the i-th of them
	 * as @period[i % PATTERN_PERIOD]; it returns when that is done. compare() waits for what is in the queue, and is a
	 * compare_fn. */
	bool (*verifies)(const void *state);
	int (*fill)(void *state, void *to, const void *period, size_t element_bytes, size_t count,
		    struct failure *err);
	int (*compare)(void *state, const void *at, const struct bounds *bounds, size_t count,
		       struct difference *difference, struct failure *err);

	/* For collectives that run in a queue, else NULL: then collective() only puts one there.
	 * begin() notes the time in the queue, and mark() does so again, up to @marks times, behind
	 * what was put there. finish() waits until all marks are reached; where there are several,
	 * each one that is reached is a step of control_begin(). It stores the microseconds between
	 * the marks in @times ([@marks], may be NULL), and those since begin() in *usec. */
	int (*begin)(void *state, uint32_t marks, struct failure *err);
	int (*mark)(void *state, struct failure *err);
	int (*finish)(void *state, float *times, double *usec, struct failure *err);

	/* For queues that can be recorded (--graph), else NULL: between record(true) and
	 * record(false) collectives are recorded and not run; replay() puts what was recorded last
	 * into the queue, once. */
	int (*record)(void *state, bool begin, struct failure *err);
	int (*replay)(void *state, struct failure *err);

	/* Collectives between batch(true) and batch(false) are put into the queue as one. NULL: each one by itself. */
	int (*batch)(void *state, bool begin, struct failure *err);

	/* Whether the type and the operation are possible, where all possible ones are asked for. NULL: all are. */
	bool (*can)(const struct group *group, enum dtype type, enum op op);

	bool premultiplies; /* has OP_MULSUM */

	/* Is NCCL: can register its buffers (--register), use them from any element on (-u) and has policies (-x). */
	bool registers;

	/* Uses the process's one MPI, which the rendezvous may have started already: it must not be
	 * ended before close(). */
	bool uses_mpi;

	/* avg of floating-point numbers scales them before it adds them, so that its last bits may
	 * differ from a sum that is divided at the end. */
	bool scales_first;

	/* After a failure it must not wait for other ranks. */
	void (*close)(void *state);
};

#define BACKEND_AUTO "auto"

/* The backend of that name, or for BACKEND_AUTO the one with the lowest auto_rank. NULL: there is
 * none. */
const struct backend *backend_find(const char *name);

/* All backends, ordered by name; NULL after the last one. */
const struct backend *backend_at(int index);

#endif
