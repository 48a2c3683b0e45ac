/* SPDX-License-Identifier: MIT */
/*
 * Which rows fit the requests. A request on a component is a unit of the search: the row stays when
 * there is a stack with it. Any other request concerns a cell of the row itself.
 */
#include "resolver/matrix/matrix_filter.h"

#include "resolver/matrix/matrix.h"

#include "core/clock.h"
#include "core/str.h"
#include "core/words.h"
#include "resolver/search/conflict.h"
#include "resolver/rules/rules.h"
#include "resolver/matrix/matrix_cells.h"

#include <ctype.h>
#include <string.h>

/* One request word. */
struct wish {
	const char *text;
	bool is_unit;
	size_t unit;			 /* its index in units, if it is a unit */
	struct matrix_question question; /* the question on a cell, if it is no unit */
};

#define WITNESSES_MAX 32

struct sieve {
	const struct catalog *catalog;
	struct arena *arena;
	struct matrix *matrix;
	enum component component; /* COMPONENT_NONE: the table is no component's */
	size_t count, unit_count;
	struct wish *wishes;
	/* only when there are units */
	bool is_pin; /* the rows are drivers or GPUs of hosts: each is a unit of its own */
	struct model model;
	struct units units;
	struct search search;
	const struct value **values; /* by row of the table */
	const struct value *last;    /* the last GPU that was asked about, and the answer */
	bool last_found;
	size_t witness_count;
	struct assignment witnesses[WITNESSES_MAX]; /* stacks that were found, latest last */
};

#define NO_WISH SIZE_MAX

/* --- requests on stacks --------------------------------------------------------------------- */

static const struct unit *unit_of(const struct sieve *sieve, size_t wish)
{
	return sieve->wishes[wish].is_unit ? &sieve->units.list[sieve->wishes[wish].unit] : NULL;
}

/*
 * Whether the product has the requested words: V100 means both boards, but A10 does not mean A100.
 */
static bool has_name(const char *product, const char *asked)
{
	for (const char *at = product; *at; at++) {
		size_t i = 0;

		if (at > product && isalnum((unsigned char)at[-1]))
			continue;
		while (asked[i] &&
		       (tolower((unsigned char)at[i]) == tolower((unsigned char)asked[i]) ||
			(at[i] == ' ' && asked[i] == '_')))
			i++;
		if (!asked[i] && !isalnum((unsigned char)at[i]))
			return true;
	}
	return false;
}

/*
 * Checks a request on the listed component itself when the rows are pins, because the search cannot
 * have both.
 */
static bool own_pin_fits(const struct unit *unit, const struct value *value)
{
	if (unit->component == COMPONENT_DRIVER)
		return requirement_admits_series(&unit->req, value->version);
	if (!unit->is_pin)
		return true;
	if (!unit->gpu)
		return strcmp(unit->sm, value_cell(value, "sm")) == 0;
	return unit->gpu == value || has_name(value->version, unit->req.clauses[0].version);
}

/*
 * Bit per unit that the search must satisfy: all except `skip` and those that own_pin_fits checks.
 */
static uint64_t active_units(const struct sieve *sieve, size_t skip)
{
	uint64_t active = 0;

	for (size_t i = 0; i < sieve->count; i++) {
		const struct unit *unit = unit_of(sieve, i);

		if (unit && i != skip && !(sieve->is_pin && unit->component == sieve->component))
			active |= 1ULL << sieve->wishes[i].unit;
	}
	return active;
}

/* The components that the active units name. */
static uint32_t asked_components(const struct sieve *sieve, uint64_t active)
{
	uint32_t asked = 0;

	for (size_t i = 0; i < sieve->units.count; i++)
		if (active >> i & 1)
			asked |= COMPONENT_BIT(sieve->units.list[i].component);
	return asked;
}

/* The highest level allows all that the lower ones do. */
static enum search_level highest_level(const struct sieve *sieve, uint64_t active)
{
	for (size_t i = 0; i < sieve->units.count && sieve->units.compat; i++)
		if (active >> i & 1 && sieve->units.list[i].class)
			return LEVEL_COMPAT;
	return LEVEL_SOURCE_PYTHON;
}

/*
 * Components of the stack. Without a request for GPUs or frameworks a stack for CPUs is enough:
 * NVIDIA has no CUDA for every OS.
 */
static uint32_t parts_of(const struct sieve *sieve, uint64_t active)
{
	uint32_t parts = stack_parts(&sieve->model, &sieve->units, active);
	uint32_t own = COMPONENT_BIT(sieve->component);

	if (!((asked_components(sieve, active) | own) & (COMPONENTS_GPU | COMPONENTS_PIP)))
		parts &= ~COMPONENTS_GPU;
	return sieve->is_pin ? parts : components_with_bases(parts | own);
}

/* Adds the row as a host's driver or GPU, after the requested units. */
static uint64_t put_pin(struct sieve *sieve, const struct value *value)
{
	struct unit *unit = &sieve->units.list[sieve->unit_count];

	*unit = (struct unit){
		.text = value->version, .component = value->component, .is_pin = true};
	if (value->component == COMPONENT_DRIVER) {
		unit->driver = value->version;
	} else {
		unit->gpu = value;
		unit->product = value->version;
		unit->sm = value_cell(value, "sm");
		unit->class = value_cell(value, "class");
	}
	units_apply(&sieve->model, &sieve->units);
	return 1ULL << sieve->unit_count;
}

/*
 * Checks again whether the GPU can run an older CUDA with a wheel's PTX, since that depends on the
 * wheel and the GPU.
 */
static bool cuda_still_fits(struct search *s)
{
	const struct value *cuda = s->now.chosen[COMPONENT_CUDA];
	uint32_t blame = 0;

	if (!cuda)
		return true;
	s->now.chosen[COMPONENT_CUDA] = NULL;
	rules_prepare(s, COMPONENT_CUDA);
	return rules_fit(s, cuda, &blame);
}

/* Whether the stack stays valid with the value in it. So most rows need no search of their own. */
static bool fits_into(struct sieve *sieve, const struct assignment *stack,
		      const struct value *value)
{
	struct search *s = &sieve->search;
	uint32_t blame = 0;

	s->now = *stack;
	if (!sieve->is_pin) {
		s->now.chosen[value->component] = NULL;
		rules_prepare(s, value->component);
		if (!rules_fit(s, value, &blame))
			return false;
		s->now.chosen[value->component] = value;
	}
	for (int c = 0; c < COMPONENT_COUNT; c++)
		if (s->now.chosen[c] && !search_admits(s, s->now.chosen[c]))
			return false;
	return cuda_still_fits(s);
}

static bool fits_into_any(struct sieve *sieve, const struct value *value)
{
	for (size_t i = sieve->witness_count; i--;)
		if (fits_into(sieve, &sieve->witnesses[i], value))
			return true;
	return false;
}

/*
 * A quick check: without a stack of fewer components there is none of more. A full search would
 * come back to the same CUDA with every OS.
 */
static bool has_cores(struct search *s, uint32_t parts, uint32_t own)
{
	static const enum component others[] = {COMPONENT_NCCL, COMPONENT_CUDNN, COMPONENT_OS,
						COMPONENT_PYTHON};
	uint32_t core = parts & (COMPONENTS_PIP | COMPONENT_BIT(COMPONENT_DRIVER) |
				 COMPONENT_BIT(COMPONENT_CUDA) | own);

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		s->parts = core | (parts & COMPONENT_BIT(others[i]));
		if (!search_run(s))
			return false;
	}
	return true;
}

static bool run_search(struct sieve *sieve, const struct value *value, uint64_t active)
{
	struct search *s = &sieve->search;
	uint32_t parts = parts_of(sieve, active);
	bool found;

	if (fits_into_any(sieve, value))
		return true;
	s->fixed[sieve->component] = sieve->is_pin ? NULL : value;
	found = has_cores(s, parts, COMPONENT_BIT(sieve->component));
	s->parts = parts;
	found = found && search_run(s);
	s->fixed[sieve->component] = NULL;
	if (found && sieve->witness_count < WITNESSES_MAX)
		sieve->witnesses[sieve->witness_count++] = s->now;
	return found;
}

/* Whether no rule tells the two apart. */
static bool same_gpu(const struct value *a, const struct value *b)
{
	static const char *const columns[] = {"sm", "class", "cuda"};

	if (a->component != COMPONENT_GPU)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		if (strcmp(value_cell(a, columns[i]), value_cell(b, columns[i])) != 0)
			return false;
	return true;
}

static bool has_stack(struct sieve *sieve, const struct value *value, uint64_t active)
{
	struct search *s = &sieve->search;

	if (sieve->is_pin && !active)
		return true;
	if (sieve->last && same_gpu(sieve->last, value))
		return sieve->last_found;
	if (sieve->is_pin)
		active |= put_pin(sieve, value);
	s->active = active;
	s->level = highest_level(sieve, active);
	/* with requests only on its own component, the table shows its rows */
	if (!(asked_components(sieve, active) & ~COMPONENT_BIT(sieve->component)))
		return search_admits(s, value);
	sieve->last = value;
	sieve->last_found = run_search(sieve, value, active);
	return sieve->last_found;
}

/* Whether there is any stack. Without one no row fits. Drivers are compared with each other. */
static bool any_stack(struct sieve *sieve, uint64_t active)
{
	uint32_t asked = asked_components(sieve, active);

	if (!(asked & ~COMPONENT_BIT(sieve->component)) ||
	    !(asked & (COMPONENTS_GPU | COMPONENTS_PIP)))
		return true;
	sieve->search.level = highest_level(sieve, active);
	return units_work(&sieve->search, active);
}

static int prepare_search(struct sieve *sieve, const char *const *words, struct error *err)
{
	const struct model_options options = {0};
	const struct domain *domain;

	if (model_build(sieve->catalog, &options, sieve->arena, &sieve->model, err) < 0 ||
	    units_read(&sieve->model, words, &sieve->units, err) < 0)
		return -1;
	sieve->unit_count = sieve->units.count;
	sieve->is_pin = sieve->component == COMPONENT_GPU || sieve->component == COMPONENT_DRIVER;
	if (sieve->is_pin && sieve->unit_count == UNITS_MAX)
		return error_set(err, ERROR_USAGE, "more than %d requests", UNITS_MAX - 1);
	domain = &sieve->model.domains[sieve->component];
	sieve->values = ARENA_ARRAY(sieve->arena, domain->count + 1, const struct value *);
	for (size_t i = 0; i < domain->count; i++)
		sieve->values[domain->values[i].row] = &domain->values[i];
	units_apply(&sieve->model, &sieve->units);
	search_init(&sieve->search, &sieve->model, &sieve->units,
		    COMPONENT_BIT(COMPONENT_COUNT) - 1);
	return 0;
}

/* --- all of them ---------------------------------------------------------------------------- */

static int read_wishes(struct sieve *sieve, const char *const *requests, struct error *err)
{
	struct words words = WORDS_INIT(sieve->arena);

	for (; *requests; requests++) {
		struct wish *wish = &sieve->wishes[sieve->count++];
		size_t length = strspn(*requests, "abcdefghijklmnopqrstuvwxyz0123456789_-");
		const char *name = arena_strndup(sieve->arena, *requests, length);

		wish->text = *requests;
		wish->is_unit = sieve->component != COMPONENT_NONE &&
				component_by_name(name) != COMPONENT_NONE;
		if (!wish->is_unit && matrix_ask(sieve->catalog, sieve->matrix, wish->text,
						 sieve->arena, &wish->question, err) < 0)
			return -1;
		if (!wish->is_unit)
			continue;
		wish->unit = words.count;
		words_add(&words, wish->text);
	}
	return words.count ? prepare_search(sieve, words.list, err) : 0;
}

static bool row_fits(struct sieve *sieve, size_t row, size_t skip, uint64_t active)
{
	for (size_t i = 0; i < sieve->count; i++) {
		const struct unit *unit = unit_of(sieve, i);

		if (i == skip)
			continue;
		if (!unit &&
		    !matrix_fits(sieve->matrix, &sieve->wishes[i].question, sieve->arena, row))
			return false;
		if (unit && sieve->is_pin && unit->component == sieve->component &&
		    !own_pin_fits(unit, sieve->values[row]))
			return false;
	}
	return !sieve->unit_count || has_stack(sieve, sieve->values[row], active);
}

/* Writes the rows that fit without the wish `skip` to `rows`. Returns how many. */
static size_t sift(struct sieve *sieve, size_t skip, size_t *rows)
{
	const struct matrix *matrix = sieve->matrix;
	uint64_t active = 0;
	size_t count = 0;

	sieve->units.count = sieve->unit_count;
	sieve->witness_count = 0;
	sieve->last = NULL;
	if (sieve->unit_count) {
		units_apply(&sieve->model, &sieve->units);
		active = active_units(sieve, skip);
		if (!any_stack(sieve, active))
			return 0;
		sieve->units.count += sieve->is_pin;
	}
	for (size_t i = 0; i < matrix->count && !interrupted(); i++)
		if (row_fits(sieve, matrix->rows[i], skip, active))
			rows[count++] = matrix->rows[i];
	return count;
}

/* --- when nothing is left ------------------------------------------------------------------- */

/* Whether no row of the catalog passes the request, so that its version is unknown. */
static bool is_unknown(const struct sieve *sieve, const struct unit *unit)
{
	const uint8_t *admits = unit->admits[unit->component];

	for (size_t i = 0; admits && i < sieve->model.domains[unit->component].count; i++)
		if (admits[i])
			return false;
	return admits && !unit->is_pin;
}

static void advise_leaving_out(struct sieve *sieve, size_t wish, size_t *rows, struct str *text)
{
	const struct unit *unit = unit_of(sieve, wish);
	size_t count;

	if (unit && is_unknown(sieve, unit)) {
		str_addf(
			text,
			"; the catalog knows no such %s: 'ringup matrix %s' lists those that it knows",
			component_names[unit->component], component_names[unit->component]);
		return;
	}
	count = sift(sieve, wish, rows);
	if (count)
		str_addf(text, "; without '%s' %zu %s", sieve->wishes[wish].text, count,
			 count == 1 ? "row fits" : "rows fit");
}

static int refuse_all(struct sieve *sieve, size_t *rows, struct error *err)
{
	_cleanup_(str_release) struct str wishes = STR_INIT, advice = STR_INIT;

	for (size_t i = 0; i < sieve->count; i++) {
		str_addf(&wishes, "%s'%s'", i ? " and " : "", sieve->wishes[i].text);
		advise_leaving_out(sieve, i, rows, &advice);
	}
	return error_set(
		err, ERROR_UNSATISFIED, "no row of %s fits %s%s", sieve->matrix->name, wishes.text,
		advice.length ? advice.text : "; leave out more than one of them, or widen them");
}

int matrix_filter(const struct catalog *catalog, const char *const *requests, struct arena *arena,
		  struct matrix *matrix, struct error *err)
{
	struct sieve *sieve = ARENA_NEW(arena, struct sieve);
	size_t count = 0, *rows = ARENA_ARRAY(arena, matrix->count + 1, size_t);

	while (requests[count])
		count++;
	*sieve = (struct sieve){.catalog = catalog,
				.arena = arena,
				.matrix = matrix,
				.component = component_by_name(matrix->name)};
	sieve->wishes = ARENA_ARRAY(arena, count + 1, struct wish);
	if (read_wishes(sieve, requests, err) < 0)
		return -1;
	count = sift(sieve, NO_WISH, rows);
	if (interrupt_check(err) < 0)
		return -1;
	if (!count)
		refuse_all(sieve, rows, err);
	matrix->count = count;
	if (count)
		matrix->rows = rows;
	return count ? 0 : -1;
}
