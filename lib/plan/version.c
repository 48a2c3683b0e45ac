/* SPDX-License-Identifier: MIT */
#include "plan/version.h"

#include "core/str.h"

#include <ctype.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The number at *p, 0 when there is none; moves past it. */
static unsigned long version_take_number(const char **p)
{
	unsigned long number = 0;

	for (; is_digit(**p); (*p)++)
		number = number * 10 + (unsigned long)(**p - '0');
	return number;
}

/* The text up to the next digit or dot; moves past it. */
static size_t version_take_text(const char **p)
{
	const char *begin = *p;

	while (**p && **p != '.' && !is_digit(**p)) /* most often there is none: no call */
		(*p)++;
	return (size_t)(*p - begin);
}

static int compare_text(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t shorter = a_length < b_length ? a_length : b_length;
	int order = memcmp(a, b, shorter);

	if (order)
		return order;
	return a_length < b_length ? -1 : a_length > b_length;
}

/*
 * Numbers and text alternate, as in Debian's rule. A missing number is 0, and missing text is
 * empty.
 */
int version_compare(const char *a, const char *b)
{
	while (*a || *b) {
		unsigned long x = version_take_number(&a), y = version_take_number(&b);
		const char *a_text = a, *b_text = b;
		size_t a_length = version_take_text(&a), b_length = version_take_text(&b);

		if (x != y)
			return x < y ? -1 : 1;
		if (a_length || b_length) { /* most often there is none: no call */
			int order = compare_text(a_text, a_length, b_text, b_length);

			if (order)
				return order;
		}
		a += *a == '.';
		b += *b == '.';
	}
	return 0;
}

static bool matches_prefix(const char *version, const char *pattern)
{
	size_t length = strlen(pattern) - 2; /* without ".*" */

	/* 2.6.4-1 is in the series 2.6.4, and 1.8.1+cu111 in 1.8.1 */
	return strncmp(version, pattern, length) == 0 &&
	       (!version[length] || strchr(".-+", version[length]));
}

static bool equals(const char *version, const char *wanted)
{
	return ends_with(wanted, ".*") ? matches_prefix(version, wanted)
				       : version_compare(version, wanted) == 0;
}

/* ~=1.4.2 means >= 1.4.2 and == 1.4.* */
static bool compatible(const char *version, const char *wanted)
{
	const char *dot = strrchr(wanted, '.');
	size_t length = dot ? (size_t)(dot - wanted) : strlen(wanted);

	return version_compare(version, wanted) >= 0 && strncmp(version, wanted, length) == 0 &&
	       (version[length] == '.' || version[length] == '\0');
}

static bool clause_admits(const struct version_clause *clause, const char *version)
{
	switch (clause->operator) {
	case VERSION_EQ:
		return equals(version, clause->version);
	case VERSION_NE:
		return !equals(version, clause->version);
	case VERSION_GE:
		return version_compare(version, clause->version) >= 0;
	case VERSION_GT:
		return version_compare(version, clause->version) > 0;
	case VERSION_LE:
		return version_compare(version, clause->version) <= 0;
	case VERSION_LT:
		return version_compare(version, clause->version) < 0;
	case VERSION_COMPATIBLE:
		return compatible(version, clause->version);
	}
	return false;
}

/* Compares part by part, as version_compare does. */
bool version_in_series(const char *version, const char *series)
{
	while (*series) {
		unsigned long x = version_take_number(&version), y = version_take_number(&series);
		const char *a = version, *b = series;
		size_t a_length = version_take_text(&version),
		       b_length = version_take_text(&series);

		if (x != y || (b_length && compare_text(a, a_length, b, b_length) != 0))
			return false;
		version += *version == '.';
		series += *series == '.';
	}
	return true;
}

/* Compares with the series without the ".*" that may follow it. */
static bool in_series_of(const struct version_clause *clause, const char *version)
{
	size_t length = strlen(clause->version);
	char series[128];

	if (length >= sizeof(series))
		return false;
	memcpy(series, clause->version, length + 1);
	if (ends_with(series, ".*"))
		series[length - 2] = '\0';
	return version_in_series(version, series);
}

bool requirement_admits_series(const struct requirement *req, const char *version)
{
	for (size_t i = 0; i < req->clause_count; i++) {
		const struct version_clause *clause = &req->clauses[i];
		bool equality = clause->operator== VERSION_EQ || clause->operator== VERSION_NE;

		if (equality ? in_series_of(clause, version) != (clause->operator== VERSION_EQ)
			     : !clause_admits(clause, version))
			return false;
	}
	return true;
}

bool requirement_admits(const struct requirement *req, const char *version)
{
	for (size_t i = 0; i < req->clause_count; i++)
		if (!clause_admits(&req->clauses[i], version))
			return false;
	return true;
}

static const struct {
	const char *text;
	enum version_operator operator;
} operators[] = {
	{"==", VERSION_EQ}, {"!=", VERSION_NE}, {">=", VERSION_GE},	    {"<=", VERSION_LE},
	{">", VERSION_GT},  {"<", VERSION_LT},	{"~=", VERSION_COMPATIBLE},
};

#define VERSION_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+:~-"

/* Whether it is a version, with ".*" at its end only where the operator takes a pattern. */
static bool version_is_valid(const char *version, enum version_operator operator)
{
	size_t length = strlen(version);

	if (ends_with(version, ".*") && (operator== VERSION_EQ || operator== VERSION_NE))
		length -= 2;
	return length && isalnum((unsigned char)*version) &&
	       strspn(version, VERSION_LETTERS) >= length;
}

static int parse_clause(const char *text, size_t length, struct arena *arena,
			struct version_clause *clause)
{
	while (length && text[length - 1] == ' ')
		length--;
	for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
		size_t skip = strlen(operators[i].text);

		if (strncmp(text, operators[i].text, skip) != 0 || skip > length)
			continue;
		while (skip < length && text[skip] == ' ')
			skip++;
		clause->operator= operators[i].operator;
		clause->version = arena_strndup(arena, text + skip, length - skip);
		return version_is_valid(clause->version, clause->operator) ? 0 : -1;
	}
	return -1;
}

/* Parses clauses between `separators`. The requirement gets the number of clauses that parse. */
static const char *parse_clauses(const char *text, const char *separators, struct arena *arena,
				 struct requirement *req)
{
	char stop[] = {separators[0], '\0'};

	req->clauses = ARENA_ARRAY(arena, strlen(text) / 2 + 1, struct version_clause);
	while (*text) {
		size_t length = strcspn(text, stop);

		if (parse_clause(text, length, arena, &req->clauses[req->clause_count]) < 0)
			break;
		req->clause_count++;
		text += length;
		text += strspn(text, separators);
	}
	return text;
}

int needs_parse(const char *text, struct arena *arena, struct needs *needs, struct error *err)
{
	*needs = (struct needs){.text = text};
	needs->alternatives = ARENA_ARRAY(arena, strlen(text) / 2 + 1, struct requirement);
	for (const char *at = text; *at;) {
		size_t length = strcspn(at, "|");
		const char *one = arena_strndup(arena, at, length);
		struct requirement *req = &needs->alternatives[needs->count++];

		if (!*one || *parse_clauses(one, "; ", arena, req))
			return error_set(err, ERROR_USAGE,
					 "'%s' is no requirement cell, as in '==2.7.*|>=3.3;<3.7'",
					 text);
		at += length + (at[length] == '|');
	}
	return 0;
}

bool needs_admit(const struct needs *needs, const char *version)
{
	for (size_t i = 0; i < needs->count; i++)
		if (requirement_admits(&needs->alternatives[i], version))
			return true;
	return !needs->count;
}

int requirement_parse(const char *text, struct arena *arena, struct requirement *req,
		      struct error *err)
{
	size_t name_length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789_-");
	const char *rest = text + name_length + strspn(text + name_length, " ");
	char *name = arena_strndup(arena, text, name_length);

	/* capitals make no other name: PEP 503 */
	for (char *c = name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	*req = (struct requirement){.text = arena_strdup(arena, text), .name = name};
	if (name_length && *rest == '[')
		return error_set(
			err, ERROR_USAGE,
			"'%s': extras follow from the stack, which chooses those of its CUDA; write it without [...]",
			text);
	if (name_length)
		rest = parse_clauses(rest, ", ", arena, req);
	if (!name_length || *rest)
		return error_set(
			err, ERROR_USAGE,
			"'%s' is not a requirement; write a name, or a name with one of == != >= <= > < ~= and a version, as in 'openmpi>=4,<5'",
			text);
	return 0;
}
