/* SPDX-License-Identifier: MIT */
/*
 * --health: what each GPU of this machine says of itself and how fast it is, as lines of JSON on standard output, one
 * document each, as soon as it is known. No ranks meet for it.
 *
 * {"host": "node01", "driver": "550.54.15", "simulated": false, "cards": 8}     or "error" instead of "cards"
 * {"card": 0, "phase": "identity", "model": ..., "serial": ..., "uuid": ..., "bus": ..., "slot": ...}
 * {"card": 0, "phase": "readings", "readings": {"sm_mhz": 1980, "ecc_volatile": "not supported", ...}}
 * {"card": 0, "phase": "memory", "copy_gbps": ..., "fill_gbps": ...}            on the card, GB/s of 1e9 bytes
 * {"card": 0, "phase": "host", "h2d_gbps": ..., "d2h_gbps": ...}
 * {"card": 0, "phase": "burn", "tflops": ..., "bf16_tflops": ..., "wrong": 0, ...}    of f32; of the tensor cores
 * {"card": 0, "phase": "after", "readings": ..., "xids": [79]}
 * {"card": 0, "phase": "memory", "error": ..., "lost": true}                    it came no further
 * {"card": 0, "phase": "context", "not_measured": "MIG mode is on, ..."}        nothing is wrong with it
 * {"card": 0, "phase": "burn", "hung": 20.1}                                    nor here, after so many seconds
 * {"card": 0, "phase": "peer", "peer": 1, "link": "NV18", "to_gbps": ..., "from_gbps": ..., "direct": true}    or "error", "hung"
 * {"host": "node01", "pairs_left_out": 3}                                       the time was up
 * {"end": true}
 *
 * Each card has a process of its own, so that a driver that hangs for one of them stops nobody else: who is not done at
 * the deadline is killed and named. Cards that are done are then measured in pairs (peers.h), in rounds of pairs that have no
 * card in common, each pair in a process of its own.
 */
#ifndef WORKER_HEALTH_H
#define WORKER_HEALTH_H

#include "options.h"

#define HEALTH_CARDS_MAX 64

enum health_phase {
	HEALTH_IDENTITY,
	HEALTH_READINGS,
	HEALTH_CONTEXT, /* CUDA is started */
	HEALTH_MEMORY,
	HEALTH_TURN, /* waits for the other cards: host copies go one after the other */
	HEALTH_HOST,
	HEALTH_BURN,
	HEALTH_AFTER,
	HEALTH_PEER, /* copies to and from another card */
	HEALTH_DONE,
	HEALTH_PHASE_COUNT
};

/* "identity", "readings", ... as the lines have them. */
const char *health_phase_name(int phase);

/* What the processes of the cards and their parent share. */
struct health_shared {
	volatile int cards; /* -1: not known yet */
	struct {
		volatile int phase;
		char bus[32]; /* that CUDA finds it by */
	} places[HEALTH_CARDS_MAX];
};

/* Runs it; returns the exit status. */
int health_run(const struct options *options);

#endif
