/* SPDX-License-Identifier: MIT */
/*
 * NCCL, opened with dlopen(). Names, numbers and signatures are those of nccl.h (NCCL 2.2 to 2.32);
 * only what the worker calls is here. Functions that return int return an ncclResult_t, 0 is
 * ncclSuccess.
 */
#ifndef WORKER_NCCL_H
#define WORKER_NCCL_H

#include "collective/collective.h"
#include "group.h"

#include <limits.h>
#include <stddef.h>

#define NCCL_ID_BYTES 128 /* NCCL_UNIQUE_ID_BYTES */

struct nccl_id { /* ncclUniqueId: handed over by value */
	char internal[NCCL_ID_BYTES];
};

/* What may be the doing of another rank or of the network between (NCCL User Guide, "Types"):
 * ncclSystemError, ncclInternalError and ncclRemoteError. */
#define NCCL_SYSTEM_ERROR 2
#define NCCL_INTERNAL_ERROR 3
#define NCCL_REMOTE_ERROR 6
#define NCCL_IN_PROGRESS 7 /* ncclInProgress */

struct nccl {
	char path[PATH_MAX]; /* the file that was opened */
	int version;	     /* ncclGetVersion() */

	int (*ncclGetVersion)(int *version);
	const char *(*ncclGetErrorString)(int result);
	int (*ncclGetUniqueId)(struct nccl_id *id);
	int (*ncclCommInitRank)(void **comm, int ranks, struct nccl_id id, int rank);
	int (*ncclCommGetAsyncError)(void *comm, int *result);
	int (*ncclCommAbort)(void *comm);
	int (*ncclCommDestroy)(void *comm);
	int (*ncclAllReduce)(const void *send, void *recv, size_t count, int type, int op,
			     void *comm, void *stream);

	int (*ncclReduceScatter)(const void *send, void *recv, size_t count, int type, int op,
				 void *comm, void *stream);
	int (*ncclAllGather)(const void *send, void *recv, size_t count, int type, void *comm,
			     void *stream);
	int (*ncclBroadcast)(const void *send, void *recv, size_t count, int type, int root,
			     void *comm, void *stream);

	int (*ncclReduce)(const void *send, void *recv, size_t count, int type, int op, int root,
			  void *comm, void *stream);

	int (*ncclGroupStart)(void);
	int (*ncclGroupEnd)(void);

	/* NULL in older libraries */
	int (*ncclSend)(const void *send, size_t count, int type, int peer, void *comm,
			void *stream); /* 2.7 */
	int (*ncclRecv)(void *recv, size_t count, int type, int peer, void *comm, void *stream);
	int (*ncclCommFinalize)(void *comm);		  /* 2.14 */
	const char *(*ncclGetLastError)(void *comm);	  /* 2.13 */
	int (*ncclMemAlloc)(void **memory, size_t bytes); /* 2.19 */
	int (*ncclMemFree)(void *memory);
	int (*ncclCommRegister)(void *comm, void *memory, size_t bytes, void **handle);
	int (*ncclCommDeregister)(void *comm, void *handle);
	int (*ncclRedOpCreatePreMulSum)(int *op, void *scalar, int type, int residence, void *comm);
	int (*ncclRedOpDestroy)(int op, void *comm);
	int (*ncclCommWindowRegister)(void *comm, void *memory, size_t bytes, void **window,
				      int flags); /* 2.27 */
	int (*ncclCommWindowDeregister)(void *comm, void *window);
};

#define NCCL_WINDOW_SYMMETRIC 1 /* NCCL_WIN_COLL_SYMMETRIC */

/* Opens libnccl.so.2, the one that a framework would use: the file (or the folder of it) that
 * $RINGUP_NCCL names; else one of $LD_LIBRARY_PATH; else that of a pip wheel, nvidia/nccl/lib in the
 * site-packages of $VIRTUAL_ENV, $CONDA_PREFIX, $PYTHONPATH, of the python3 on $PATH, /usr/local, /usr
 * and ~/.local, where the wheels of frameworks look for it before they ask the loader; else the
 * loader's; else that of a wheel below /opt/NAME. */
int nccl_open(struct nccl *nccl, struct failure *err);

/* Makes the operation OP_MULSUM of a type with the rank's own number. Returns an ncclResult_t, also NCCL_IN_PROGRESS. */
int nccl_make_mulsum(const struct nccl *nccl, enum dtype type, int rank, void *comm, int *mulsum);

/* Puts a collective among @world ranks, of which this is @rank, into @stream. @mulsum is what nccl_make_mulsum() made for
 * the call's type, and any number with other operations. Returns an ncclResult_t, also NCCL_IN_PROGRESS. */
int nccl_collective(const struct nccl *nccl, const struct collective *call, int mulsum, int rank,
		    int world, void *comm, void *stream);

/* Sends @bytes to rank @to while it receives as many from rank @from. */
int nccl_shift(const struct nccl *nccl, int to, const void *out, int from, void *in, size_t bytes,
	       void *comm, void *stream);

/* The call's name, for messages. */
const char *nccl_call(enum collective_kind kind);

/* Rank 0's NCCL makes the id by which the ranks' NCCLs meet; everybody gets it. All must be of the
 * same version. */
int nccl_meet(const struct nccl *nccl, const struct group *group, struct nccl_id *id,
	      struct failure *err);

/* Can this library do what @workload asks for, among @group's ranks, on the least of their GPUs? */
int nccl_can(const struct nccl *nccl, const struct workload *workload, const struct group *group,
	     struct failure *err);

/* "2.18.3" for 21803, "2.5.6" for 2506. */
void nccl_version_text(int version, char text[16]);

#endif
