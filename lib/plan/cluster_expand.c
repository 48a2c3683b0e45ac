/* SPDX-License-Identifier: MIT */
/* Host name ranges: "node[01-08]". */
#include "plan/cluster.h"

#include "core/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int expand_into(struct words *out, const char *pattern, const char **why);

/* One "A-B" or "A" inside of the brackets; each number is put between `head` and `tail`. */
static int expand_range(struct words *out, const char *head, int head_length, const char *range,
			size_t length, const char *tail, const char **why)
{
	size_t width = strspn(range, "0123456789");
	unsigned long from, to;

	*why = "a range is written [01-08] or [1,3,5-7]";
	if (!width || width > 9)
		return -1;
	from = to = strtoul(range, NULL, 10);
	if (width < length) {
		size_t digits = strspn(range + width + 1, "0123456789");

		if (range[width] != '-' || !digits || width + 1 + digits != length || digits > 9)
			return -1;
		to = strtoul(range + width + 1, NULL, 10);
	}
	*why = "a range must rise";
	if (to < from)
		return -1;
	*why = "more hosts than one cluster may have";
	if (to - from >= CLUSTER_HOSTS_MAX)
		return -1;
	for (; from <= to; from++) {
		const char *name = arena_printf(out->arena, "%.*s%0*lu%s", head_length, head,
						(int)width, from, tail);

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

int cluster_expand_set(const char *set, struct words *names, const char **why)
{
	const char *start = set;
	int depth = 0;

	for (const char *at = set;; at++) {
		depth += (*at == '[') - (*at == ']');
		if (*at && (*at != ',' || depth > 0))
			continue;
		*why = "a name is empty";
		if (at == start ||
		    expand_into(names, arena_strndup(names->arena, start, (size_t)(at - start)),
				why) < 0)
			return -1;
		start = at + 1;
		if (!*at)
			return 0;
	}
}

int cluster_add_hosts(const struct cluster *cluster, const char *set, struct words *names,
		      struct error *err)
{
	struct words all = WORDS_INIT(names->arena);
	const char *why;

	if (cluster_expand_set(set, &all, &why) < 0)
		return error_set(err, ERROR_USAGE, "'%s': %s", set, why);
	for (size_t i = 0; i < all.count; i++) {
		bool is_new = true;

		if (!cluster_host(cluster, all.list[i]))
			return error_set(err, ERROR_USAGE, "there is no host '%s' in %s",
					 all.list[i], cluster->path);
		for (size_t k = 0; k < names->count; k++)
			is_new = is_new && strcmp(names->list[k], all.list[i]) != 0;
		if (is_new)
			words_add(names, all.list[i]);
	}
	return 0;
}

int cluster_expand(const char *pattern, struct arena *arena, const char ***names, const char **why)
{
	struct words out = WORDS_INIT(arena);

	*why = "the name is empty";
	if (!*pattern || expand_into(&out, pattern, why) < 0 || !out.count)
		return -1;
	*names = out.list;
	return 0;
}
