/* SPDX-License-Identifier: MIT */
/* fleet_support.h - a fleet from cluster.yaml text, without a single connection. */
#ifndef TESTS_UNIT_FLEET_SUPPORT_H
#define TESTS_UNIT_FLEET_SUPPORT_H

#include "tests/unit/support.h"

#include "core/quote.h"
#include "deployer/fleet.h"

/* As fleet_init leaves it, with facts and state of a fresh host. The caller closes the fleet. */
static inline void make_fleet(struct scratch *s, const char *yaml, struct fleet *fleet)
{
	struct cluster *cluster = ARENA_NEW(&s->arena, struct cluster);
	struct fleet_options options = {0};
	struct error err = {0};

	assert_fine(cluster_load(put(s, "cluster.yaml", yaml), &s->arena, cluster, &err));
	assert_fine(fleet_init(cluster, &options, &s->arena, fleet, &err));
	for (size_t i = 0; i < fleet->count; i++) {
		struct member *m = &fleet->members[i];

		assert_fine(facts_parse(m->host->name, "kernel=6.1\ninterface=eth0\n", 0, &m->arena,
					&m->facts, &err));
		m->state = (struct host_state){.container_id = "",
					       .config = "",
					       .image = "",
					       .started = "",
					       .mesh = "",
					       .folder = "/var/lib/ringup/lab"};
	}
}

/* The words as one line, quoted where needed. */
static inline const char *line_of(struct scratch *s, const char *const *words)
{
	_cleanup_(str_release) struct str line = {0};

	str_init(&line);
	quote_words(&line, words);
	return arena_strdup(&s->arena, line.text);
}

static inline size_t count_word(const char *const *words, const char *word)
{
	size_t count = 0;

	for (; *words; words++)
		count += strcmp(*words, word) == 0;
	return count;
}

/* The word behind `word`, or NULL. */
static inline const char *word_after(const char *const *words, const char *word)
{
	for (; *words; words++)
		if (strcmp(*words, word) == 0)
			return words[1];
	return NULL;
}

#endif
