/* SPDX-License-Identifier: MIT */
/* Request words, one on each line, against the whole catalog: units and what they admit. */
#include "tests/fuzz/fuzz.h"

#include "resolver/request.h"

#define WORDS_MAX 8

/* The catalog is read once; what a run allocates goes to the arena of that run. */
static struct model model_for(struct arena *arena)
{
	static struct arena forever = ARENA_INIT;
	static struct catalog catalog;
	static struct model shared;
	struct model_options options = {0};
	struct error err = {0};
	struct model model;

	if (!shared.arena) {
		fuzz_check(catalog_load("recipes/catalog", &forever, &catalog, &err) == 0);
		fuzz_check(model_build(&catalog, &options, &forever, &shared, &err) == 0);
	}
	model = shared;
	model.arena = arena;
	return model;
}

/* A GPU that was found has its row's name; its capability is "N.N". */
static void check_pin(const struct unit *unit)
{
	if (unit->component == COMPONENT_DRIVER) {
		fuzz_check(unit->driver && unit->driver[0]);
		return;
	}
	fuzz_check(unit->component == COMPONENT_GPU);
	fuzz_check(unit->product && unit->product[0] && unit->sm && strchr(unit->sm, '.'));
	fuzz_check(unit->class && (!unit->gpu || strcmp(unit->product, unit->gpu->version) == 0));
}

static void check_unit(const struct model *model, const struct unit *unit, const char *word)
{
	fuzz_check(strcmp(unit->text, word) == 0 && !unit->hosts);
	fuzz_check(unit->component < COMPONENT_COUNT);
	fuzz_check(strcmp(component_names[unit->component], unit->req.name) == 0);
	if (unit->is_pin)
		check_pin(unit);
	for (int c = 0; c < COMPONENT_COUNT; c++)
		for (size_t i = 0; unit->admits[c] && i < model->domains[c].count; i++)
			fuzz_check(unit->admits[c][i] <= ADMIT_COMPAT);
	/* a plain word leaves everything, one with clauses speaks of its own component alone */
	for (int c = 0; c < COMPONENT_COUNT && !unit->is_pin; c++)
		fuzz_check(!unit->admits[c] ==
			   (!unit->req.clause_count || c != (int)unit->component));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	struct model model = model_for(&arena);
	const char *words[WORDS_MAX + 1] = {0};
	struct units units = {0};
	struct error err = {0};
	size_t count = 0;
	int rc;

	for (char *rest = text, *line; count < WORDS_MAX && (line = strsep(&rest, "\n"));)
		words[count++] = line;
	rc = units_read(&model, words, &units, &err);
	fuzz_check_error(rc, &err);
	fuzz_check(rc == 0 ? units.count == count : err.kind == ERROR_USAGE);
	if (rc < 0)
		return 0;
	units_apply(&model, &units);
	for (size_t i = 0; i < count; i++) {
		fuzz_check(units.asked & COMPONENT_BIT(units.list[i].component));
		check_unit(&model, &units.list[i], words[i]);
	}
	return 0;
}
