/* SPDX-License-Identifier: MIT */
/*
 * The kernels that heat a card, as texts of PTX (docs.nvidia.com/cuda/parallel-thread-execution), which the driver
 * compiles for whatever card there is. Both are the inner loop of a matrix product:
 *
 * BURN_F32   for every card from compute capability 5.0 on: each thread adds up 8 x 8 products from two tiles in shared
 *            memory, 128 fused multiply-adds for 8 loads of 16 bytes.
 * BURN_BF16  on the tensor cores, from 8.0 on: each warp multiplies 4 tiles of 16 x 16 with 4 of 16 x 8, all in
 *            registers (mma.sync.m16n8k16). The numbers are whole and small, so that the sums are exact on every card.
 *            The first factor changes its sign from round to round, so that they do not grow.
 *
 * Every block computes the same 256 numbers, always in the same order, so that a card that calculates wrongly is found:
 * the first launch keeps them, all others compare.
 */
#ifndef WORKER_BURN_KERNEL_H
#define WORKER_BURN_KERNEL_H

#include <stddef.h>

#define BURN_THREADS 256 /* of a block */
#define BURN_TEXT_BYTES 65536

enum burn_kind { BURN_F32, BURN_BF16, BURN_KINDS };

struct burn_kernel {
	const char *name;
	int capability; /* the least: 10 * major + minor */
	unsigned rounds;
	double thread_flop; /* floating point operations of one thread */

	/*
	 * Writes the text and returns its length. The kernel's parameters: u64 expected (float[256]), u64 errors (u32),
	 * u32 rounds, u32 compares: 0: keeps its results in `expected`, 1: adds the number of results that differ to
	 * `errors`.
	 */
	size_t (*text)(char text[BURN_TEXT_BYTES]);

	/* What thread 0 comes to. */
	float (*expected)(unsigned rounds);
};

extern const struct burn_kernel burn_kernels[BURN_KINDS];

#endif
