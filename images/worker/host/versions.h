/* SPDX-License-Identifier: MIT */
/*
 * --versions: what this program finds on this machine, one line each, for people and for tests of
 * an image. Needs no GPU.
 *
 *   allreduce 0.1.0
 *   nccl 2.18.3 (/usr/lib/x86_64-linux-gnu/libnccl.so.2)
 *   driver 535.104.05, CUDA 12.2, 8 GPUs (/usr/lib/x86_64-linux-gnu/libcuda.so.1)
 *
 * What is not there is "nccl none: SENTENCE" or "driver none: SENTENCE"; a driver that is there but
 * refuses to work is "driver 535.104.05, CUDA 12.2, unusable: SENTENCE".
 */
#ifndef WORKER_VERSIONS_H
#define WORKER_VERSIONS_H

#include <stdbool.h>

/* Prints the lines, or one JSON document. Returns STATUS_PASS, also when something is missing:
 * this is a report, not a verdict. */
int versions_print(bool json);

#endif
