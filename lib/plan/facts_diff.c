/* SPDX-License-Identifier: MIT */
#include "plan/facts_diff.h"

#include <stdlib.h>
#include <string.h>

/* Insertion keeps equal ones in their order; there are few groups. */
static void diff_sort(struct fact_group *groups, size_t count)
{
	for (size_t i = 1; i < count; i++)
		for (size_t k = i; k > 0 && groups[k].hosts.count > groups[k - 1].hosts.count;
		     k--) {
			struct fact_group moved = groups[k];

			groups[k] = groups[k - 1];
			groups[k - 1] = moved;
		}
}

size_t facts_groups(const struct facts *const *hosts, size_t count, size_t row, struct arena *arena,
		    struct fact_group **groups)
{
	size_t found = 0;

	*groups = ARENA_ARRAY(arena, count + 1, struct fact_group);
	for (size_t i = 0; i < count; i++) {
		const char *value = facts_text(hosts[i], row, arena);
		size_t at = 0;

		while (at < found && strcmp((*groups)[at].value, value) != 0)
			at++;
		if (at == found)
			(*groups)[found++] = (struct fact_group){value, WORDS_INIT(arena)};
		words_add(&(*groups)[at].hosts, hosts[i]->host);
	}
	diff_sort(*groups, found);
	return found;
}

size_t facts_differences(const struct facts *const *hosts, size_t count, struct arena *arena,
			 struct fact_difference **differences)
{
	size_t found = 0;

	*differences = ARENA_ARRAY(arena, fact_row_count, struct fact_difference);
	for (size_t row = 0; row < fact_row_count; row++) {
		struct fact_difference *d = &(*differences)[found];

		if (fact_rows[row].habit != FACT_SHARED)
			continue;
		d->row = row;
		d->group_count = facts_groups(hosts, count, row, arena, &d->groups);
		found += d->group_count > 1;
	}
	return found;
}

size_t facts_changes(const struct facts *before, const struct facts *now, struct arena *arena,
		     size_t *rows)
{
	size_t found = 0;

	for (size_t row = 0; row < fact_row_count; row++)
		if (fact_rows[row].habit != FACT_MOVES &&
		    strcmp(facts_text(before, row, arena), facts_text(now, row, arena)) != 0)
			rows[found++] = row;
	return found;
}
