/* SPDX-License-Identifier: MIT */
/*
 * Memory that ranks of one machine share: a file without a name, which neighbours open through
 * /proc/PID/fd. It is a memfd; on kernels without one (before Linux 3.17) a file of /dev/shm that
 * is unlinked at once.
 */
#ifndef WORKER_SEGMENT_H
#define WORKER_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

/* A segment of @bytes, all zero. Returns the caller's descriptor, or -1 with errno set. */
int segment_create(size_t bytes);

/* Opens descriptor @fd of process @pid if it is a segment, and nothing else that may go by the
 * same number. Returns the caller's descriptor, or -1. */
int segment_open(uint32_t pid, int fd);

/* Memory that only this process uses, at the start of a cache line. Aborts if there is none; free()
 * it. */
void *segment_private(size_t bytes);

#endif
