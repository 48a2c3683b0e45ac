/* SPDX-License-Identifier: MIT */
/* The JSON document of -J: that of nccl-tests (src/util.cu of its version 2.19, document version 2). */
#ifndef WORKER_REPORT_FILE_H
#define WORKER_REPORT_FILE_H

#include "bench/bench.h"
#include "options.h"

#include <stdio.h>

/*
 * Begins options->output_file; if that is there already, the first of NAME.0, NAME.1, ... that is not. Says which one, or
 * why there is none, and returns NULL then. To be called before NCCL is set up: of the environment it has what is NCCL's
 * and CUDA's as the person set it. The rest may hold secrets.
 */
FILE *report_file_begin(const struct options *options);

/* Writes the rest and closes the file. Returns -1 with errno. @group may have no members, and @report no results. */
int report_file_end(FILE *to, const struct options *options, const struct group *group,
		    const struct report *report, const struct failure *failure);

#endif
