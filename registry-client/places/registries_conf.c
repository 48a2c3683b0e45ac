/* SPDX-License-Identifier: MIT */
#include "registry-client/places/registries_conf.h"

#include <stdio.h>
#include <string.h>

enum table { TABLE_TOP, TABLE_REGISTRY, TABLE_MIRROR, TABLE_OTHER };

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

static int registries_conf_bad(const struct reader *r, const char *what)
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

/* Skips blank lines and comments. */
static void skip_lines(struct reader *r)
{
	for (skip_comment(r); *r->p == '\n'; skip_comment(r)) {
		r->p++;
		r->line++;
	}
}

/* "..." with \" and \\, or '...'; of other escapes none makes sense in a name. */
static int registries_conf_read_text(struct reader *r, const char **text)
{
	char quote = *r->p++, *out = arena_alloc(r->arena, strcspn(r->p, "\n") + 1);

	*text = out;
	for (; *r->p && *r->p != '\n' && *r->p != quote; r->p++) {
		if (quote == '"' && *r->p == '\\' && *++r->p != '"' && *r->p != '\\')
			return registries_conf_bad(
				r, "an escape that makes no sense in a registry's name");
		*out++ = *r->p;
	}
	*out = '\0';
	if (*r->p != quote)
		return registries_conf_bad(r, "a text without an end");
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
			if (registries_conf_read_text(r, &ignored) < 0)
				return -1;
			continue;
		}
		if (*r->p == '#') {
			r->p += strcspn(r->p, "\n");
			continue;
		}
		if (!*r->p)
			return registries_conf_bad(r, "a list without an end");
		r->line += *r->p == '\n';
		depth += *r->p == '[' || *r->p == '{';
		depth -= *r->p == ']' || *r->p == '}';
		r->p++;
	} while (depth > 0);
	return 0;
}

static int registries_conf_read_value(struct reader *r, struct value *value)
{
	size_t length = strcspn(r->p, " \t\r\n#,]}");

	*value = (struct value){0};
	if (*r->p == '"' || *r->p == '\'')
		return registries_conf_read_text(r, &value->text);
	if (*r->p == '[' || *r->p == '{')
		return skip_brackets(r);
	value->truth = length == 4 && strncmp(r->p, "true", 4) == 0;
	value->is_bool = value->truth || (length == 5 && strncmp(r->p, "false", 5) == 0);
	r->p += length;
	return length ? 0 : registries_conf_bad(r, "a key without a value");
}

static int begin_table(struct reader *r, enum table table)
{
	struct registry_entry *entry = *r->list;

	r->table = table;
	if (table == TABLE_REGISTRY) {
		entry = ARENA_NEW(r->arena, struct registry_entry);
		*entry = (struct registry_entry){*r->list, "", "", .mirror_count = 0};
		*r->list = entry;
	}
	if (table != TABLE_MIRROR)
		return 0;
	if (!entry)
		return registries_conf_bad(r,
					   "a [[registry.mirror]] before the first [[registry]]");
	if (entry->mirror_count == MIRRORS_MAX)
		return registries_conf_bad(r, "too many mirrors of one registry");
	entry->mirrors[entry->mirror_count].location = "";
	entry->mirrors[entry->mirror_count++].pulls = "all";
	return 0;
}

/* A line "[NAME]" or "[[NAME]]"; blanks and quotes in it mean nothing. */
static int read_table(struct reader *r)
{
	size_t end = strcspn(r->p, "\n#"), length = 0;
	char name[64], last = '\0';

	for (size_t i = 0; i < end; i++) {
		if (strchr(" \t\r\"'", r->p[i]))
			continue;
		last = r->p[i];
		if (length + 1 < sizeof(name))
			name[length++] = last;
	}
	name[length] = '\0';
	r->p += end;
	if (last != ']')
		return registries_conf_bad(r, "a table's name without its ']'");
	return begin_table(r, strcmp(name, "[[registry]]") == 0		 ? TABLE_REGISTRY
			      : strcmp(name, "[[registry.mirror]]") == 0 ? TABLE_MIRROR
									 : TABLE_OTHER);
}

static int registries_conf_take_text(struct reader *r, const struct value *value,
				     const char **place)
{
	if (!value->text)
		return registries_conf_bad(r, "the value must be a text in quotes");
	*place = value->text;
	return 0;
}

static int take_bool(struct reader *r, const struct value *value, bool *place)
{
	if (!value->is_bool)
		return registries_conf_bad(r, "the value must be true or false");
	*place = value->truth;
	return 0;
}

static int registries_conf_take(struct reader *r, const char *key, const struct value *value)
{
	struct registry_entry *entry = *r->list;
	size_t last;

	if (r->table == TABLE_REGISTRY) {
		if (strcmp(key, "prefix") == 0)
			return registries_conf_take_text(r, value, &entry->prefix);
		if (strcmp(key, "location") == 0)
			return registries_conf_take_text(r, value, &entry->location);
		if (strcmp(key, "insecure") == 0)
			return take_bool(r, value, &entry->insecure);
		if (strcmp(key, "blocked") == 0)
			return take_bool(r, value, &entry->blocked);
		if (strcmp(key, "mirror-by-digest-only") == 0)
			return take_bool(r, value, &entry->by_digest_only);
	}
	if (r->table == TABLE_MIRROR) {
		last = entry->mirror_count - 1;
		if (strcmp(key, "location") == 0)
			return registries_conf_take_text(r, value, &entry->mirrors[last].location);
		if (strcmp(key, "insecure") == 0)
			return take_bool(r, value, &entry->mirrors[last].insecure);
		if (strcmp(key, "pull-from-mirror") == 0)
			return registries_conf_take_text(r, value, &entry->mirrors[last].pulls);
	}
	return 0;
}

static int read_pair(struct reader *r);

/* {KEY = VALUE, ...} */
static int read_inline(struct reader *r, enum table table)
{
	if (*r->p++ != '{')
		return registries_conf_bad(r, "a list of tables {KEY = VALUE, ...} is wanted here");
	if (begin_table(r, table) < 0)
		return -1;
	for (skip_lines(r); *r->p != '}'; skip_lines(r)) {
		if (read_pair(r) < 0)
			return -1;
		skip_lines(r);
		if (*r->p != '}' && *r->p++ != ',')
			return registries_conf_bad(r, "a table without its '}'");
	}
	r->p++;
	return 0;
}

/* [{...}, ...]: the same as so many [[...]]. */
static int read_tables(struct reader *r, enum table table)
{
	enum table before = r->table;

	if (*r->p++ != '[')
		return registries_conf_bad(r,
					   "a list of tables [{KEY = VALUE, ...}] is wanted here");
	for (skip_lines(r); *r->p != ']'; skip_lines(r)) {
		if (read_inline(r, table) < 0)
			return -1;
		skip_lines(r);
		if (*r->p != ']' && *r->p++ != ',')
			return registries_conf_bad(r, "a list without an end");
	}
	r->p++;
	r->table = before;
	return 0;
}

static int read_name(struct reader *r, const char **key)
{
	size_t length = strcspn(r->p, " \t\r\n=#,{}[]");

	if (*r->p == '"' || *r->p == '\'')
		return registries_conf_read_text(r, key);
	*key = arena_strndup(r->arena, r->p, length);
	r->p += length;
	return length ? 0 : registries_conf_bad(r, "neither a table nor KEY = VALUE");
}

static int read_pair(struct reader *r)
{
	struct value value;
	const char *key;

	if (read_name(r, &key) < 0)
		return -1;
	skip_blanks(r);
	if (*r->p != '=')
		return registries_conf_bad(r, "neither a table nor KEY = VALUE");
	r->p++;
	skip_blanks(r);
	if (r->table == TABLE_TOP && strcmp(key, "registry") == 0)
		return read_tables(r, TABLE_REGISTRY);
	if (r->table == TABLE_REGISTRY && strcmp(key, "mirror") == 0)
		return read_tables(r, TABLE_MIRROR);
	return registries_conf_read_value(r, &value) < 0 ? -1
							 : registries_conf_take(r, key, &value);
}

/* Makes the entry complete: a prefix and a location for it, and a location for each mirror. */
static int registries_conf_complete(struct reader *r, struct registry_entry *entry)
{
	if (!*entry->prefix)
		entry->prefix = entry->location;
	if (!*entry->location && strncmp(entry->prefix, "*.", 2) != 0)
		entry->location = entry->prefix;
	if (!*entry->prefix)
		return error_set(r->err, ERROR_USAGE,
				 "%s: a [[registry]] without a prefix and a location", r->path);
	for (size_t i = 0; i < entry->mirror_count; i++)
		if (!*entry->mirrors[i].location)
			return error_set(r->err, ERROR_USAGE,
					 "%s: a mirror of %s without a location", r->path,
					 entry->prefix);
	return 0;
}

int registries_conf_parse(const char *path, const char *text, struct arena *arena,
			  struct registry_entry **list, struct error *err)
{
	struct registry_entry *before = *list;
	struct reader r = {
		.path = path, .p = text, .line = 1, .arena = arena, .list = list, .err = err};

	for (skip_lines(&r); *r.p; skip_lines(&r)) {
		if (*r.p == '[' ? read_table(&r) < 0 : read_pair(&r) < 0)
			return -1;
		skip_comment(&r);
		if (*r.p && *r.p != '\n')
			return registries_conf_bad(&r, "something behind the value");
	}
	for (struct registry_entry *e = *list; e != before; e = e->next)
		if (registries_conf_complete(&r, e) < 0)
			return -1;
	return 0;
}
