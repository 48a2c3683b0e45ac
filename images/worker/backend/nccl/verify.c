/* SPDX-License-Identifier: MIT */
#include "backend/nccl/verify.h"

#include <stdio.h>
#include <string.h>

#define THREADS 256
#define BLOCKS_PER_PROCESSOR 8 /* all threads that fit, since compute capability 5.0 */

static int verify_says(const struct verifier *v, const char *call, int rc, struct failure *err)
{
	return rc == 0 ? 0 : cuda_failed(v->cuda, call, rc, err);
}

static int verify_width(size_t element_bytes)
{
	int width = 0;

	while ((size_t)1 << width < element_bytes)
		width++;
	return width;
}

int verifier_open(struct verifier *v, const struct cuda *cuda, int device, void *stream,
		  struct failure *err)
{
	char names[2 * VERIFY_WIDTHS][32];
	struct cuda_kernel kernels[2 * VERIFY_WIDTHS];
	int processors = 0;

	*v = (struct verifier){.cuda = cuda, .stream = stream};
	for (int i = 0; i < VERIFY_WIDTHS; i++) {
		snprintf(names[2 * i], sizeof(names[0]), VERIFY_FILL "%d", 1 << i);
		snprintf(names[2 * i + 1], sizeof(names[0]), VERIFY_COMPARE "%d", 1 << i);
		kernels[2 * i] = (struct cuda_kernel){names[2 * i], &v->fills[i]};
		kernels[2 * i + 1] = (struct cuda_kernel){names[2 * i + 1], &v->compares[i]};
	}
	if (cuda_load(cuda, verify_text, kernels, 2 * VERIFY_WIDTHS, err) < 0 ||
	    cuda_processors(cuda, device, &processors, err) < 0 ||
	    verify_says(v, "cuMemAlloc",
			cuda->cuMemAlloc(&v->table, sizeof(((struct bounds *)NULL)->range)),
			err) < 0)
		return -1;
	v->blocks = (unsigned)processors * BLOCKS_PER_PROCESSOR;
	if (verify_says(v, "cuMemAlloc", cuda->cuMemAlloc(&v->result, 2 * sizeof(uint64_t)), err) ==
	    0)
		return 0;
	verifier_close(v);
	return -1;
}

void verifier_close(struct verifier *v)
{
	if (v->table)
		v->cuda->cuMemFree(v->table);
	if (v->result)
		v->cuda->cuMemFree(v->result);
	v->table = v->result = 0;
}

/* The copy may return before the data is there, and the caller's stream does not wait for it. */
static int verify_put(const struct verifier *v, cuda_address to, const void *from, size_t bytes,
		      struct failure *err)
{
	int rc = v->cuda->cuMemcpyHtoD(to, from, bytes);

	return verify_says(v, "cuMemcpyHtoD", rc ? rc : v->cuda->cuCtxSynchronize(), err);
}

/* No more blocks than there is work for. */
static int verify_launch(const struct verifier *v, void *function, uint64_t count,
			 void **parameters, struct failure *err)
{
	uint64_t blocks = (count + THREADS - 1) / THREADS;

	return cuda_launch(v->cuda, function, blocks < v->blocks ? (unsigned)blocks : v->blocks,
			   THREADS, v->stream, parameters, err);
}

int verifier_fill(struct verifier *v, cuda_address to, const void *period, size_t element_bytes,
		  uint64_t count, struct failure *err)
{
	uint64_t length = count < PATTERN_PERIOD ? count : PATTERN_PERIOD;
	void *parameters[] = {&to, &v->table, &count};

	if (count == 0)
		return 0;
	if (verify_put(v, v->table, period, length * element_bytes, err) < 0)
		return -1;
	return verify_launch(v, v->fills[verify_width(element_bytes)], count, parameters, err);
}

int verifier_compare(struct verifier *v, cuda_address data, const struct bounds *bounds,
		     uint64_t count, struct failure *err)
{
	const uint64_t nothing[2] = {0, UINT64_MAX};
	void *parameters[] = {&data, &v->table, &count, &v->result};

	if (verify_put(v, v->result, nothing, sizeof(nothing), err) < 0 ||
	    verify_put(v, v->table, bounds->range, bounds->count * sizeof(bounds->range[0]), err) <
		    0)
		return -1;
	return verify_launch(v, v->compares[verify_width(bounds->element_bytes)], count, parameters,
			     err);
}

int verifier_result(struct verifier *v, cuda_address data, size_t element_bytes,
		    struct difference *difference, struct failure *err)
{
	uint64_t result[2];

	memset(difference, 0, sizeof(*difference));
	if (verify_says(v, "cuMemcpyDtoH", v->cuda->cuMemcpyDtoH(result, v->result, sizeof(result)),
			err) < 0)
		return -1;
	difference->wrong = result[0];
	difference->first = result[1];
	if (result[0] == 0)
		return 0;
	return verify_says(v, "cuMemcpyDtoH",
			   v->cuda->cuMemcpyDtoH(difference->got, data + result[1] * element_bytes,
						 element_bytes),
			   err);
}
