/* SPDX-License-Identifier: MIT */
#include "core/opt.h"

#include "core/str.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define OPT_ROWS_MAX 48

static const struct opt *find_name(const struct opt *rows, const char *name, size_t length)
{
	for (; rows->name; rows++)
		if (strlen(rows->name) == length && memcmp(rows->name, name, length) == 0)
			return rows;
	return NULL;
}

static const struct opt *find_letter(const struct opt *rows, char letter)
{
	for (; rows->name; rows++)
		if (rows->letter == letter)
			return rows;
	return NULL;
}

static int unknown_option(const struct opt *rows, const char *word, struct error *err)
{
	const char *names[OPT_ROWS_MAX + 1];
	size_t count = 0, length = strcspn(word + 2, "=");
	char name[64];
	const char *near;

	for (; rows->name && count < OPT_ROWS_MAX; rows++)
		names[count++] = rows->name;
	names[count] = NULL;
	snprintf(name, sizeof(name), "%.*s", (int)length, word + 2);
	near = word[1] == '-' ? nearest_word(name, names) : NULL;
	if (near)
		return error_set(err, ERROR_USAGE, "unknown option '%s'; did you mean '--%s'?",
				 word, near);
	return error_set(err, ERROR_USAGE, "unknown option '%s'; see --help", word);
}

static int opt_store(const struct opt *row, const char *value, void *values, struct error *err)
{
	char *place = (char *)values + row->offset;
	char *end;
	long number;

	switch (row->kind) {
	case OPT_FLAG:
		*(bool *)place = true;
		return 0;
	case OPT_TEXT:
		*(const char **)(void *)place = value;
		return 0;
	case OPT_LIST:
		words_add((struct words *)(void *)place, value);
		return 0;
	case OPT_LIST_BUT:
		words_addf((struct words *)(void *)place, "!%s", value);
		return 0;
	case OPT_COUNT:
	case OPT_INT:
		errno = 0;
		number = strtol(value, &end, 10);
		if (errno || end == value || *end || number < 0 || number > INT_MAX)
			return error_set(err, ERROR_USAGE, "--%s takes a whole number, not '%s'",
					 row->name, value);
		if (row->kind == OPT_COUNT && !number)
			return error_set(
				err, ERROR_USAGE,
				"--%s takes 1 or more, not '%s'; leave it out for the default",
				row->name, value);
		*(int *)(void *)place = (int)number;
		return 0;
	}
	return 0;
}

/* Parses one option word. *eaten becomes 2 when its value is the next word. */
static int parse_option(const struct opt *rows, const char *const *words, void *values,
			size_t *eaten, struct error *err)
{
	const char *word = words[0], *value = NULL;
	const struct opt *row;

	*eaten = 1;
	if (word[1] == '-') {
		size_t length = strcspn(word + 2, "=");

		row = find_name(rows, word + 2, length);
		if (word[2 + length] == '=')
			value = word + 3 + length;
	} else {
		row = find_letter(rows, word[1]);
		if (word[2])
			value = word + 2;
	}
	if (!row)
		return unknown_option(rows, word, err);
	if (row->kind == OPT_FLAG && value)
		return error_set(err, ERROR_USAGE, "'%s': --%s takes no value", word, row->name);
	if (row->kind != OPT_FLAG && !value) {
		value = words[1];
		if (!value)
			return error_set(err, ERROR_USAGE, "%s needs a value: %s", word,
					 row->argument);
		*eaten = 2;
	}
	return opt_store(row, value, values, err);
}

static bool opt_is_among(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

/* A number of 0 is that it is not given. */
static void opt_add_word(const struct opt *row, const void *values, struct words *out)
{
	const void *place = (const char *)values + row->offset;
	const struct words *list = place;

	if (row->kind == OPT_TEXT && *(const char *const *)place) {
		words_addf(out, "--%s", row->name);
		words_add(out, *(const char *const *)place);
	}
	if ((row->kind == OPT_INT || row->kind == OPT_COUNT) && *(const int *)place)
		words_addf(out, "--%s=%d", row->name, *(const int *)place);
	if (row->kind == OPT_FLAG && *(const bool *)place)
		words_addf(out, "--%s", row->name);
	for (size_t i = 0; row->kind == OPT_LIST && i < list->count; i++) {
		words_addf(out, "--%s", row->name);
		words_add(out, list->list[i]);
	}
}

void opt_words(const struct opt *rows, const void *values, const char *const *but,
	       struct words *out)
{
	static const enum opt_kind order[] = {OPT_TEXT, OPT_INT, OPT_LIST, OPT_FLAG};

	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		for (const struct opt *row = rows; row->name; row++) {
			enum opt_kind kind = row->kind == OPT_COUNT ? OPT_INT : row->kind;

			if (kind == order[i] && !opt_is_among(but, row->name))
				opt_add_word(row, values, out);
		}
}

int opt_parse(const struct opt *rows, const char *const *words, bool stop_at_argument, void *values,
	      struct words *arguments, size_t *used, struct error *err)
{
	size_t i = 0, eaten;

	while (words[i]) {
		if (strcmp(words[i], "--") == 0) {
			i++;
			break;
		}
		if (words[i][0] == '-' && words[i][1]) {
			if (parse_option(rows, words + i, values, &eaten, err) < 0)
				return -1;
			i += eaten;
			continue;
		}
		if (stop_at_argument)
			break;
		words_add(arguments, words[i++]);
	}
	*used = i;
	return 0;
}

void opt_help(const struct opt *rows, FILE *out)
{
	for (; rows->name; rows++) {
		char left[64], letter[8] = "    ";

		if (rows->letter)
			snprintf(letter, sizeof(letter), "-%c, ", rows->letter);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, rows->name,
			 rows->argument ? " " : "", rows->argument ? rows->argument : "");
		fprintf(out, "  %-26s %s\n", left, rows->help);
	}
}
