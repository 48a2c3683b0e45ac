/* SPDX-License-Identifier: MIT */
#include "host/warning.h"
#include "group.h"
#include "text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct warning *warning_add(struct warnings *warnings, const char *fix, const char *what, ...)
{
	struct warning *new = &warnings->list[warnings->count];
	va_list words;

	if (warnings->count == WARNINGS_MAX)
		return NULL;
	memset(new, 0, sizeof(*new));
	va_start(words, what);
	vsnprintf(new->what, sizeof(new->what), what, words);
	va_end(words);
	for (int i = 0; i < warnings->count; i++)
		if (strcmp(warnings->list[i].what, new->what) == 0)
			return NULL;
	new->rank = warnings->rank;
	snprintf(new->fix, sizeof(new->fix), "%s", fix);
	warnings->count++;
	return new;
}

static bool is_known(const struct group *group, const struct warning *list, int count,
		     const struct warning *new)
{
	for (int i = 0; i < count; i++)
		if (strcmp(group->members[list[i].rank].host, group->members[new->rank].host) ==
			    0 &&
		    strcmp(list[i].what, new->what) == 0)
			return true;
	return false;
}

static void warning_tidy(struct warning *warning, int rank)
{
	warning->rank = rank;
	text_tidy(warning->what, sizeof(warning->what));
	text_tidy(warning->why, sizeof(warning->why));
	text_tidy(warning->fix, sizeof(warning->fix));
}

struct warning *warnings_merge(const struct group *group, struct warnings *all, int *count)
{
	struct warning *list = NULL;

	*count = 0;
	for (int rank = 0; rank < group->world; rank++) {
		for (int i = 0; i < all[rank].count && i < WARNINGS_MAX; i++) {
			struct warning *new = &all[rank].list[i];

			warning_tidy(new, rank);
			if (is_known(group, list, *count, new))
				continue;
			list = realloc(list, (size_t)(*count + 1) * sizeof(*list));
			if (!list)
				abort();
			list[(*count)++] = *new;
		}
	}
	return list;
}
