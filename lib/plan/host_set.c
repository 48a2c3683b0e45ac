/* SPDX-License-Identifier: MIT */
#include "plan/host_set.h"

#include "core/file.h"
#include "core/str.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define SET_DEPTH_MAX 8 /* groups and files that name each other */
#define SET_FILE_CEILING_BYTES MIB
#define DIGITS "0123456789"
#define DIGITS_MAX 9

/* --- ranges --------------------------------------------------------------------------------- */

static int expand_into(struct words *out, const char *pattern, const char **why);

/* A number of the range, at most DIGITS_MAX digits: the rest of the text, or NULL. */
static const char *expand_number(const char *text, unsigned long *number)
{
	size_t digits = strspn(text, DIGITS);

	if (!digits || digits > DIGITS_MAX)
		return NULL;
	*number = strtoul(text, NULL, 10);
	return text + digits;
}

struct range {
	unsigned long from, to, step;
	int width;
};

/* "A", "A-B" or "A-B/STEP", of `length` bytes. */
static int expand_read(const char *text, size_t length, struct range *range, const char **why)
{
	const char *end = text + length, *at;

	*why = "a range is written [01-08], [1,3,5-7] or [0-30/2]";
	range->width = (int)strspn(text, DIGITS);
	range->step = 1;
	at = expand_number(text, &range->from);
	range->to = range->from;
	if (at && at < end && *at == '-')
		at = expand_number(at + 1, &range->to);
	if (at && at < end && *at == '/')
		at = expand_number(at + 1, &range->step);
	if (at != end || !range->step)
		return -1;
	*why = "a range must rise";
	if (range->to < range->from)
		return -1;
	*why = "more hosts than one cluster may have";
	return (range->to - range->from) / range->step >= CLUSTER_HOSTS_MAX ? -1 : 0;
}

/* One range of the brackets; each number is put between `head` and `tail`. */
static int expand_range(struct words *out, const char *head, int head_length, const char *text,
			size_t length, const char *tail, const char **why)
{
	struct range range;

	if (expand_read(text, length, &range, why) < 0)
		return -1;
	for (unsigned long i = range.from; i <= range.to; i += range.step) {
		const char *name = arena_printf(out->arena, "%.*s%0*lu%s", head_length, head,
						range.width, i, tail);

		if (expand_into(out, name, why) < 0)
			return -1;
	}
	return 0;
}

static int expand_into(struct words *out, const char *pattern, const char **why)
{
	const char *open = strchr(pattern, '['), *close = open ? strchr(open, ']') : NULL;

	if (!open && !strchr(pattern, ']')) {
		*why = "more hosts than one cluster may have";
		if (out->count >= CLUSTER_HOSTS_MAX)
			return -1;
		words_add(out, pattern);
		return 0;
	}
	*why = "a '[' needs its ']'";
	if (!open || !close)
		return -1;
	for (const char *range = open + 1; range <= close;) {
		size_t length = strcspn(range, ",]");

		if (expand_range(out, pattern, (int)(open - pattern), range, length, close + 1,
				 why) < 0)
			return -1;
		range += length + 1;
	}
	return 0;
}

/* Where the item ends that begins here: at one of `ends` that stands in no brackets. */
static const char *item_end(const char *at, const char *ends)
{
	int depth = 0;

	for (; *at; at++) {
		depth += (*at == '[') - (*at == ']');
		if (depth <= 0 && strchr(ends, *at))
			break;
	}
	return at;
}

int host_set_expand(const char *set, struct words *names, const char **why)
{
	for (const char *start = set;; start++) {
		const char *end = item_end(start, ",");

		*why = "a name is empty";
		if (end == start ||
		    expand_into(names, arena_strndup(names->arena, start, (size_t)(end - start)),
				why) < 0)
			return -1;
		if (!*end)
			return 0;
		start = end;
	}
}

/* --- sets ----------------------------------------------------------------------------------- */

struct set_reader {
	const struct cluster *cluster;
	struct arena *arena;
	struct error *err;
	int depth;
};

static int set_read(struct set_reader *r, const char *set, struct words *names);

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in the order of their bytes, to look in. */
static const char **set_sorted(const struct words *names)
{
	const char **sorted = ARENA_ARRAY(names->arena, names->count + 1, const char *);

	if (names->count)
		memcpy(sorted, names->list, names->count * sizeof(*sorted));
	qsort(sorted, names->count, sizeof(*sorted), compare_texts);
	return sorted;
}

/* Only those that are in `other`, or only those that are not. */
static void set_keep(struct words *names, const struct words *other, bool in)
{
	const char **sorted = set_sorted(other);
	size_t kept = 0;

	for (size_t i = 0; i < names->count; i++) {
		bool found = bsearch(&names->list[i], sorted, other->count, sizeof(*sorted),
				     compare_texts);

		if (found == in)
			names->list[kept++] = names->list[i];
	}
	names->count = kept;
	if (names->list)
		names->list[kept] = NULL;
}

struct set_name {
	const char *text;
	size_t index;
};

static int compare_names(const void *a, const void *b)
{
	const struct set_name *left = a, *right = b;
	int order = strcmp(left->text, right->text);

	return order ? order : (left->index > right->index) - (left->index < right->index);
}

/* Adds those that are not there yet, each once. */
static void set_join(struct words *names, const struct words *more)
{
	size_t count = names->count + more->count, kept = 0;
	struct set_name *sorted = ARENA_ARRAY(names->arena, count + 1, struct set_name);

	words_add_all(names, words_list(more));
	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct set_name){names->list[i], i};
	qsort(sorted, count, sizeof(*sorted), compare_names);
	for (size_t i = 1; i < count; i++)
		if (strcmp(sorted[i].text, sorted[i - 1].text) == 0)
			names->list[sorted[i].index] = NULL;
	for (size_t i = 0; i < count; i++)
		if (names->list[i])
			names->list[kept++] = names->list[i];
	names->count = kept;
	if (names->list)
		names->list[kept] = NULL;
}

static const char *set_group(const struct set_reader *r, const char *name)
{
	size_t length = strlen(name);

	for (const char *const *group = r->cluster->groups; *group; group++)
		if (strncmp(*group, name, length) == 0 && (*group)[length] == '=')
			return *group + length + 1;
	return NULL;
}

static int set_add_group(struct set_reader *r, const char *name, struct words *names)
{
	const char *set = set_group(r, name);

	if (strcmp(name, "*") == 0) {
		for (size_t i = 0; i < r->cluster->host_count; i++)
			words_add(names, r->cluster->hosts[i].name);
		return 0;
	}
	if (!set)
		return error_set(r->err, ERROR_USAGE,
				 "there is no group '@%s'; 'groups' in %s names them", name,
				 r->cluster->path);
	return set_read(r, set, names);
}

static int set_add_file(struct set_reader *r, const char *path, struct words *names)
{
	char *text, *line;
	int number = 0;

	if (file_read_named(path, SET_FILE_CEILING_BYTES, r->arena, &text, NULL, r->err) < 0)
		return error_of_input(r->err);
	while ((line = strsep(&text, "\n"))) {
		char *word;

		number++;
		line[strcspn(line, "#")] = '\0';
		while ((word = strsep(&line, " \t\r")))
			if (*word && set_read(r, word, names) < 0)
				return error_wrap(r->err, "%s:%d", path, number);
	}
	return 0;
}

static void set_add_matching(const struct set_reader *r, const char *pattern, struct words *names)
{
	for (size_t i = 0; i < r->cluster->host_count; i++)
		if (fnmatch(pattern, r->cluster->hosts[i].name, 0) == 0)
			words_add(names, r->cluster->hosts[i].name);
}

static int set_add_item(struct set_reader *r, const char *item, struct words *names)
{
	const char *why;

	if (*item == '@')
		return set_add_group(r, item + 1, names);
	if (*item == '^')
		return set_add_file(r, item + 1, names);
	if (strpbrk(item, "*?") && !strchr(item, '[')) {
		set_add_matching(r, item, names);
		return names->count ? 0
				    : error_set(r->err, ERROR_USAGE, "no host of %s matches '%s'",
						r->cluster->path, item);
	}
	if (host_set_expand(item, names, &why) < 0)
		return error_set(r->err, ERROR_USAGE, "'%s': %s", item, why);
	return 0;
}

/* "a,b!c&d": each item joins what stands before it, or takes from it. */
static int set_read(struct set_reader *r, const char *set, struct words *names)
{
	struct words own = WORDS_INIT(r->arena);
	char sign = ',';

	if (r->depth == SET_DEPTH_MAX)
		return error_set(r->err, ERROR_USAGE, "'%s': groups or files that name each other",
				 set);
	r->depth++;
	for (const char *at = set;; at++) {
		struct words item = WORDS_INIT(r->arena);
		const char *end = item_end(at, ",!&");

		if (end == at && !(at == set && *at == '!'))
			return error_set(r->err, ERROR_USAGE, "'%s': a name is empty", set);
		if (end == at)
			set_add_group(r, "*", &item); /* "!node03": all but */
		else if (set_add_item(r, arena_strndup(r->arena, at, (size_t)(end - at)), &item) <
			 0)
			return -1;
		if (sign == ',')
			set_join(&own, &item);
		else
			set_keep(&own, &item, sign == '&');
		sign = *end;
		at = end;
		if (!*end)
			break;
	}
	r->depth--;
	set_join(names, &own);
	return 0;
}

void host_set_drop(struct words *names, const struct words *out)
{
	set_keep(names, out, false);
}

int host_set_names(const struct cluster *cluster, const char *set, struct words *names,
		   struct error *err)
{
	struct set_reader reader = {cluster, names->arena, err, 0};

	return set_read(&reader, set, names);
}

int host_set_of_cluster(const struct cluster *cluster, const char *set, struct words *names,
			struct error *err)
{
	struct words all = WORDS_INIT(names->arena), known = WORDS_INIT(names->arena);

	if (host_set_names(cluster, set, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all.count; i++) {
		const struct host *host = cluster_host(cluster, all.list[i]);

		if (!host)
			return error_set(err, ERROR_USAGE, "there is no host '%s' in %s",
					 all.list[i], cluster->path);
		words_add(&known, host->name);
	}
	set_join(names, &known);
	return 0;
}
