/* SPDX-License-Identifier: MIT */
#include "builder/native/runtime/subids.h"

#include "core/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "START:LENGTH", decimal and nothing else. */
static bool parse_range(const char *text, unsigned long *start, unsigned long *length)
{
	char *end;

	*start = strtoul(text, &end, 10);
	if (end == text || *end != ':')
		return false;
	text = end + 1;
	*length = strtoul(text, &end, 10);
	return end != text && !*end && *length && *start && *start <= UINT32_MAX &&
	       *length <= UINT32_MAX - *start;
}

/* One line, "WHO:START:LENGTH"; it is cut up. */
static void subids_take_line(char *line, const char *name, const char *number, struct subids *ids)
{
	char *colon = strchr(line, ':');
	unsigned long start, length;

	if (!colon || ids->count == SUBIDS_RANGES_MAX)
		return;
	*colon = '\0';
	if ((strcmp(line, name) != 0 && strcmp(line, number) != 0) ||
	    !parse_range(colon + 1, &start, &length))
		return;
	ids->list[ids->count].start = start;
	ids->list[ids->count++].length = length;
}

bool subids_read(const char *path, const char *name, uid_t uid, struct subids *ids)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *number = arena_printf(&arena, "%u", (unsigned)uid);
	struct error ignored = {0};
	unsigned long total = 0;
	char *text, *line;

	*ids = (struct subids){0};
	if (file_read(path, FILE_CEILING_BYTES, &arena, &text, NULL, &ignored) < 0)
		return false;
	while ((line = strsep(&text, "\n")))
		subids_take_line(line, name, number, ids);
	for (size_t i = 0; i < ids->count; i++)
		total += ids->list[i].length;
	return total >= SUBIDS_NEEDED;
}

bool subids_overlap(const char *path, unsigned long start, unsigned long length)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	unsigned long other, other_length;
	struct error ignored = {0};
	char *text, *line, *colon;

	if (file_read(path, FILE_CEILING_BYTES, &arena, &text, NULL, &ignored) < 0)
		return false;
	while ((line = strsep(&text, "\n"))) {
		colon = strchr(line, ':');
		if (colon && parse_range(colon + 1, &other, &other_length) &&
		    other < start + length && start < other + other_length)
			return true;
	}
	return false;
}

void subids_map(const struct subids *ids, unsigned long own, struct words *words)
{
	unsigned long inside = 1;

	words_addf(words, "0");
	words_addf(words, "%lu", own);
	words_addf(words, "1");
	for (size_t i = 0; i < ids->count; i++) {
		words_addf(words, "%lu", inside);
		words_addf(words, "%lu", ids->list[i].start);
		words_addf(words, "%lu", ids->list[i].length);
		inside += ids->list[i].length;
	}
}
