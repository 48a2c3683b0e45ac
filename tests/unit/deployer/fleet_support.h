/* SPDX-License-Identifier: MIT */
/* fleet_support.h - a fleet from cluster.yaml text, without a single connection. */
#ifndef TESTS_UNIT_DEPLOYER_FLEET_SUPPORT_H
#define TESTS_UNIT_DEPLOYER_FLEET_SUPPORT_H

#include "tests/unit/support.h"

#include "core/quote.h"
#include "deployer/fleet.h"

#define FLEETS_MAX 64

/* Those that the running test has made. */
static struct fleet *made_fleets[FLEETS_MAX];
static size_t made_count;

/* As fleet_init leaves it, with facts and state of a fresh host. Closed when the test ends. */
static inline struct fleet *make_fleet(struct scratch *s, const char *yaml)
{
	struct cluster *cluster = ARENA_NEW(&s->arena, struct cluster);
	struct fleet *fleet = ARENA_NEW(&s->arena, struct fleet);
	struct fleet_options options = {0};
	struct error err = {0};

	assert_fine(cluster_load(put(s, "cluster.yaml", yaml), &s->arena, cluster, &err));
	assert_fine(fleet_init(cluster, &options, &s->arena, fleet, &err));
	assert_true(made_count < FLEETS_MAX);
	made_fleets[made_count++] = fleet;
	for (size_t i = 0; i < fleet->count; i++) {
		struct member *m = &fleet->members[i];

		assert_fine(facts_parse(m->host->name, "kernel=6.1\ninterface=eth0\n", NULL,
					&m->arena, &m->facts, &err));
		m->state = (struct host_state){.can = abilities_unknown,
					       .container_id = "",
					       .config = "",
					       .image = "",
					       .settings = "",
					       .started = "",
					       .status = "",
					       .mesh = "",
					       .container_owner = owner_nobody,
					       .owner = owner_nobody,
					       .folder = "/var/lib/ringup/lab"};
	}
	return fleet;
}

static inline int fleet_teardown(void **state)
{
	while (made_count)
		fleet_close(made_fleets[--made_count]);
	return scratch_teardown(state);
}

/* A test with a scratch in *state that may make fleets. */
#define FLEET_TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, fleet_teardown)

/* The words as one line, quoted where needed. */
static inline const char *line_of(struct scratch *s, const char *const *words)
{
	_cleanup_(str_release) struct str line = STR_INIT;

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
