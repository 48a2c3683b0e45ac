/* SPDX-License-Identifier: MIT */
/*
 * What a rank says first. The greeting never changes its shape, so that any two versions of the
 * program can tell each other that they differ; the introduction may, together with PROTOCOL.
 */
#ifndef WORKER_HELLO_H
#define WORKER_HELLO_H

#include "options.h"

#define HELLO_MAGIC 0x31524157474e4952u /* "RINGWAR1" read as a little-endian number */
#define PROTOCOL 3

struct greeting {
	uint64_t magic;
	uint32_t protocol;
	uint32_t rank, world;
	uint8_t secret[SECRET_BYTES];
	char version[VERSION_BYTES];
	char host[HOST_BYTES];
};

struct introduction {
	struct member member;
	char backend[16];
	struct failure unusable; /* status STATUS_PASS: the backend is usable */
};

struct hello {
	struct greeting greeting;
	struct introduction intro;
};

/* Rank 0's answer; `world` struct members follow it. */
struct welcome {
	uint8_t run_id[RUN_ID_BYTES];
	struct workload workload;
};

/* Fills the hello of options->rank; the data address is left to the caller. */
void hello_fill(struct hello *hello, const struct options *options, const struct failure *unusable);

/* Ends all strings of a hello that came over the network. */
void hello_tidy(struct hello *hello);

/* Compares two secrets in a time that does not depend on where they differ. */
bool secret_equal(const uint8_t *a, const uint8_t *b);

/* Fills @bytes with what nobody can guess; -1 with *err set. */
int secret_random(uint8_t *bytes, size_t count, struct failure *err);

#endif
