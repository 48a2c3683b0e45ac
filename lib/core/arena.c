/* SPDX-License-Identifier: MIT */
#include "core/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An arena of one host often holds a few names, and there may be a thousand of them. */
#define BLOCK_BYTES_FIRST (1 * KIB)
#define BLOCK_BYTES (32 * KIB)
#define ALIGNMENT 16

struct arena_block {
	struct arena_block *next;
	size_t used_bytes, size_bytes;
	_Alignas(ALIGNMENT) char data[];
};

void oom(void)
{
	fputs("ringup: out of memory\n", stderr);
	abort();
}

void *xmalloc(size_t bytes)
{
	void *p = malloc(bytes ? bytes : 1);

	if (!p)
		oom();
	return p;
}

void *xrealloc(void *old, size_t bytes)
{
	void *p = realloc(old, bytes ? bytes : 1);

	if (!p)
		oom();
	return p;
}

void free_pointer(void *pointer)
{
	free(*(void **)pointer);
}

void arena_release(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
}

void arena_adopt(struct arena *arena, struct arena *other)
{
	struct arena_block **at = &arena->blocks;

	while (*at)
		at = &(*at)->next;
	*at = other->blocks;
	other->blocks = NULL;
}

/* The first block is where small pieces go; one that a large piece fills stands behind it. */
static void add_block(struct arena *arena, struct arena_block *block)
{
	struct arena_block **at = &arena->blocks;

	if (*at && block->size_bytes > BLOCK_BYTES)
		at = &(*at)->next;
	block->next = *at;
	*at = block;
}

/* The size of the block behind this one: twice its size, up to BLOCK_BYTES. */
static size_t arena_next_bytes(const struct arena_block *block)
{
	size_t size = block ? 2 * block->size_bytes : BLOCK_BYTES_FIRST;

	return size < BLOCK_BYTES ? size : BLOCK_BYTES;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
	struct arena_block *block = arena->blocks;
	size_t wanted = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	void *p;

	if (wanted < bytes)
		oom();
	if (!block || block->size_bytes - block->used_bytes < wanted) {
		size_t next = arena_next_bytes(block), size = wanted > next ? wanted : next;

		block = xmalloc(sizeof(*block) + size);
		block->used_bytes = 0;
		block->size_bytes = size;
		add_block(arena, block);
	}
	p = block->data + block->used_bytes;
	block->used_bytes += wanted;
	return memset(p, 0, bytes);
}

void *arena_array(struct arena *arena, size_t count, size_t element_bytes)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, element_bytes, &bytes))
		oom();
	return arena_alloc(arena, bytes);
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);

	return memcpy(copy, text, length);
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args, again;
	int length;
	char *text;

	va_start(args, format);
	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = arena_alloc(arena, (size_t)length + 1);
	vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	return text;
}
