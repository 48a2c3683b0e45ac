/* SPDX-License-Identifier: MIT */
/*
 * The kernels that fill and compare buffers in a GPU's memory, as the text of PTX
 * (docs.nvidia.com/cuda/parallel-thread-execution), which the driver compiles for whatever card there is, from compute
 * capability 5.0 on. They know neither types nor operations: what belongs where comes from the host, as one period of it
 * (collective/pattern.h), so there is one kernel of each for elements of 1, 2, 4 and 8 bytes:
 *
 *   ringup_fill_1, _2, _4, _8     (u64 data, u64 table, u64 count)
 *     data[i] = table[i % PATTERN_PERIOD], for `count` elements; the table holds elements
 *   ringup_compare_1, _2, _4, _8  (u64 data, u64 table, u64 count, u64 result)
 *     the table holds pairs of s64, a key's bounds (struct bounds); result[0], u64, grows by the number of elements whose
 *     pattern_key() is beyond them, and result[1], u64, falls to the least index of one
 *
 * The number of blocks and threads is free: each thread takes every n-th element of n threads.
 */
#ifndef WORKER_VERIFY_KERNEL_H
#define WORKER_VERIFY_KERNEL_H

#define VERIFY_FILL "ringup_fill_" /* and the bytes of an element */
#define VERIFY_COMPARE "ringup_compare_"
#define VERIFY_WIDTHS 4 /* 1 << 0 to 1 << 3 bytes */

extern const char verify_text[];

#endif
