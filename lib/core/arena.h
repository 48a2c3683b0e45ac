/* SPDX-License-Identifier: MIT */
/*
 * arena.h - memory that is freed all at once.
 *
 * A command's nouns (hosts, plans, words, names) live in the command's arena: nobody frees them one
 * by one. Out of memory aborts with a message; no caller checks for NULL. An arena is not
 * thread-safe: a thread that needs memory of its own has an arena of its own (see fleet_each).
 */
#ifndef CORE_ARENA_H
#define CORE_ARENA_H

#include "core/base.h"

struct arena_block;

struct arena {
	struct arena_block *blocks; /* newest first; owned */
};

#define ARENA_INIT   \
	{            \
		NULL \
	}

/* Frees everything that was allocated from it. The arena may be used again. For _cleanup_. */
void arena_release(struct arena *arena);

/* Takes over all that `other` holds, and leaves it empty. */
void arena_adopt(struct arena *arena, struct arena *other);

/* Zeroed, aligned for any type; never NULL. */
void *arena_alloc(struct arena *arena, size_t bytes);

/* An array of `count` zeroed elements; aborts when the product overflows. */
void *arena_array(struct arena *arena, size_t count, size_t element_bytes);
#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, count, type) ((type *)arena_array((arena), (count), sizeof(type)))

char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...) _printf_(2, 3);

/* Prints "out of memory" and aborts; for the allocations that live outside of an arena. */
void oom(void) __attribute__((noreturn));

/* malloc/realloc that never return NULL; the caller frees. */
void *xmalloc(size_t bytes);
void *xrealloc(void *old, size_t bytes);

/* For _cleanup_ on a char * or void *. */
void free_pointer(void *pointer);

#endif
