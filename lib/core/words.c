/* SPDX-License-Identifier: MIT */
#include "core/words.h"

#include "core/str.h"

#include <string.h>

void words_add(struct words *words, const char *word)
{
	if (words->count + 2 > words->capacity) {
		size_t capacity = words->capacity ? words->capacity * 2 : 16;
		const char **list = ARENA_ARRAY(words->arena, capacity, const char *);

		if (words->count)
			memcpy(list, words->list, words->count * sizeof(*list));
		words->list = list;
		words->capacity = capacity;
	}
	words->list[words->count++] = arena_strdup(words->arena, word);
	words->list[words->count] = NULL;
}

bool words_has(const struct words *words, const char *word)
{
	for (size_t i = 0; i < words->count; i++)
		if (strcmp(words->list[i], word) == 0)
			return true;
	return false;
}

void words_add_new(struct words *words, const char *word)
{
	if (!words_has(words, word))
		words_add(words, word);
}

void words_add_all(struct words *words, const char *const *list)
{
	for (; *list; list++)
		words_add(words, *list);
}

void words_addf(struct words *words, const char *format, ...)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	va_list args;

	va_start(args, format);
	str_vaddf(&text, format, args);
	va_end(args);
	words_add(words, text.text);
}

const char *const *words_list(const struct words *words)
{
	static const char *const nothing[] = {NULL};

	return words->list ? words->list : nothing;
}

const char *words_join(const struct words *words, const char *between)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	for (size_t i = 0; i < words->count; i++)
		str_addf(&text, "%s%s", i ? between : "", words->list[i]);
	return arena_strdup(words->arena, text.text);
}
