/* SPDX-License-Identifier: MIT */
#include "core/str.h"

#include "core/arena.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FIRST_BYTES 64

char str_empty[1] = "";

void str_init_ceiling(struct str *s, size_t ceiling_bytes)
{
	*s = (struct str){.text = str_empty, .ceiling_bytes = ceiling_bytes};
}

void str_init(struct str *s)
{
	str_init_ceiling(s, STR_CEILING_DEFAULT);
}

void str_release(struct str *s)
{
	if (s->capacity)
		free(s->text);
	*s = (struct str){0};
}

void str_clear(struct str *s)
{
	s->length = 0;
	s->overflowed = false;
	if (s->capacity)
		s->text[0] = '\0';
}

void str_drop(struct str *str, size_t length)
{
	if (length > str->length)
		length = str->length;
	if (!length)
		return;
	str->length -= length;
	memmove(str->text, str->text + length, str->length + 1);
}

void str_add_bytes(struct str *s, const void *bytes, size_t length)
{
	if (length > s->ceiling_bytes - s->length) {
		length = s->ceiling_bytes - s->length;
		s->overflowed = true;
	}
	if (!length)
		return;
	if (s->length + length + 1 > s->capacity) {
		size_t capacity = s->capacity ? s->capacity : FIRST_BYTES;

		while (capacity < s->length + length + 1)
			capacity *= 2;
		s->text = xrealloc(s->capacity ? s->text : NULL, capacity);
		s->capacity = capacity;
	}
	memcpy(s->text + s->length, bytes, length);
	s->length += length;
	s->text[s->length] = '\0';
}

void str_add(struct str *s, const char *text)
{
	str_add_bytes(s, text, strlen(text));
}

void str_add_char(struct str *s, char c)
{
	str_add_bytes(s, &c, 1);
}

void str_vaddf(struct str *s, const char *format, va_list args)
{
	char *text = NULL;
	int length = vasprintf(&text, format, args);

	if (length < 0)
		oom();
	str_add_bytes(s, text, (size_t)length);
	free(text);
}

void str_addf(struct str *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	str_vaddf(s, format, args);
	va_end(args);
}

void str_trim(struct str *s)
{
	while (s->length && strchr(" \t\r\n", s->text[s->length - 1]))
		s->text[--s->length] = '\0';
}

void str_one_line(struct str *s, size_t keep_bytes)
{
	struct str line = STR_INIT;

	str_trim(s);
	for (const char *p = s->length > keep_bytes ? s->text + s->length - keep_bytes : s->text;
	     *p; p++) {
		if (*p == '\n' && line.length && line.text[line.length - 1] != ' ')
			str_add(&line, "; ");
		else if (*p == '\t' || (unsigned char)*p >= ' ')
			str_add_char(&line, *p);
	}
	str_release(s);
	*s = line;
}

void nuls_replace(char *bytes, size_t length, char with)
{
	for (char *nul; length && (nul = memchr(bytes, '\0', length)); bytes = nul) {
		length -= (size_t)(nul - bytes);
		*nul = with;
	}
}

bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool ends_with(const char *text, const char *suffix)
{
	size_t a = strlen(text), b = strlen(suffix);

	return a >= b && strcmp(text + a - b, suffix) == 0;
}

/* Levenshtein distance with one row of memory. Words are short names; longer ones are cut. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[64], n = strnlen(b, ARRAY_LEN(row) - 1);

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 1; j <= n; j++) {
			size_t cost = diagonal + (a[i] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < cost)
				cost = row[j] + 1;
			if (row[j - 1] + 1 < cost)
				cost = row[j - 1] + 1;
			row[j] = cost;
		}
	}
	return row[n];
}

const char *nearest_word(const char *word, const char *const *candidates)
{
	const char *best = NULL;
	size_t best_distance = 2 * (2 + strlen(word) / 3);

	for (; *candidates; candidates++) {
		/* of two that are as near, the one that goes on as the word begins: "ru" is run, not rm */
		size_t distance =
			2 * edit_distance(word, *candidates) + !starts_with(*candidates, word);

		if (distance < best_distance) {
			best_distance = distance;
			best = *candidates;
		}
	}
	return best;
}

bool parse_bytes(const char *text, uint64_t *bytes)
{
	static const char units[] = "bkmgt";
	uint64_t value = 0;
	const char *unit;

	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			return false;
	if (!value)
		return false;
	unit = *text ? strchr(units, tolower((unsigned char)*text)) : units;
	if (!unit)
		return false;
	for (const char *p = units; p < unit; p++)
		if (__builtin_mul_overflow(value, KIB, &value))
			return false;
	*bytes = value;
	if (!*text || !*++text)
		return true;
	return unit > units && (strcasecmp(text, "b") == 0 || strcasecmp(text, "ib") == 0);
}

const char *format_bytes(char buffer[static 32], uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1024 && unit + 1 < ARRAY_LEN(units)) {
		value /= 1024;
		unit++;
	}
	snprintf(buffer, 32, value < 10 && unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return buffer;
}

bool list_has(const char *list, const char *word, size_t length)
{
	while (*list) {
		size_t one = strcspn(list, ";");

		if (one == length && strncmp(list, word, length) == 0)
			return true;
		list += one + (list[one] == ';');
	}
	return false;
}

const char *text_tail(const char *text, size_t bytes)
{
	size_t length = strlen(text);
	const char *start = length > bytes ? text + length - bytes : text, *line;

	if (start == text)
		return text;
	line = strchr(start, '\n');
	return line && line[1] ? line + 1 : start;
}
