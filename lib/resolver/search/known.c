/* SPDX-License-Identifier: MIT */
#include "resolver/search/known.h"

#include "resolver/search/pivot.h"

/* Whether the unit makes the condition true for every choice of the other components. */
static bool unit_entails(const struct model *model, const struct unit *unit,
			 const struct condition *condition)
{
	const struct domain *domain = &model->domains[condition->component];
	const uint8_t *admits = unit->admits[condition->component];
	bool any = false;

	/* for a host's driver, the exact minimum of the CUDA is the better explanation */
	if (unit->component != condition->component || unit->is_pin)
		return false;
	for (size_t i = 0; i < domain->count; i++) {
		if (admits && admits[i] == ADMIT_NO)
			continue;
		if (condition->needs && !needs_admit(condition->needs, domain->values[i].version))
			return false;
		any = true;
	}
	return any;
}

static bool set_entails(const struct search *s, uint64_t set, const struct condition *condition)
{
	for (size_t u = 0; u < s->units->count; u++)
		if ((set >> u & 1) && unit_entails(s->model, &s->units->list[u], condition))
			return true;
	return false;
}

static bool set_breaks(const struct search *s, uint64_t set, const struct conflict_rule *rule)
{
	for (size_t i = 0; i < rule->conditions.count; i++)
		if (!set_entails(s, set, &rule->conditions.list[i]))
			return false;
	return true;
}

const struct conflict_rule *known_conflict(const struct search *s, uint64_t set)
{
	const struct conflict_rule *found = NULL;

	for (size_t k = 0; k < s->model->conflict_count; k++) {
		const struct conflict_rule *rule = &s->model->conflicts[k];

		/* what is absent is not known before the search */
		if (rule->refuses && !rule->without &&
		    (!found || rule->conditions.count > found->conditions.count) &&
		    set_breaks(s, set, rule))
			found = rule;
	}
	return found;
}

const char *known_sentence(const struct conflict_rule *rule, struct arena *arena)
{
	if (__builtin_popcount(rule->components) == 1 || rule->without)
		return arena_printf(arena, "%s: %s; %s", rule->text, rule->symptom, rule->fix);
	return arena_printf(arena, "%s do not go together: %s; %s", rule->text, rule->symptom,
			    rule->fix);
}

/* Why a unit conflicts that names no component of the rule: what it leaves of such a component. */
static const char *leaves(struct search *s, size_t unit, const struct conflict_rule *rule,
			  const char **source)
{
	for (size_t i = 0; i < rule->conditions.count; i++) {
		const struct condition *condition = &rule->conditions.list[i];
		const char *text = condition->needs ? pivot_leaves(s, unit, condition->component,
								   condition->needs, source)
						    : NULL;

		if (text)
			return text;
	}
	return NULL;
}

void known_explain(struct search *s, uint64_t set, const struct conflict_rule *rule,
		   struct unsatisfied *why)
{
	const char *sentence = known_sentence(rule, s->model->arena);

	for (size_t u = 0; u < s->units->count; u++) {
		const struct unit *unit = &s->units->list[u];
		const char *source = "", *text = NULL;

		if (!(set >> u & 1))
			continue;
		if (!(rule->components & COMPONENT_BIT(unit->component)))
			text = leaves(s, u, rule, &source);
		unsatisfied_add(why, unit->text, text ? text : sentence,
				text ? source : rule->source);
	}
}
