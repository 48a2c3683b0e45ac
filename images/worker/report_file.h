/* SPDX-License-Identifier: MIT */
/* The JSON document of -J: that of nccl-tests (src/util.cu of its version 2.19, document version 2). */
#ifndef WORKER_REPORT_FILE_H
#define WORKER_REPORT_FILE_H

#include "bench/bench.h"
#include "options.h"

/* Writes options->output_file; if that is there already, the first of NAME.0, NAME.1, ... that is not. Returns -1
 * with errno. Of the environment it has what is NCCL's and CUDA's: the rest may hold secrets. */
int report_file_write(const struct options *options, const struct group *group,
		      const struct report *report);

#endif
