/* SPDX-License-Identifier: MIT */
/*
 * As much of TOML as a registries.conf needs: tables, arrays of tables, and keys with texts and
 * booleans. Other values are passed over. https://toml.io/en/v1.0.0
 */
#include "registry-client/mirrors.h"

#include <stdio.h>
#include <string.h>

enum table { TABLE_OTHER, TABLE_REGISTRY, TABLE_MIRROR };

struct reader {
	const char *path, *p;
	int line;
	enum table table;
	struct arena *arena;
	struct registry_entry **list;
	struct error *err;
};

/* One value: a text, true or false, or something that is passed over. */
struct value {
	const char *text; /* or NULL */
	bool is_bool, truth;
};

static int bad(const struct reader *r, const char *what)
{
	return error_set(r->err, ERROR_USAGE, "%s:%d: %s", r->path, r->line, what);
}

static void skip_blanks(struct reader *r)
{
	r->p += strspn(r->p, " \t\r");
}

static void skip_comment(struct reader *r)
{
	skip_blanks(r);
	if (*r->p == '#')
		r->p += strcspn(r->p, "\n");
}

/* "..." with \" and \\, or '...'; of other escapes none makes sense in a name. */
static int read_text(struct reader *r, const char **text)
{
	char quote = *r->p++, *out = arena_alloc(r->arena, strcspn(r->p, "\n") + 1);

	*text = out;
	for (; *r->p && *r->p != '\n' && *r->p != quote; r->p++) {
		if (quote == '"' && *r->p == '\\' && *++r->p != '"' && *r->p != '\\')
			return bad(r, "an escape that makes no sense in a registry's name");
		*out++ = *r->p;
	}
	*out = '\0';
	if (*r->p != quote)
		return bad(r, "a text without an end");
	r->p++;
	return 0;
}

/* Arrays and inline tables, over lines. */
static int skip_brackets(struct reader *r)
{
	const char *ignored;
	int depth = 0;

	do {
		r->p += strcspn(r->p, "[]{}\"'#\n");
		if (*r->p == '"' || *r->p == '\'') {
			if (read_text(r, &ignored) < 0)
				return -1;
			continue;
		}
		if (*r->p == '#') {
			r->p += strcspn(r->p, "\n");
			continue;
		}
		if (!*r->p)
			return bad(r, "a list without an end");
		r->line += *r->p == '\n';
		depth += *r->p == '[' || *r->p == '{';
		depth -= *r->p == ']' || *r->p == '}';
		r->p++;
	} while (depth > 0);
	return 0;
}

static int read_value(struct reader *r, struct value *value)
{
	size_t length = strcspn(r->p, " \t\r\n#");

	*value = (struct value){0};
	if (*r->p == '"' || *r->p == '\'')
		return read_text(r, &value->text);
	if (*r->p == '[' || *r->p == '{')
		return skip_brackets(r);
	value->truth = length == 4 && strncmp(r->p, "true", 4) == 0;
	value->is_bool = value->truth || (length == 5 && strncmp(r->p, "false", 5) == 0);
	r->p += length;
	return length ? 0 : bad(r, "a key without a value");
}

static int read_table(struct reader *r)
{
	size_t length = strcspn(r->p, "\n#");
	struct registry_entry *entry = *r->list;
	char name[64];

	while (length && strchr(" \t\r", r->p[length - 1]))
		length--;
	snprintf(name, sizeof(name), "%.*s", (int)length, r->p);
	r->p += length;
	r->table = TABLE_OTHER;
	if (strcmp(name, "[[registry]]") == 0) {
		r->table = TABLE_REGISTRY;
		entry = ARENA_NEW(r->arena, struct registry_entry);
		*entry = (struct registry_entry){*r->list, "", "", .mirror_count = 0};
		*r->list = entry;
	} else if (strcmp(name, "[[registry.mirror]]") == 0) {
		if (!entry)
			return bad(r, "a [[registry.mirror]] before the first [[registry]]");
		if (entry->mirror_count == MIRRORS_MAX)
			return bad(r, "too many mirrors of one registry");
		r->table = TABLE_MIRROR;
		entry->mirrors[entry->mirror_count].location = "";
		entry->mirrors[entry->mirror_count++].pulls = "all";
	} else if (r->p[-1] != ']') {
		return bad(r, "a table's name without its ']'");
	}
	return 0;
}

static int take_text(struct reader *r, const struct value *value, const char **place)
{
	if (!value->text)
		return bad(r, "the value must be a text in quotes");
	*place = value->text;
	return 0;
}

static int take_bool(struct reader *r, const struct value *value, bool *place)
{
	if (!value->is_bool)
		return bad(r, "the value must be true or false");
	*place = value->truth;
	return 0;
}

static int take(struct reader *r, const char *key, const struct value *value)
{
	struct registry_entry *entry = *r->list;
	size_t last;

	if (r->table == TABLE_REGISTRY) {
		if (strcmp(key, "prefix") == 0)
			return take_text(r, value, &entry->prefix);
		if (strcmp(key, "location") == 0)
			return take_text(r, value, &entry->location);
		if (strcmp(key, "insecure") == 0)
			return take_bool(r, value, &entry->insecure);
		if (strcmp(key, "blocked") == 0)
			return take_bool(r, value, &entry->blocked);
		if (strcmp(key, "mirror-by-digest-only") == 0)
			return take_bool(r, value, &entry->by_digest_only);
		if (strcmp(key, "mirror") == 0)
			return bad(r, "mirrors are read as [[registry.mirror]] tables");
	}
	if (r->table == TABLE_MIRROR) {
		last = entry->mirror_count - 1;
		if (strcmp(key, "location") == 0)
			return take_text(r, value, &entry->mirrors[last].location);
		if (strcmp(key, "insecure") == 0)
			return take_bool(r, value, &entry->mirrors[last].insecure);
		if (strcmp(key, "pull-from-mirror") == 0)
			return take_text(r, value, &entry->mirrors[last].pulls);
	}
	return 0;
}

static int read_key(struct reader *r)
{
	size_t length = strcspn(r->p, " \t\r\n=#");
	const char *key = arena_strndup(r->arena, r->p, length);
	struct value value;

	r->p += length;
	skip_blanks(r);
	if (!length || *r->p != '=')
		return bad(r, "neither a table nor KEY = VALUE");
	r->p++;
	skip_blanks(r);
	return read_value(r, &value) < 0 ? -1 : take(r, key, &value);
}

int registries_conf_parse(const char *path, const char *text, struct arena *arena,
			  struct registry_entry **list, struct error *err)
{
	struct registry_entry *before = *list;
	struct reader r = {
		.path = path, .p = text, .line = 1, .arena = arena, .list = list, .err = err};

	for (skip_comment(&r); *r.p; skip_comment(&r)) {
		if (*r.p == '\n') {
			r.p++;
			r.line++;
			continue;
		}
		if (*r.p == '[' ? read_table(&r) < 0 : read_key(&r) < 0)
			return -1;
		skip_comment(&r);
		if (*r.p && *r.p != '\n')
			return bad(&r, "something behind the value");
	}
	for (struct registry_entry *e = *list; e != before; e = e->next) {
		if (!*e->prefix)
			e->prefix = e->location;
		if (!*e->location && strncmp(e->prefix, "*.", 2) != 0)
			e->location = e->prefix;
		if (!*e->prefix)
			return error_set(err, ERROR_USAGE,
					 "%s: a [[registry]] without a prefix and a location",
					 path);
	}
	return 0;
}
