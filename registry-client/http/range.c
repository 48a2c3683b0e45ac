/* SPDX-License-Identifier: MIT */
#include "registry-client/http/range.h"

#include "core/str.h"

#include <string.h>
#include <strings.h>

/* Digits and nothing else, up to INT64_MAX - 1; *text moves behind them. */
static bool range_take_number(const char **text, uint64_t *number)
{
	const char *p = *text;

	for (*number = 0; *p >= '0' && *p <= '9'; p++) {
		unsigned int digit = (unsigned int)(*p - '0');

		if (*number > ((uint64_t)INT64_MAX - 1 - digit) / 10)
			return false;
		*number = *number * 10 + digit;
	}
	if (p == *text)
		return false;
	*text = p;
	return true;
}

static bool take_pair(const char **text, uint64_t *from, uint64_t *to)
{
	return range_take_number(text, from) && *(*text)++ == '-' && range_take_number(text, to);
}

static bool is_end(const char *text)
{
	return text[strspn(text, " \t")] == '\0';
}

int64_t range_of_session(const char *value)
{
	uint64_t from, to;

	if (starts_with(value, "bytes="))
		value += strlen("bytes=");
	if (!take_pair(&value, &from, &to) || from != 0 || !is_end(value))
		return -1;
	return to ? (int64_t)to + 1 : 0;
}

bool range_of_chunk_min(const char *value, uint64_t *bytes)
{
	size_t digits = strspn(value, "0123456789");
	const char *end = value;

	*bytes = 0;
	if (!digits || !is_end(value + digits))
		return false;
	if (!range_take_number(&end, bytes))
		*bytes = UINT64_MAX;
	return true;
}

bool range_of_content(const char *value, struct content_range *range)
{
	uint64_t total;

	*range = (struct content_range){.total = -1};
	if (strncasecmp(value, "bytes", strlen("bytes")) != 0)
		return false;
	value += strlen("bytes");
	if (*value != ' ')
		return false;
	value += strspn(value, " ");
	if (!take_pair(&value, &range->from, &range->to) || *value++ != '/' ||
	    range->to < range->from)
		return false;
	if (*value == '*')
		return is_end(value + 1);
	if (!range_take_number(&value, &total) || !is_end(value) || total <= range->to)
		return false;
	range->total = (int64_t)total;
	return true;
}
