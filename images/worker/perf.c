/* SPDX-License-Identifier: MIT */
#include "perf.h"
#include "collective/collective.h"
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PERF_BYTES (UINT64_C(32) << 20) /* the only size, if no other is asked for */

int perf_collective(const char *program)
{
	const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;

	for (int kind = 0; kind < COLLECTIVE_COUNT; kind++) {
		const char *word = collective_name((enum collective_kind)kind);
		size_t length = strlen(word);

		if (strncmp(name, word, length) == 0 && strncmp(name + length, "_perf", 5) == 0 &&
		    (name[length + 5] == '\0' || name[length + 5] == '_'))
			return kind;
	}
	return -1;
}

void perf_print(void)
{
	for (int kind = 0; kind < COLLECTIVE_COUNT; kind++)
		printf("%s_perf\n", collective_name((enum collective_kind)kind));
}

void perf_set_defaults(struct options *options, int collective)
{
	options->perf = true;
	options->workload.collective = (uint32_t)collective;
	options->workload.first_bytes = options->workload.last_bytes = PERF_BYTES;
	options->workload.warmups = 1;
	options->workload.average = AVERAGE_RANKS;
	snprintf(options->backend, sizeof(options->backend), "nccl");
}

static int perf_refuse(const char *name, const char *text, const char *wanted, struct failure *err)
{
	return failure_set(err, STATUS_USAGE, -1, "", "%s='%s': %s", name, text, wanted);
}

int perf_environment(struct options *options, struct failure *err)
{
	const char *bandwidth = getenv("NCCL_TESTS_MIN_BW"), *split = getenv("NCCL_TESTS_SPLIT"),
		   *mask = getenv("NCCL_TESTS_SPLIT_MASK"), *device = getenv("NCCL_TESTS_DEVICE");
	char *end;
	int color;

	if (device && *device)
		return perf_refuse(
			"NCCL_TESTS_DEVICE", device,
			"not possible here: say with CUDA_VISIBLE_DEVICES which GPUs the ranks may take",
			err);
	if (bandwidth && *bandwidth) {
		options->min_average = strtod(bandwidth, &end);
		if (end == bandwidth || *end != '\0' || !isfinite(options->min_average) ||
		    options->min_average < 0)
			return perf_refuse("NCCL_TESTS_MIN_BW", bandwidth,
					   "a bandwidth in GB/s is needed, 0 or more", err);
	}
	if (mask && *mask) {
		/* numbers of processes are positive, so bit 31 and those above it mean nothing */
		unsigned long bits = strtoul(mask, &end, 16) & INT_MAX;

		if (end == mask || *end != '\0')
			return perf_refuse("NCCL_TESTS_SPLIT_MASK", mask,
					   "a mask in hexadecimal digits is needed, such as 7",
					   err);
		snprintf(options->split, sizeof(options->split), "AND 0x%lx", bits);
		return 0;
	}
	if (split && *split)
		snprintf(options->split, sizeof(options->split), "%s",
			 strlen(split) < sizeof(options->split) ? split : "?");
	if (options->split[0] != '\0' && perf_color(options->split, 0, &color) < 0)
		return perf_refuse("NCCL_TESTS_SPLIT", split,
				   "AND, OR, MOD or DIV and a number are needed, such as MOD 2",
				   err);
	return 0;
}

/* A number as C writes it, or in twos as 0b101. */
static int perf_number(const char *text, int *number)
{
	int base = 0;
	char *end;
	long value;

	text += strspn(text, " \t");
	if (strncasecmp(text, "0b", 2) == 0) {
		base = 2;
		text += 2;
	}
	errno = 0;
	value = strtol(text, &end, base);
	if (errno != 0 || end == text || *end != '\0' || *text == '-' || value < 0 ||
	    value > INT_MAX)
		return -1;
	*number = (int)value;
	return 0;
}

int perf_color(const char *words, int process, int *color)
{
	static const char *const forms[][2] = {
		{"AND", "&"}, {"OR", "|"}, {"MOD", "%"}, {"DIV", "/"}};
	int number = 0, form = 0;
	size_t length = 0;

	for (; form < 4 && length == 0; form++)
		for (int i = 0; i < 2 && length == 0; i++)
			if (strncasecmp(words, forms[form][i], strlen(forms[form][i])) == 0)
				length = strlen(forms[form][i]);
	if (length == 0 || perf_number(words + length, &number) < 0 || (form > 2 && number == 0))
		return -1;
	switch (form - 1) {
	case 0:
		*color = process & number;
		break;
	case 1:
		*color = process | number;
		break;
	case 2:
		*color = process % number;
		break;
	default:
		*color = process / number;
		break;
	}
	return 0;
}
