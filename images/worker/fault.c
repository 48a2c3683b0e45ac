/* SPDX-License-Identifier: MIT */
#include "fault.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[FAULT_COUNT] = {"slow", "corrupt", "die", "drop", "version", "stop"};

void fault_init(struct fault *fault)
{
	for (int kind = 0; kind < FAULT_COUNT; kind++)
		fault->rank[kind] = -1;
}

static int find_kind(const char *text, size_t length)
{
	for (int kind = 0; kind < FAULT_COUNT; kind++)
		if (strlen(kinds[kind]) == length && memcmp(kinds[kind], text, length) == 0)
			return kind;
	return -1;
}

int fault_parse(struct fault *fault, const char *text)
{
	for (;;) {
		size_t length = strcspn(text, ":");
		int kind = find_kind(text, length);
		char *end;
		long rank;

		if (kind < 0 || text[length] != ':' || !isdigit((unsigned char)text[length + 1]))
			return -1;
		rank = strtol(text + length + 1, &end, 10);
		if (rank > 1000000 || (*end != ',' && *end != '\0'))
			return -1;
		fault->rank[kind] = (int)rank;
		if (*end == '\0')
			return 0;
		text = end + 1;
	}
}

bool fault_hits(const struct fault *fault, enum fault_kind kind, int rank)
{
	return fault->rank[kind] == rank;
}
