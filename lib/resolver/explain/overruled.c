/* SPDX-License-Identifier: MIT */
/* The stack is looked at once more with all rules, and each that is broken is waived in turn. */
#include "resolver/explain/overruled.h"

#include "resolver/allow.h"
#include "resolver/explain/explain.h"
#include "resolver/search/conflict.h"
#include "resolver/search/known.h"

const char *breach_id(const struct value *value, const struct breach *breach, struct arena *arena)
{
	static const enum allow_rule rules[] = {
		[BREACH_OS] = RULE_PACKAGES_OS,	    [BREACH_KIND] = RULE_PACKAGES_OS,
		[BREACH_SINCE] = RULE_PACKAGES_OS,  [BREACH_REPOSITORY] = RULE_CUDA_OS,
		[BREACH_DRIVER] = RULE_DRIVER_CUDA, [BREACH_JIT] = RULE_GPU_PTX,
		[BREACH_PTX] = RULE_DRIVER_PTX,	    [BREACH_WHEELS] = RULE_WHEELS_CLASH,
	};

	switch (breach->kind) {
	case BREACH_NEEDS:
		return allow_needs_id(value->component, breach->other->component, arena);
	case BREACH_NEEDED:
		return allow_needs_id(breach->other->component, value->component, arena);
	case BREACH_CONFLICT:
		return breach->conflict->id;
	default:
		return allow_rule_ids[rules[breach->kind]];
	}
}

/* Waives the rule in the model, and tells the plan. False when there is nothing more to learn. */
static bool overruled_add(struct model *model, struct plan *plan, const char *id,
			  const char *because, const char *source)
{
	return allow_add(model, id) && plan_overrule(plan, id, because, source);
}

/* What the hosts' drivers and GPUs refuse by themselves. */
static void find_pins(struct search *s, struct model *model, struct plan *plan)
{
	const struct conflict_rule *rule;
	const struct unit *gpu;
	const char *id, *text;

	while ((rule = rules_refuse_pins(s)) &&
	       overruled_add(model, plan, rule->id, known_sentence(rule, model->arena),
			     rule->source))
		;
	while ((text = find_unusable(s, s->active, &gpu, &id)) &&
	       overruled_add(model, plan, id, text, gpu->gpu ? gpu->gpu->source : ""))
		;
}

/* What a driver or a GPU of the hosts refuses of the stack. */
static void find_units(struct search *s, struct model *model, struct plan *plan)
{
	for (size_t i = 0; i < s->units->count; i++)
		for (int c = 0; c < COMPONENT_COUNT; c++) {
			const struct unit *unit = &s->units->list[i];
			const struct value *value = s->now.chosen[c];
			const char *text, *source;
			enum allow_rule rule = unit->driver	      ? RULE_DRIVER_CUDA
					       : c == COMPONENT_CUDA  ? RULE_GPU_CUDA
					       : c == COMPONENT_CUDNN ? RULE_GPU_CUDNN
								      : RULE_GPU_WHEEL;

			if (!(s->active >> i & 1) || !value || !unit->admits[c] ||
			    unit->admits[c][value->index] != ADMIT_OVERRULED)
				continue;
			unit_explain(model, unit, value, &text, &source);
			overruled_add(model, plan, allow_rule_ids[rule], text, source);
		}
}

/* What the parts of the stack refuse of each other. */
static void find_breaches(struct search *s, struct model *model, struct plan *plan)
{
	for (int c = 0; c < COMPONENT_COUNT; c++) {
		const struct value *value = s->now.chosen[c];
		bool goes_on = value != NULL;

		while (goes_on) {
			struct breach breach;
			const char *text, *source;

			rules_prepare(s, (enum component)c);
			goes_on = breach_find(s, value, &breach);
			if (!goes_on)
				break;
			breach_explain(s, value, &breach, &text, &source);
			goes_on = overruled_add(
				model, plan, breach_id(value, &breach, model->arena), text, source);
		}
	}
}

void overruled_find(const struct search *found, struct plan *plan)
{
	const struct model *strict = found->model->strict;
	struct model model;
	struct search s = *found;

	if (!strict)
		return;
	model = *strict;
	model.conflicts = ARENA_ARRAY(model.arena, model.conflict_count + 1, struct conflict_rule);
	for (size_t k = 0; k < model.conflict_count; k++)
		model.conflicts[k] = strict->conflicts[k];
	s.model = &model;
	find_pins(&s, &model, plan);
	find_units(&s, &model, plan);
	find_breaches(&s, &model, plan);
}
