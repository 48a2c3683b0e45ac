/* SPDX-License-Identifier: MIT */
#include "deployer/scheduler/rank_tag.h"

#include "core/str.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 6 /* as many as ranks can have */

/* Reads a number that `end` follows; NULL: there is none. */
static const char *tag_number(const char *text, const char *end, int *number)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > DIGITS_MAX || !starts_with(text + digits, end))
		return NULL;
	*number = (int)strtol(text, NULL, 10);
	return text + digits + strlen(end);
}

const char *rank_tag(const char *line, int *rank, bool *is_of_node)
{
	static const char node[] = "[default";
	const char *at, *text;
	size_t job;

	*is_of_node = starts_with(line, node);
	if (*is_of_node)
		return tag_number(line + strlen(node), "]:", rank);
	job = strcspn(line, ", ]");
	if (*line != '[' || line[job] != ',')
		return NULL;
	at = line + job + 1;
	if (!(text = tag_number(at, "]<stdout>:", rank)) &&
	    !(text = tag_number(at, "]<stderr>:", rank)))
		return NULL;
	/* Open MPI 5 puts a space between, and its job has a name */
	return text + (*text == ' ' && memchr(line, '@', job) != NULL);
}
