/* SPDX-License-Identifier: MIT */
#include "plan/version.h"

#include "core/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Compares one part each and moves both pointers past it. */
static int compare_part(const char **a, const char **b)
{
	bool digits = isdigit((unsigned char)**a) || isdigit((unsigned char)**b);

	if (digits && (isdigit((unsigned char)**a) || !**a) &&
	    (isdigit((unsigned char)**b) || !**b)) {
		unsigned long x = strtoul(*a, (char **)(uintptr_t)a, 10);
		unsigned long y = strtoul(*b, (char **)(uintptr_t)b, 10);

		return x < y ? -1 : x > y;
	}
	if (**a != **b)
		return (unsigned char)**a < (unsigned char)**b ? -1 : 1;
	(*a)++;
	(*b)++;
	return 0;
}

int version_compare(const char *a, const char *b)
{
	while (*a || *b) {
		int order;

		if (*a == '.')
			a++;
		if (*b == '.')
			b++;
		order = compare_part(&a, &b);
		if (order)
			return order;
	}
	return 0;
}

static bool matches_prefix(const char *version, const char *pattern)
{
	size_t length = strlen(pattern) - 2; /* without ".*" */

	return strncmp(version, pattern, length) == 0 &&
	       (version[length] == '.' || version[length] == '\0');
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

static int parse_clause(const char *text, size_t length, struct arena *arena,
			struct version_clause *clause)
{
	for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
		size_t skip = strlen(operators[i].text);

		if (strncmp(text, operators[i].text, skip) != 0)
			continue;
		while (skip < length && text[skip] == ' ')
			skip++;
		clause->operator= operators[i].operator;
		clause->version = arena_strndup(arena, text + skip, length - skip);
		return isalnum((unsigned char)*clause->version) ? 0 : -1;
	}
	return -1;
}

int requirement_parse(const char *text, struct arena *arena, struct requirement *req,
		      struct error *err)
{
	size_t name_length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-");
	const char *rest = text + name_length + strspn(text + name_length, " ");

	*req = (struct requirement){.text = arena_strdup(arena, text),
				    .name = arena_strndup(arena, text, name_length)};
	req->clauses = ARENA_ARRAY(arena, strlen(text) + 1, struct version_clause);
	while (name_length && *rest) {
		size_t length = strcspn(rest, ",");

		if (parse_clause(rest, length, arena, &req->clauses[req->clause_count]) < 0)
			break;
		req->clause_count++;
		rest += length;
		rest += strspn(rest, ", ");
	}
	if (!name_length || *rest)
		return error_set(
			err, ERROR_USAGE,
			"'%s' is not a requirement; write a name, or a name with one of == != "
			">= <= > < ~= and a version, as in 'openmpi>=4,<5'",
			text);
	return 0;
}
