/* SPDX-License-Identifier: MIT */
/* Does in C what the kernels of images/worker/backend/nccl/verify_kernel.h are there for, by their names and parameters.
 * Their text is not read here: tests/unit/worker/test_worker_verify.c does what it says. */
#ifndef IMAGES_SIMULATED_KERNELS_H
#define IMAGES_SIMULATED_KERNELS_H

#include "backend/nccl/verify_kernel.h"
#include "collective/pattern.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct standin_kernel {
	char name[32];
	int bytes;    /* of an element; 0: another kernel */
	int compares; /* or fills */
};

/* A launch of one, as the stream's thread does it. */
struct standin_launch {
	const struct standin_kernel *kernel;
	unsigned char *data;
	const unsigned char *table;
	uint64_t count, *result;
};

static inline void standin_fill(const struct standin_launch *launch)
{
	size_t bytes = (size_t)launch->kernel->bytes;

	for (uint64_t i = 0; i < launch->count; i++)
		memcpy(launch->data + i * bytes, launch->table + i % PATTERN_PERIOD * bytes, bytes);
}

static inline int64_t standin_key(const unsigned char *element, int bytes)
{
	int64_t most = (int64_t)(((uint64_t)1 << (8 * bytes - 1)) - 1), size = 0;

	for (int i = 0; i < bytes; i++)
		size |= (int64_t)((uint64_t)element[i] << (8 * i));
	size &= most;
	return element[bytes - 1] & 0x80 ? -1 - size : size;
}

static inline void standin_compare(const struct standin_launch *launch)
{
	for (uint64_t i = 0; i < launch->count; i++) {
		int64_t key = standin_key(launch->data + i * (uint64_t)launch->kernel->bytes,
					  launch->kernel->bytes),
			range[2];

		memcpy(range, launch->table + i % PATTERN_PERIOD * sizeof(range), sizeof(range));
		if (key >= range[0] && key <= range[1])
			continue;
		launch->result[0]++;
		if (i < launch->result[1])
			launch->result[1] = i;
	}
}

static inline void standin_verify(void *arg)
{
	struct standin_launch *launch = arg;

	if (launch->kernel->compares)
		standin_compare(launch);
	else
		standin_fill(launch);
	free(launch);
}

/* As the parameters of a launch have it. */
static inline struct standin_launch *standin_launch_of(const struct standin_kernel *kernel,
						       void **parameters)
{
	struct standin_launch *launch = malloc(sizeof(*launch));

	if (!launch)
		abort();
	launch->kernel = kernel;
	launch->data = (unsigned char *)(uintptr_t) * (uint64_t *)parameters[0];
	launch->table = (const unsigned char *)(uintptr_t) * (uint64_t *)parameters[1];
	launch->count = *(uint64_t *)parameters[2];
	launch->result =
		kernel->compares ? (uint64_t *)(uintptr_t) * (uint64_t *)parameters[3] : NULL;
	return launch;
}

/* The kernel of that name in a text of PTX; NULL: there is none. */
static inline struct standin_kernel *standin_kernel_of(const char *text, const char *name)
{
	static const char *const verify[] = {VERIFY_FILL, VERIFY_COMPARE};
	static struct standin_kernel kernels[16];
	static int count;
	struct standin_kernel *kernel = &kernels[count++ % 16];
	char entry[64];

	snprintf(entry, sizeof(entry), ".visible .entry %s(", name);
	if (!strstr(text, entry))
		return NULL;
	memset(kernel, 0, sizeof(*kernel));
	snprintf(kernel->name, sizeof(kernel->name), "%s", name);
	for (int i = 0; i < 2; i++)
		if (strncmp(name, verify[i], strlen(verify[i])) == 0) {
			kernel->bytes = (int)strtol(name + strlen(verify[i]), NULL, 10);
			kernel->compares = i;
		}
	return kernel;
}

#endif
