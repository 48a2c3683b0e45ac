/* SPDX-License-Identifier: MIT */
/*
 * The kernel that heats a card, as the text of PTX (docs.nvidia.com/cuda/parallel-thread-execution), which the driver
 * compiles for whatever card there is, from compute capability 5.0 on. It is the inner loop of a matrix product in f32:
 * each thread adds up 8 x 8 products from two tiles in shared memory, 128 fused multiply-adds for 8 loads of 16 bytes.
 *
 * Every block computes the same 256 numbers, always in the same order, so that a card that calculates wrongly is found:
 * the first launch keeps them, all others compare.
 */
#ifndef WORKER_BURN_KERNEL_H
#define WORKER_BURN_KERNEL_H

#include <stddef.h>

#define BURN_NAME "ringup_burn"
#define BURN_THREADS 256 /* of a block */
#define BURN_ROWS \
	16 /* of the tiles; a round takes one half of them, the next round the other one */
#define BURN_ROUNDS 1024
#define BURN_TEXT_BYTES 65536

/* Floating point operations of one thread. */
#define BURN_THREAD_FLOP (2.0 * 64 * (BURN_ROWS / 2) * BURN_ROUNDS)

/*
 * Writes the text. The kernel's parameters: u64 expected (float[256]), u64 errors (u32), u32 rounds, u32 compares:
 * 0: keeps its results in `expected`, 1: adds the number of results that differ to `errors`.
 * Returns the length of the text.
 */
size_t burn_text(char text[BURN_TEXT_BYTES]);

/* What thread 0 comes to. */
float burn_expected(unsigned rounds);

#endif
