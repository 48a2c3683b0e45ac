/* SPDX-License-Identifier: MIT */
#include "deployer/doctor/condition.h"

#include "core/str.h"
#include "plan/version.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum condition_kind { C_OR, C_AND, C_NOT, C_KNOWN, C_MISSING, C_DIFFERS, C_COMPARE, C_ANY };
enum condition_operator { OP_EQ, OP_NE, OP_LE, OP_LT, OP_GE, OP_GT, OP_CONTAINS, OP_LIKE, OP_HAS };

static const char *const operator_names[] = {
	"==", "!=", "<=", "<", ">=", ">", "contains", "like", "has"};

struct condition_value {
	enum { V_NAME, V_TEXT, V_COUNT } kind;
	const char *text;
};

struct condition {
	enum condition_kind kind;
	enum condition_operator operator;
	struct condition_value left, right;
	struct condition *first, *second;
};

struct condition_reader {
	const char *text, *at;
	bool (*known)(const char *name);
	struct arena *arena;
	struct error *err;
	int depth;
};

/* ---- reading ---- */

static int reader_fail(struct condition_reader *r, const char *what)
{
	return error_set(r->err, ERROR_USAGE, "condition \"%s\": %s at character %zu", r->text,
			 what, (size_t)(r->at - r->text) + 1);
}

static void reader_skip(struct condition_reader *r)
{
	r->at += strspn(r->at, " ");
}

static bool reader_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Takes the word or sign if it stands there, as a whole. */
static bool reader_take(struct condition_reader *r, const char *token)
{
	size_t length = strlen(token);

	reader_skip(r);
	if (strncmp(r->at, token, length) != 0 ||
	    (reader_is_word(*token) && reader_is_word(r->at[length])))
		return false;
	r->at += length;
	return true;
}

static int reader_name(struct condition_reader *r, const char **name)
{
	size_t length = 0;

	reader_skip(r);
	while (reader_is_word(r->at[length]))
		length++;
	if (!length || isdigit((unsigned char)*r->at))
		return reader_fail(r, "no name");
	*name = arena_strndup(r->arena, r->at, length);
	if (r->known && !r->known(*name))
		return reader_fail(r, "an unknown name");
	r->at += length;
	return 0;
}

static int reader_in_brackets(struct condition_reader *r, const char **name)
{
	if (!reader_take(r, "("))
		return reader_fail(r, "no '('");
	if (reader_name(r, name) < 0)
		return -1;
	return reader_take(r, ")") ? 0 : reader_fail(r, "no ')'");
}

static int reader_value(struct condition_reader *r, struct condition_value *value)
{
	size_t length;

	reader_skip(r);
	if (*r->at == '\'') {
		length = strcspn(r->at + 1, "'");
		if (!r->at[1 + length])
			return reader_fail(r, "a text without its end");
		*value = (struct condition_value){V_TEXT,
						  arena_strndup(r->arena, r->at + 1, length)};
		r->at += length + 2;
		return 0;
	}
	if (isdigit((unsigned char)*r->at) || *r->at == '-') {
		length = 1;
		while (reader_is_word(r->at[length]))
			length++;
		*value = (struct condition_value){V_TEXT, arena_strndup(r->arena, r->at, length)};
		r->at += length;
		return 0;
	}
	value->kind = reader_take(r, "count") ? V_COUNT : V_NAME;
	return value->kind == V_COUNT ? reader_in_brackets(r, &value->text)
				      : reader_name(r, &value->text);
}

static bool reader_operator(struct condition_reader *r, enum condition_operator *operator)
{
	for (size_t i = 0; i < ARRAY_LEN(operator_names); i++)
		if (reader_take(r, operator_names[i])) {
			*operator=(enum condition_operator) i;
			return true;
		}
	return false;
}

static struct condition *reader_new(struct condition_reader *r, enum condition_kind kind)
{
	struct condition *c = ARENA_NEW(r->arena, struct condition);

	c->kind = kind;
	return c;
}

static int reader_test(struct condition_reader *r, struct condition **out)
{
	struct condition *c = *out = reader_new(r, C_KNOWN);

	if (reader_take(r, "missing")) {
		c->kind = C_MISSING;
		return reader_in_brackets(r, &c->left.text);
	}
	if (reader_take(r, "differs")) {
		c->kind = C_DIFFERS;
		return reader_in_brackets(r, &c->left.text);
	}
	if (reader_take(r, "any"))
		c->kind = C_ANY;
	if (reader_value(r, &c->left) < 0)
		return -1;
	if (!reader_operator(r, &c->operator)) {
		if (c->kind == C_ANY || c->left.kind == V_TEXT)
			return reader_fail(r, "no operator");
		return 0;
	}
	if (c->kind == C_ANY && c->left.kind != V_NAME)
		return reader_fail(r, "no name behind 'any'");
	if (c->kind != C_ANY)
		c->kind = C_COMPARE;
	return reader_value(r, &c->right);
}

static int reader_or(struct condition_reader *r, struct condition **out);

static int reader_one(struct condition_reader *r, struct condition **out)
{
	int rc;

	if (++r->depth > CONDITION_DEPTH_MAX)
		return reader_fail(r, "too many brackets");
	if (reader_take(r, "not")) {
		*out = reader_new(r, C_NOT);
		rc = reader_one(r, &(*out)->first);
	} else if (reader_take(r, "(")) {
		rc = reader_or(r, out);
		if (rc == 0 && !reader_take(r, ")"))
			rc = reader_fail(r, "no ')'");
	} else {
		rc = reader_test(r, out);
	}
	r->depth--;
	return rc;
}

/* one { WORD one }, as pairs that lean left. */
static int reader_chain(struct condition_reader *r, enum condition_kind kind, const char *word,
			int (*next)(struct condition_reader *, struct condition **),
			struct condition **out)
{
	if (next(r, out) < 0)
		return -1;
	while (reader_take(r, word)) {
		struct condition *pair = reader_new(r, kind);

		pair->first = *out;
		*out = pair;
		if (next(r, &pair->second) < 0)
			return -1;
	}
	return 0;
}

static int reader_and(struct condition_reader *r, struct condition **out)
{
	return reader_chain(r, C_AND, "and", reader_one, out);
}

static int reader_or(struct condition_reader *r, struct condition **out)
{
	return reader_chain(r, C_OR, "or", reader_and, out);
}

int condition_parse(const char *text, bool (*known)(const char *name), struct arena *arena,
		    struct condition **condition, struct error *err)
{
	struct condition_reader r = {text, text, known, arena, err, 0};

	if (reader_or(&r, condition) < 0)
		return -1;
	reader_skip(&r);
	return *r.at ? reader_fail(&r, "more than one condition") : 0;
}

/* ---- judging ---- */

static bool condition_number(const char *text, double *number)
{
	char *end;

	*number = strtod(text, &end);
	return end != text && !*end;
}

static bool condition_has(const char *list, const char *word)
{
	return *word && list_has(list, word, strlen(word));
}

static bool condition_compare(const char *left, enum condition_operator operator,
			      const char * right)
{
	double a, b;
	int order;

	if (!*left || !*right)
		return false;
	switch (operator) {
	case OP_CONTAINS:
		return strstr(left, right) != NULL;
	case OP_LIKE:
		return fnmatch(right, left, 0) == 0;
	case OP_HAS:
		return condition_has(left, right);
	default:
		break;
	}
	if (condition_number(left, &a) && condition_number(right, &b))
		order = a < b ? -1 : a > b;
	else if (operator== OP_EQ || operator== OP_NE)
		order = strcmp(left, right);
	else
		order = version_compare(left, right);
	return operator== OP_EQ ? order == 0 :
	       operator== OP_NE ? order != 0
	       :
	       operator== OP_LE ? order <= 0
	       :
	       operator== OP_LT ? order < 0
	       :
	       operator== OP_GE ? order >= 0
				: order> 0;
}

static size_t condition_count(const char *list)
{
	size_t count = *list ? 1 : 0;

	for (; *list; list++)
		count += *list == ';';
	return count;
}

/* `buffer` holds a count. */
static const char *condition_text(const struct condition_value *value,
				  const struct condition_world *world, char buffer[static 32])
{
	const char *text = value->text;

	if (value->kind == V_TEXT)
		return text;
	text = world->value(world->arg, value->text);
	if (value->kind == V_NAME)
		return text;
	snprintf(buffer, 32, "%zu", condition_count(text));
	return buffer;
}

static bool condition_any(const struct condition *c, const struct condition_world *world,
			  const char *right)
{
	_cleanup_(str_release) struct str entry = STR_INIT;
	const char *list = world->value(world->arg, c->left.text);

	while (*list) {
		size_t length = strcspn(list, ";");

		str_clear(&entry);
		str_add_bytes(&entry, list, length);
		/* "-" stands for an entry that is not known */
		if (strcmp(entry.text, "-") != 0 &&
		    condition_compare(entry.text, c->operator, right))
			return true;
		list += length + (list[length] == ';');
	}
	return false;
}

static bool condition_known(const char *text)
{
	return *text && strcmp(text, "no") != 0 && strcmp(text, "0") != 0;
}

bool condition_holds(const struct condition *c, const struct condition_world *world)
{
	char left[32], right[32];

	switch (c->kind) {
	case C_OR:
		return condition_holds(c->first, world) || condition_holds(c->second, world);
	case C_AND:
		return condition_holds(c->first, world) && condition_holds(c->second, world);
	case C_NOT:
		return !condition_holds(c->first, world);
	case C_KNOWN:
		return condition_known(condition_text(&c->left, world, left));
	case C_MISSING:
		return !*world->value(world->arg, c->left.text);
	case C_DIFFERS:
		return world->differs(world->arg, c->left.text);
	case C_ANY:
		return condition_any(c, world, condition_text(&c->right, world, right));
	case C_COMPARE:
		break;
	}
	return condition_compare(condition_text(&c->left, world, left), c->operator,
				 condition_text(&c->right, world, right));
}
