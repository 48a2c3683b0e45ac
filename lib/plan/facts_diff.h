/* SPDX-License-Identifier: MIT */
/*
 * facts_diff.h - what differs between hosts, and between a host and what it was.
 *
 * Only facts that hosts of one kind share are compared between hosts (FACT_SHARED), and all but
 * those that move are compared with an earlier probe. What only one side knows is a difference.
 */
#ifndef PLAN_FACTS_DIFF_H
#define PLAN_FACTS_DIFF_H

#include "core/words.h"
#include "plan/facts.h"

/* Hosts that say the same of one fact. */
struct fact_group {
	const char *value; /* "" unknown */
	struct words hosts;
};

struct fact_difference {
	size_t row;
	size_t group_count;	   /* 2 or more */
	struct fact_group *groups; /* the largest first; equal ones in the order of the hosts */
};

/* Returns how many facts differ; *differences is in the arena, in the order of fact_rows. */
size_t facts_differences(const struct facts *const *hosts, size_t count, struct arena *arena,
			 struct fact_difference **differences);

/* The groups of one fact, largest first. Returns how many there are: 1 where all hosts agree. */
size_t facts_groups(const struct facts *const *hosts, size_t count, size_t row, struct arena *arena,
		    struct fact_group **groups);

/* Adds the rows of the facts of one host that are other ones than before. `rows` has room for all. */
size_t facts_changes(const struct facts *before, const struct facts *now, struct arena *arena,
		     size_t *rows);

#endif
