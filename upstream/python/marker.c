/* SPDX-License-Identifier: MIT */
#include "upstream/python/marker.h"

#include "upstream/limits.h"

#include <stdio.h>
#include <string.h>

struct marker_reader {
	const char *at, *extra;
	int depth;
	bool failed;
};

static void marker_skip(struct marker_reader *r)
{
	r->at += strspn(r->at, " \t");
}

/* Reads the word if it comes next: `and`, `or`, `(`. */
static bool marker_takes(struct marker_reader *r, const char *word)
{
	size_t length = strlen(word);

	marker_skip(r);
	if (strncmp(r->at, word, length) != 0)
		return false;
	if (*word != '(' && *word != ')' && r->at[length] && !strchr(" \t('\"", r->at[length]))
		return false;
	r->at += length;
	return true;
}

/* A variable's name or a text in quotes; *is_text tells which. */
static void marker_operand(struct marker_reader *r, char word[static VERSION_BYTES_MAX],
			   bool *is_text)
{
	size_t length;
	char quote = 0;

	marker_skip(r);
	if (*r->at == '\'' || *r->at == '"')
		quote = *r->at++;
	length = quote ? strcspn(r->at, quote == '"' ? "\"" : "'")
		       : strspn(r->at, "abcdefghijklmnopqrstuvwxyz_.ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	*is_text = quote != 0;
	if (length >= VERSION_BYTES_MAX || (!quote && !length) || (quote && !r->at[length])) {
		r->failed = true;
		length = 0;
	}
	memcpy(word, r->at, length);
	word[length] = '\0';
	r->at += length + (quote && !r->failed);
}

/* What the variable is here; NULL: not fixed. */
static const char *marker_value(const struct marker_reader *r, const char *variable)
{
	static const char *const known[][2] = {
		{"platform_system", "Linux"},	    {"sys_platform", "linux"},
		{"sys.platform", "linux"},	    {"os_name", "posix"},
		{"platform_machine", "x86_64"},	    {"platform_python_implementation", "CPython"},
		{"implementation_name", "cpython"},
	};

	if (strcmp(variable, "extra") == 0)
		return r->extra;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(known[i][0], variable) == 0)
			return known[i][1];
	return NULL;
}

static bool marker_compare(struct marker_reader *r)
{
	char left[VERSION_BYTES_MAX], right[VERSION_BYTES_MAX], sign[8];
	const char *value, *other;
	bool left_is_text, right_is_text;
	size_t length;

	marker_operand(r, left, &left_is_text);
	marker_skip(r);
	length = strspn(r->at, "=!<>~");
	if (!length && strncmp(r->at, "in ", 3) == 0)
		length = 2;
	if (!length && strncmp(r->at, "not in ", 7) == 0)
		length = 6;
	if (!length || length >= sizeof(sign)) {
		r->failed = true;
		return false;
	}
	snprintf(sign, sizeof(sign), "%.*s", (int)length, r->at);
	r->at += length;
	marker_operand(r, right, &right_is_text);
	value = left_is_text ? left : marker_value(r, left);
	other = right_is_text ? right : marker_value(r, right);
	if (r->failed || !value || !other)
		return !r->failed;
	if (strcmp(sign, "==") == 0 || strcmp(sign, "===") == 0)
		return strcmp(value, other) == 0;
	if (strcmp(sign, "!=") == 0)
		return strcmp(value, other) != 0;
	if (strcmp(sign, "in") == 0)
		return strstr(other, value) != NULL;
	if (strcmp(sign, "not in") == 0)
		return strstr(other, value) == NULL;
	return true;
}

static bool marker_any(struct marker_reader *r);

static bool marker_one(struct marker_reader *r)
{
	bool holds;

	if (!marker_takes(r, "("))
		return marker_compare(r);
	if (++r->depth > MARKER_DEPTH_MAX) {
		r->failed = true;
		return false;
	}
	holds = marker_any(r);
	r->depth--;
	if (!marker_takes(r, ")"))
		r->failed = true;
	return holds;
}

static bool marker_all(struct marker_reader *r)
{
	bool holds = marker_one(r);

	while (!r->failed && marker_takes(r, "and"))
		holds = marker_one(r) && holds;
	return holds;
}

static bool marker_any(struct marker_reader *r)
{
	bool holds = marker_all(r);

	while (!r->failed && marker_takes(r, "or"))
		holds = marker_all(r) || holds;
	return holds;
}

bool marker_holds(const char *marker, const char *extra)
{
	struct marker_reader r = {.at = marker, .extra = extra};
	bool holds;

	marker_skip(&r);
	if (!*r.at)
		return true;
	holds = marker_any(&r);
	marker_skip(&r);
	return holds && !r.failed && !*r.at;
}
