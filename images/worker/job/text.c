/* SPDX-License-Identifier: MIT */
#include "job/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *job_grow(void *bytes, size_t size)
{
	void *grown = realloc(bytes, size);

	if (!grown) {
		fputs("ringup-job: out of memory\n", stderr);
		abort();
	}
	return grown;
}

void text_release(struct text *text)
{
	free(text->bytes);
	*text = (struct text){0};
}

static void text_reserve(struct text *text, size_t more)
{
	size_t needed = text->length + more + 1;

	if (needed <= text->room)
		return;
	text->room = needed < 256 ? 256 : needed * 2;
	text->bytes = job_grow(text->bytes, text->room);
}

void text_add_bytes(struct text *text, const char *bytes, size_t length)
{
	text_reserve(text, length);
	if (length)
		memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
	text->bytes[text->length] = '\0';
}

void text_addf(struct text *text, const char *format, ...)
{
	va_list values, again;
	int length;

	va_start(values, format);
	va_copy(again, values);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (length > 0) {
		text_reserve(text, (size_t)length);
		vsnprintf(text->bytes + text->length, (size_t)length + 1, format, values);
		text->length += (size_t)length;
	}
	va_end(values);
}

void text_add_escaped(struct text *text, const char *bytes, size_t length)
{
	const char *end = bytes + length;

	text_reserve(text, length);
	while (bytes < end) {
		const char *p = bytes;

		while (p < end && *p && *p != '\\' && *p != '\n')
			p++;
		text_add_bytes(text, bytes, (size_t)(p - bytes));
		if (p < end)
			text_add_bytes(text, !*p ? "\\0" : *p == '\n' ? "\\n" : "\\\\", 2);
		bytes = p + 1;
	}
}

void text_drop(struct text *text, size_t length)
{
	if (!length)
		return;
	text->length -= length;
	memmove(text->bytes, text->bytes + length, text->length + 1);
}

size_t text_unescape(char *field)
{
	char *to = field, *start = field;

	for (; *field; field++) {
		if (*field == '\\' && field[1]) {
			field++;
			*to++ = *field == 'n' ? '\n' : *field == '0' ? '\0' : *field;
		} else {
			*to++ = *field;
		}
	}
	*to = '\0';
	return (size_t)(to - start);
}

char *text_copy(const char *bytes)
{
	size_t size = strlen(bytes) + 1;

	return memcpy(job_grow(NULL, size), bytes, size);
}

void list_add(struct list *list, const char *item)
{
	list->items = job_grow(list->items, (list->count + 2) * sizeof(char *));
	list->items[list->count++] = text_copy(item);
	list->items[list->count] = NULL;
}

void list_release(struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct list){0};
}

char *text_next_line(struct text *text, size_t *offset)
{
	char *line, *end;

	if (*offset >= text->length)
		return NULL;
	line = text->bytes + *offset;
	end = memchr(line, '\n', text->length - *offset);
	if (!end)
		return NULL;
	*end = '\0';
	*offset = (size_t)(end - text->bytes) + 1;
	return line;
}

bool text_number(const char *word, long least, long most, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(word, &end, 10);
	return end != word && !*end && !errno && *number >= least && *number <= most;
}
