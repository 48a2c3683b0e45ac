/* SPDX-License-Identifier: MIT */
/*
 * What shm.c (memory, flags, all-reduce) and shm_collective.c (the other collectives) share.
 */
#ifndef WORKER_SHM_INTERNAL_H
#define WORKER_SHM_INTERNAL_H

#include "shm.h"

/* Reduced at a time: input and result stay in the first-level cache. */
#define SHM_BLOCK_BYTES 16384

/* A flag on its own cache line, with how many wait for it in the kernel. */
struct line {
	_Alignas(64) _Atomic uint32_t value;
	_Atomic uint32_t sleepers;
	unsigned char data[SHM_SMALL_BYTES]; /* slots only: shares the first line with the flag */
};

struct flag {
	_Alignas(64) _Atomic uint32_t value;
	_Atomic uint32_t sleepers;
};

struct shm_area {
	uint8_t run_id[RUN_ID_BYTES];
	struct flag flags[SHM_FLAGS];
	struct line slots[2];	/* inputs of odd and even operations */
	struct line results[2]; /* leader only */
	_Alignas(4096) unsigned char buffers[];
};

/* Sets a flag to @number and wakes who sleeps for it. */
void shm_post(_Atomic uint32_t *value, _Atomic uint32_t *sleepers, uint32_t number);

/* Waits until a flag of rank @index (of `ranks`) has the current operation's number. -1 if the run
 * has failed. */
int shm_await(const struct shm *shm, int index, _Atomic uint32_t *value,
	      _Atomic uint32_t *sleepers);

/* The same with this rank's own @flag, with that of one rank and with those of all others. */
void shm_post_flag(const struct shm *shm, enum shm_flag flag);
int shm_await_flag(const struct shm *shm, int index, enum shm_flag flag);
int shm_await_all(const struct shm *shm, enum shm_flag flag);

/* Buffer 0 or 1 of rank @index (of `ranks`). */
void *shm_buffer_of(const struct shm *shm, int index, int which);

/* Copies to memory that will not be read soon, without first fetching what it held.
 * shm_stream_end() comes before others may read it. */
void shm_stream_copy(void *to, const void *from, size_t bytes);
void shm_stream_end(void);

#endif
