/* SPDX-License-Identifier: MIT */
/*
 * Who takes part in a run: what the rendezvous learns, what backends and output read. Filled once
 * by rank 0, the same on all ranks, never changed afterwards. These structs cross the network as
 * they are (all hosts are little-endian; the hello carries a magic number that would show
 * otherwise).
 */
#ifndef WORKER_GROUP_H
#define WORKER_GROUP_H

#include "failure.h"
#include "net/hmac.h"
#include "net/net.h"

#define WORLD_MAX 16384
#define RUN_ID_BYTES 16
#define VERSION_BYTES 32
#define SIZE_MAX_BYTES (UINT64_C(1) << 40) /* bounds of struct workload */
#define ITERATIONS_MAX 100000
#define FACTOR_MAX 1024
#define RESULTS_MAX 1000000 /* of a run */
#define CYCLES_MAX 10000
#define ROOT_ALL UINT32_MAX
#define UNALIGN_MAX 65536
#define CTA_POLICY_MAX 2 /* NCCL_CTA_POLICY_ZERO */

#ifndef ALLREDUCE_VERSION
#define ALLREDUCE_VERSION "0.1.0"
#endif

/* One rank. */
struct member {
	char host[HOST_BYTES];
	char kernel[40];	     /* boot id: equal for containers of one machine */
	char address[ADDRESS_BYTES]; /* where its data socket listens */
	char version[VERSION_BYTES];
	uint32_t port;
	uint32_t pid;
	uint32_t cores;		 /* that this rank may use */
	char library[96];	 /* backend's version(), "" */
	uint32_t private_memory; /* not 0: --no-shm, TCP even to ranks of the same host */
};

/* After each collective: go on; wait for it and for all ranks; wait for it. */
enum blocking { BLOCKING_NONE, BLOCKING_BARRIER, BLOCKING_WAIT, BLOCKING_COUNT };

/* Whose time is that of a size: rank 0's; the average, the least, the most of the ranks' averages; the average of
 * each iteration's slowest rank. */
enum averaging {
	AVERAGE_RANK0,
	AVERAGE_RANKS,
	AVERAGE_LEAST,
	AVERAGE_MOST,
	AVERAGE_SLOWEST,
	AVERAGE_COUNT
};

/* What is done with the buffers before the run. */
enum registers { REGISTERS_NONE, REGISTERS_LOCAL, REGISTERS_SYMMETRIC, REGISTERS_COUNT };

/* The benchmark as rank 0 was asked for it; the other ranks follow. */
struct workload {
	uint64_t first_bytes, last_bytes;
	uint64_t step_bytes; /* from one size to the next, where the factor is 1 */
	uint32_t factor, iterations, warmups;
	uint32_t aggregate; /* collectives of an iteration */
	uint32_t cycles;    /* how often all sizes are measured; 0: without end */
	uint32_t checks;    /* after the timed iterations; 0: nothing is checked */
	uint32_t blocking;  /* enum blocking */
	uint32_t average;   /* enum averaging */
	uint32_t
		host_time; /* not 0: shows the time until the host has put its work into the queue */
	uint32_t type, op;	   /* enum dtype, enum op; DTYPE_COUNT, OP_COUNT: all of them */
	uint32_t collective, root; /* enum collective_kind; collective_has_root(), or ROOT_ALL */
	uint32_t graph, registers; /* launches of the graph; enum registers */
	uint32_t unalign;    /* how many elements the buffers begin after an aligned address */
	uint32_t cta_policy; /* not 0: NCCL_CTA_POLICY */
	uint32_t find_slow;  /* not 0: --find-slow */
	uint32_t sgd_steps;  /* not 0: --sgd, and its number of steps */
};

struct control;

/* What a rank's devices have, or the least of all ranks'; 0: not known. */
struct device_limits {
	uint64_t memory;     /* bytes */
	uint32_t capability; /* compute capability, 90 for 9.0 */
	uint32_t unused;
};

struct group {
	int rank, world;
	int listener;		      /* this rank's data socket, listening; owned by the group */
	int64_t timeout_usec;	      /* longest wait without progress: control_wait_usec() */
	uint8_t run_id[RUN_ID_BYTES]; /* random: names the run */
	uint8_t run_key
		[MAC_BYTES]; /* made of the run's id and the secret, so that only members have
					 it: data connections are proven with it */
	struct workload workload;
	struct device_limits limits; /* of all ranks: device_limits_agree() */
	struct member *members;	     /* [world], owned by the group */
	struct control *control;
};

#endif
