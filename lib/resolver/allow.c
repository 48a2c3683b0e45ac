/* SPDX-License-Identifier: MIT */
#include "resolver/allow.h"

#include "core/str.h"
#include "core/words.h"
#include "plan/plan.h"

#include <string.h>

#define NEEDS "-needs-"

const char *const allow_rule_ids[RULE_COUNT + 1] = {
#define X(name, id) id,
	ALLOW_RULES(X)
#undef X
		NULL};

const char *allow_needs_id(enum component of, enum component other, struct arena *arena)
{
	return arena_printf(arena, "%s" NEEDS "%s", component_names[of], component_names[other]);
}

bool allow_names(const char *const *ids, const char *id)
{
	for (; ids && *ids; ids++)
		if (strcmp(*ids, id) == 0)
			return true;
	return false;
}

/* --- which ids there are ------------------------------------------------------------------- */

static bool allow_has_cells(const struct domain *domain, int other)
{
	for (size_t i = 0; i < domain->count; i++)
		if (domain->values[i].needs[other])
			return true;
	return false;
}

/* A driver's and a GPU's cells are hints, and part of the rules in C. */
static void list_needs(const struct model *model, struct words *ids)
{
	const uint32_t other_rules = COMPONENT_BIT(COMPONENT_DRIVER) | COMPONENT_BIT(COMPONENT_GPU);

	for (int of = 0; of < COMPONENT_COUNT; of++)
		for (int other = 0; other < COMPONENT_COUNT; other++)
			if (!((COMPONENT_BIT(of) | COMPONENT_BIT(other)) & other_rules) &&
			    !(of == COMPONENT_OS && other == COMPONENT_CUDA) &&
			    allow_has_cells(&model->domains[of], other))
				words_add(ids, allow_needs_id((enum component)of,
							      (enum component)other, model->arena));
}

static void list_conflicts(const struct model *model, struct words *ids)
{
	const struct table *table = catalog_table(model->catalog, "conflicts");

	for (size_t row = 0; table && row < table->row_count; row++)
		if (strcmp(table_cell(table, row, "effect"), "refuse") == 0)
			words_add(ids, table_cell(table, row, "id"));
}

/* Up to three ids that have a word of it, such as "torch" or "cuda"; the nearest one first. */
static const char *near_ids(const char *id, const struct words *ids, struct arena *arena)
{
	const char *nearest = nearest_word(id, ids->list), *text = nearest ? nearest : "";
	size_t count = *text != '\0';

	for (size_t i = 0; i < ids->count && count < 3; i++) {
		size_t length = strcspn(id, "-");

		if ((nearest && strcmp(ids->list[i], nearest) == 0) || length < 3 ||
		    strncmp(ids->list[i], id, length) != 0)
			continue;
		text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", ids->list[i]);
		count++;
	}
	return text;
}

int allow_check(const struct model *model, const char *const *ids, struct error *err)
{
	struct words known = WORDS_INIT(model->arena);
	const char *near;

	if (!ids || !*ids)
		return 0;
	for (size_t count = 0; ids[count]; count++)
		if (count == PLAN_ALLOW_MAX)
			return error_set(err, ERROR_USAGE, "allow: more than %d ids",
					 PLAN_ALLOW_MAX);
	words_add_all(&known, allow_rule_ids);
	list_needs(model, &known);
	list_conflicts(model, &known);
	for (; *ids; ids++) {
		if (allow_names(known.list, *ids))
			continue;
		near = near_ids(*ids, &known, model->arena);
		error_set(err, ERROR_USAGE, "allow: no rule that refuses has the id '%s'", *ids);
		return error_advise(
			err, *near ? "the nearest are: %s" : "each refusal names its rules%s",
			near);
	}
	return 0;
}

/* --- overruling ---------------------------------------------------------------------------- */

static void keep_strict(struct model *model)
{
	struct model *strict;

	if (model->strict)
		return;
	strict = ARENA_NEW(model->arena, struct model);
	*strict = *model;
	strict->conflicts =
		ARENA_ARRAY(model->arena, model->conflict_count + 1, struct conflict_rule);
	for (size_t k = 0; k < model->conflict_count; k++)
		strict->conflicts[k] = model->conflicts[k];
	model->strict = strict;
}

static void overrule_conflict(struct conflict_rule *rule)
{
	rule->is_overruled |= rule->refuses;
	rule->refuses = false;
}

void allow_nothing(struct model *model)
{
	keep_strict(model);
	model->allow = (struct allow){0};
	for (size_t k = 0; k < model->conflict_count; k++) {
		model->conflicts[k].refuses = model->strict->conflicts[k].refuses;
		model->conflicts[k].is_overruled = false;
	}
	model_mark_rules(model);
}

void allow_everything(struct model *model)
{
	keep_strict(model);
	model->allow = (struct allow){.rules = (1U << RULE_COUNT) - 1};
	for (int c = 0; c < COMPONENT_COUNT; c++)
		model->allow.needs[c] = (1U << COMPONENT_COUNT) - 1;
	for (size_t k = 0; k < model->conflict_count; k++)
		overrule_conflict(&model->conflicts[k]);
	model_mark_rules(model);
}

static bool add_needs(struct model *model, const char *id)
{
	const char *middle = strstr(id, NEEDS);
	enum component of, other;

	if (!middle)
		return false;
	of = component_by_name(arena_strndup(model->arena, id, (size_t)(middle - id)));
	other = component_by_name(middle + strlen(NEEDS));
	if (of == COMPONENT_NONE || other == COMPONENT_NONE || allow_has_needs(model, of, other))
		return false;
	model->allow.needs[of] |= COMPONENT_BIT(other);
	return true;
}

bool allow_add(struct model *model, const char *id)
{
	keep_strict(model);
	for (int rule = 0; rule < RULE_COUNT; rule++) {
		if (strcmp(allow_rule_ids[rule], id) != 0)
			continue;
		if (allow_has(model, (enum allow_rule)rule))
			return false;
		model->allow.rules |= 1U << rule;
		return true;
	}
	for (size_t k = 0; k < model->conflict_count; k++) {
		if (strcmp(model->conflicts[k].id, id) != 0 || !model->conflicts[k].refuses)
			continue;
		overrule_conflict(&model->conflicts[k]);
		model_mark_rules(model);
		return true;
	}
	return add_needs(model, id);
}
