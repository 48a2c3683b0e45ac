/* SPDX-License-Identifier: MIT */
/*
 * The command line and the launcher's environment, as one plain record. Each option is one row of
 * the table in options.c: parsing, bounds, defaults, errors and --help come from there.
 */
#ifndef WORKER_OPTIONS_H
#define WORKER_OPTIONS_H

#include "bench/expect.h"
#include "fault.h"
#include "group.h"
#include "secret.h"

#include <stdbool.h>
#include <time.h>

#define PORT_BYTES 8

struct options {
	int rank, world; /* -1: not given */
	int procs;	 /* ranks this process forks; 0: it is one rank itself */
	char root_host[256], root_port[PORT_BYTES]; /* "" : not given */
	bool root_awaited; /* the root's name may become known after this program's start */
	int root_listener; /* rank 0's listening socket if made before the fork, else -1 */
	char bind[ADDRESS_BYTES];
	char host[HOST_BYTES];
	char backend[16];
	struct workload workload;
	int timeout_sec;
	double min_busbw; /* GB/s, 0: none */
	struct expect expect;
	bool json, quiet, no_shm, versions, sgd;
	bool perf;	/* a program of nccl-tests (perf.h) */
	time_t started; /* when this program did */
	char **words;	/* the command line, and how many words it has */
	int word_count;
	int threads, gpus;     /* -t, -g: processes instead of threads; 0: not given */
	int factor;	       /* -f; 0: not given */
	bool stamps, spreads;  /* -S, -I: more columns */
	char output_file[512]; /* -J */
	double min_average;    /* GB/s, 0: none */
	char split[32];	       /* NCCL_TESTS_SPLIT; "": all ranks make one run */
	int processes;	       /* of all parts */
	int color;	       /* which part of it this is; -1: there are none */
	bool silent; /* another part than that of the first process: its results are not shown */
	int steps;   /* of --sgd */
	bool health;
	int burn_sec; /* of --health */
	struct fault fault;
	struct secret secret; /* until the ranks have met */
};

/* What options_parse() says. OPTIONS_VERSIONS: --versions, with or without --json; OPTIONS_HEALTH: --health. */
enum options_result { OPTIONS_RUN, OPTIONS_VERSIONS, OPTIONS_HEALTH, OPTIONS_DONE, OPTIONS_BAD };

/* Parses @argv, then fills what is missing from the environment and the defaults. OPTIONS_DONE:
 * help or version was printed; OPTIONS_BAD: *err says what is wrong. */
enum options_result options_parse(int argc, char **argv, struct options *options,
				  struct failure *err);

/* Reads a size such as 8, 64K, 1M or 2G into *bytes; -1 if it is not one. */
int options_size(const char *text, uint64_t *bytes);

#endif
