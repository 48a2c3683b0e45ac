/* SPDX-License-Identifier: MIT */
/* Fills and compares buffers where they are, in a GPU's memory, by kernels (verify_kernel.h). */
#ifndef WORKER_VERIFY_H
#define WORKER_VERIFY_H

#include "backend/nccl/cuda.h"
#include "backend/nccl/verify_kernel.h"
#include "collective/pattern.h"

struct verifier {
	const struct cuda *cuda;
	void *stream; /* of the caller */
	void *fills[VERIFY_WIDTHS], *compares[VERIFY_WIDTHS];
	unsigned blocks;
	cuda_address table, result; /* bounds or one period; two u64 */
};

/* For the current context's @device. -1: *err says why this driver cannot; all is as before then. */
int verifier_open(struct verifier *v, const struct cuda *cuda, int device, void *stream,
		  struct failure *err);

/* Puts into the stream: @to[i] = @period[i % PATTERN_PERIOD] for @count elements of @element_bytes. The stream must be
 * empty. @period, in host memory, may go when this returns. */
int verifier_fill(struct verifier *v, cuda_address to, const void *period, size_t element_bytes,
		  uint64_t count, struct failure *err);

/* Puts a comparison of @count elements at @data with @bounds into the stream, which must be empty. */
int verifier_compare(struct verifier *v, cuda_address data, const struct bounds *bounds,
		     uint64_t count, struct failure *err);

/* What it found, once the stream is empty again. */
int verifier_result(struct verifier *v, cuda_address data, size_t element_bytes,
		    struct difference *difference, struct failure *err);

void verifier_close(struct verifier *v);

#endif
