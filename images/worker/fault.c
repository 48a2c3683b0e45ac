/* SPDX-License-Identifier: MIT */
#include "fault.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define RANK_MAX 1000000

static const char *const kinds[FAULT_COUNT] = {"slow",	  "corrupt", "die", "drop",
					       "version", "drift",   "stop"};

void fault_init(struct fault *fault)
{
	for (int kind = 0; kind < FAULT_COUNT; kind++)
		fault->rank[kind] = -1;
	fault->link[0] = fault->link[1] = -1;
}

static int find_kind(const char *text, size_t length)
{
	for (int kind = 0; kind < FAULT_COUNT; kind++)
		if (strlen(kinds[kind]) == length && memcmp(kinds[kind], text, length) == 0)
			return kind;
	return -1;
}

static const char *parse_rank(const char *text, int *rank)
{
	char *end;
	long value = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : -1;

	if (value < 0 || value > RANK_MAX)
		return NULL;
	*rank = (int)value;
	return end;
}

/* One "kind:R" or "link:A-B"; returns what follows it, or NULL. */
static const char *parse_one(struct fault *fault, const char *text)
{
	size_t length = strcspn(text, ":");
	int kind = find_kind(text, length);

	if (text[length] != ':')
		return NULL;
	if (kind >= 0)
		return parse_rank(text + length + 1, &fault->rank[kind]);
	if (length != 4 || memcmp(text, "link", 4) != 0)
		return NULL;
	text = parse_rank(text + length + 1, &fault->link[0]);
	return text && *text == '-' ? parse_rank(text + 1, &fault->link[1]) : NULL;
}

int fault_parse(struct fault *fault, const char *text)
{
	while ((text = parse_one(fault, text)) && *text == ',')
		text++;
	return text && *text == '\0' ? 0 : -1;
}

bool fault_hits(const struct fault *fault, enum fault_kind kind, int rank)
{
	return fault->rank[kind] == rank;
}

bool fault_hits_link(const struct fault *fault, int a, int b)
{
	return (fault->link[0] == a && fault->link[1] == b) ||
	       (fault->link[0] == b && fault->link[1] == a);
}
