/* SPDX-License-Identifier: MIT */
#include "builder/native/dockerfile.h"

#include "core/str.h"
#include "core/words.h"

#include <string.h>

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define NESTING_MAX 8 /* ${A:-${B:-...}} */

static const char *const no_words[] = {NULL};

struct lexer {
	const char *at;
	const char *(*value)(void *arg, const char *name);
	void *arg;
	struct arena *arena;
	const char *why;
	int depth;
};

static int add_until(struct lexer *x, const char *stop, struct str *out);

/* ":-WORD" or ":+WORD" behind a name in braces, up to the closing one. */
static int add_otherwise(struct lexer *x, const char *value, struct str *out)
{
	_cleanup_(str_release) struct str word = STR_INIT;
	char how = x->at[1];

	x->at += 2;
	if (++x->depth > NESTING_MAX) {
		x->why = "${...} is nested too deeply";
		return -1;
	}
	if (add_until(x, "}", &word) < 0)
		return -1;
	x->depth--;
	if (how == '-' && (!value || !*value))
		str_add(out, word.text);
	else if (how == '-')
		str_add(out, value);
	else if (value && *value)
		str_add(out, word.text);
	return 0;
}

/* x->at is behind the "$". */
static int add_variable(struct lexer *x, struct str *out)
{
	bool braces = *x->at == '{';
	const char *name = x->at + braces, *value;
	size_t length = strspn(name, NAME_CHARS);

	if (!length) {
		if (braces) {
			x->why = "${ without a name";
			return -1;
		}
		str_add_char(out, '$');
		return 0;
	}
	value = x->value(x->arg, arena_strndup(x->arena, name, length));
	x->at = name + length;
	if (braces && x->at[0] == ':' && (x->at[1] == '-' || x->at[1] == '+')) {
		if (add_otherwise(x, value, out) < 0)
			return -1;
	} else if (value) {
		str_add(out, value);
	}
	if (braces && *x->at != '}') {
		x->why = "${ is not closed, or holds more than a name, :- and :+";
		return -1;
	}
	x->at += braces;
	return 0;
}

static int add_double_quoted(struct lexer *x, struct str *out)
{
	for (x->at++; *x->at && *x->at != '"';) {
		if (*x->at == '\\' && x->at[1] && strchr("\"$\\", x->at[1])) {
			str_add_char(out, x->at[1]);
			x->at += 2;
		} else if (*x->at == '$') {
			x->at++;
			if (add_variable(x, out) < 0)
				return -1;
		} else {
			str_add_char(out, *x->at++);
		}
	}
	if (!*x->at) {
		x->why = "a double quote is not closed";
		return -1;
	}
	x->at++;
	return 0;
}

static int add_single_quoted(struct lexer *x, struct str *out)
{
	const char *end = strchr(x->at + 1, '\'');

	if (!end) {
		x->why = "a single quote is not closed";
		return -1;
	}
	str_add_bytes(out, x->at + 1, (size_t)(end - x->at - 1));
	x->at = end + 1;
	return 0;
}

/* Adds up to one of the `stop` characters outside of quotes, or the end. */
static int add_until(struct lexer *x, const char *stop, struct str *out)
{
	while (*x->at && !strchr(stop, *x->at)) {
		int rc = 0;

		if (*x->at == '"') {
			rc = add_double_quoted(x, out);
		} else if (*x->at == '\'') {
			rc = add_single_quoted(x, out);
		} else if (*x->at == '$') {
			x->at++;
			rc = add_variable(x, out);
		} else {
			if (*x->at == '\\' && x->at[1])
				x->at++;
			str_add_char(out, *x->at++);
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

int dockerfile_words(const char *text, const char *(*value)(void *arg, const char *name), void *arg,
		     struct arena *arena, const char *const **list, const char **why)
{
	struct lexer x = {.at = text, .value = value, .arg = arg, .arena = arena};
	struct words words = WORDS_INIT(arena);

	for (;;) {
		_cleanup_(str_release) struct str word = STR_INIT;

		x.at += strspn(x.at, " \t");
		if (!*x.at)
			break;
		if (add_until(&x, " \t", &word) < 0) {
			*why = x.why;
			return -1;
		}
		words_add(&words, word.text);
	}
	*list = words.list ? words.list : no_words;
	return 0;
}
