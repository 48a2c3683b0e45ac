/* SPDX-License-Identifier: MIT */
/*
 * Warnings of conflicts.csv that depend on more than the stack: on facts of the hosts that the
 * search does not know.
 */
#include "resolver/explain/host_notes.h"

#include "resolver/explain/reason.h"
#include "resolver/conditions.h"

#include <string.h>

struct hosts {
	const struct search *search;
	const struct facts *facts;
	size_t count;
	bool asked; /* a condition was about hosts */
};

static bool has_infiniband(const struct facts *facts)
{
	return facts->infiniband && *facts->infiniband;
}

static const char *toolkit(const struct facts *facts)
{
	return facts->runtime_gpu ? facts->runtime_gpu : "";
}

/*
 * Whether a condition such as "infiniband" or "nvidia-container-toolkit==1.17.7" holds for a host.
 */
static bool host_holds(struct hosts *hosts, const char *name, const struct needs *needs)
{
	bool infiniband = strcmp(name, "infiniband") == 0;

	if (!infiniband &&
	    (strcmp(name, "nvidia-container-toolkit") != 0 || hosts->search->model->cpu))
		return false;
	hosts->asked = true;
	for (size_t i = 0; i < hosts->count; i++) {
		const struct facts *facts = &hosts->facts[i];

		if (infiniband ? has_infiniband(facts)
			       : *toolkit(facts) && (!needs || needs_admit(needs, toolkit(facts))))
			return true;
	}
	return false;
}

static bool stack_holds(const struct search *s, const struct condition *condition)
{
	enum component c = condition->component;
	const struct needs *needs = condition->needs;
	const struct value *value = s->now.chosen[c];

	for (size_t i = 0; i < s->units->count && c == COMPONENT_GPU; i++)
		if (s->units->list[i].sm &&
		    condition_holds(condition, s->units->list[i].product, s->units->list[i].sm))
			return true;

	for (size_t i = 0; i < s->units->count && c == COMPONENT_DRIVER; i++)
		if (s->units->list[i].driver &&
		    (!needs || needs_admit(needs, s->units->list[i].driver)))
			return true;
	return value && (!needs || needs_admit(needs, value->version));
}

/* Whether all conditions of "openmpi<5 & horovod & infiniband" hold. */
static bool all_hold(struct hosts *hosts, const char *when)
{
	struct conditions conditions;

	conditions_read(when, hosts->search->model->arena, &conditions);
	for (size_t i = 0; i < conditions.count; i++) {
		const struct condition *condition = &conditions.list[i];

		if (condition->mistake ||
		    !(condition->component == COMPONENT_NONE
			      ? host_holds(hosts, condition->name, condition->needs)
			      : stack_holds(hosts->search, condition)))
			return false;
	}
	return true;
}

void plan_add_host_notes(const struct search *s, const struct facts *facts, size_t count,
			 struct plan *plan)
{
	const struct table *table = catalog_table(s->model->catalog, "conflicts");

	for (size_t row = 0; table && row < table->row_count; row++) {
		struct hosts hosts = {s, facts, count, false};
		const char *when = table_cell(table, row, "when");

		if (strcmp(table_cell(table, row, "effect"), "warn") == 0 &&
		    all_hold(&hosts, when) && hosts.asked && plan->note_count < PLAN_NOTES_MAX)
			plan->notes[plan->note_count++] = arena_printf(
				s->model->arena, "%s: %s; %s [%s]", when,
				table_cell(table, row, "symptom"), table_cell(table, row, "fix"),
				table_cell(table, row, "source"));
	}
}
