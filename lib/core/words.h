/* SPDX-License-Identifier: MIT */
/*
 * words.h - building an argv one word at a time.
 *
 * The array and the words live in the arena, and `list` is NULL-terminated at every moment.
 */
#ifndef CORE_WORDS_H
#define CORE_WORDS_H

#include "core/arena.h"

struct words {
	struct arena *arena;
	const char **list; /* NULL-terminated; NULL only before the first words_add */
	size_t count, capacity;
};

#define WORDS_INIT(a)        \
	{                    \
		.arena = (a) \
	}

void words_add(struct words *words, const char *word); /* copies the word */
bool words_has(const struct words *words, const char *word);
void words_add_new(struct words *words, const char *word); /* only where it is not there yet */
void words_add_all(struct words *words, const char *const *list);
void words_addf(struct words *words, const char *format, ...) _printf_(2, 3);

/* The words, never NULL: an empty list where none was added. */
const char *const *words_list(const struct words *words);

/* Joins all words into one text in the words' arena; "" when there are none. */
const char *words_join(const struct words *words, const char *between);

#endif
