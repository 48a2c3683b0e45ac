/* SPDX-License-Identifier: MIT */
#include "resolver/conditions.h"

#include <string.h>

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_-"

static void conditions_read_one(const char *text, struct arena *arena, struct condition *out)
{
	bool is_absent = *text == '!';
	const char *name = text + is_absent;
	size_t length = strspn(name, NAME_LETTERS);
	struct needs *needs;
	struct error why = {0};

	*out = (struct condition){.text = text,
				  .name = arena_strndup(arena, name, length),
				  .versions = name + length,
				  .is_absent = is_absent};
	out->is_capability = strcmp(out->name, "sm") == 0;
	out->component = out->is_capability ? COMPONENT_GPU : component_by_name(out->name);
	if (!*out->versions)
		return;
	if (is_absent) {
		out->mistake = "a component that is not there has no versions";
		return;
	}
	needs = ARENA_NEW(arena, struct needs);
	if (needs_parse(out->versions, arena, needs, &why) < 0)
		out->mistake = arena_strdup(arena, why.text);
	else
		out->needs = needs;
}

void conditions_read(const char *when, struct arena *arena, struct conditions *out)
{
	size_t most = 1;

	for (const char *at = when; *at; at++)
		most += *at == '&';
	*out = (struct conditions){.list = ARENA_ARRAY(arena, most, struct condition)};
	while (*when) {
		size_t length = strcspn(when, "&"), trimmed = length;

		while (trimmed && when[trimmed - 1] == ' ')
			trimmed--;
		conditions_read_one(arena_strndup(arena, when, trimmed), arena,
				    &out->list[out->count++]);
		when += length;
		when += strspn(when, "& ");
	}
}
