/* SPDX-License-Identifier: MIT */
#include "resolver/search/groups.h"

#include "core/str.h"

#include <string.h>

/* The pins of the component: the hosts' drivers or GPUs. */
static uint64_t pins_of(const struct units *units, enum component c)
{
	uint64_t pins = 0;

	for (size_t i = 0; i < units->count; i++)
		if (units->list[i].is_pin && units->list[i].component == c)
			pins |= UNIT_BIT(i);
	return pins;
}

/*
 * The units that a group has to fit: the requests, its own pins, and the other pins of the same
 * hosts.
 */
static uint64_t active_of(const struct units *units, uint64_t pins, uint64_t group)
{
	uint64_t active = group;

	for (size_t i = 0; i < units->count; i++) {
		bool shares = !units->list[i].is_pin;

		if (pins & UNIT_BIT(i))
			continue;
		for (size_t g = 0; g < units->count; g++)
			if (group & UNIT_BIT(g))
				shares |= unit_meets(&units->list[i], &units->list[g]);
		if (shares)
			active |= UNIT_BIT(i);
	}
	return active;
}

static const char *describe_members(const struct search *s, uint64_t group)
{
	const char *text = "";

	for (size_t i = 0; i < s->units->count; i++)
		if (group & UNIT_BIT(i))
			text = arena_printf(s->model->arena, "%s%s%s", text, *text ? ", " : "",
					    s->units->list[i].text);
	return text;
}

/* " (cu126)": a version of torch has several wheels. */
static const char *wheel_of(const struct search *s, const struct value *value)
{
	const char *build = strrchr(value_cell(value, "index"), '/');

	return build && starts_with(build, "/cu")
		       ? arena_printf(s->model->arena, " (%s)", build + 1)
		       : "";
}

static const char *describe_stack(const struct search *s)
{
	const char *text = "";

	for (int c = COMPONENT_TENSORFLOW; c <= COMPONENT_OS; c++)
		if (s->now.chosen[c])
			text = arena_printf(s->model->arena, "%s%s%s %s%s", text, *text ? ", " : "",
					    component_names[c], s->now.chosen[c]->version,
					    wheel_of(s, s->now.chosen[c]));
	return text;
}

void groups_find(struct search *s, uint64_t set, struct unsatisfied *why)
{
	uint64_t groups[CONFLICTS_MAX], pins = pins_of(s->units, COMPONENT_GPU);
	size_t count = 0;

	if (!(set & pins) || __builtin_popcountll(pins) < 2)
		pins = pins_of(s->units, COMPONENT_DRIVER);
	if (!(set & pins) || __builtin_popcountll(pins) < 2)
		return;
	for (size_t i = 0; i < s->units->count; i++) {
		size_t g = 0;

		if (!(pins & UNIT_BIT(i)))
			continue;
		while (g < count &&
		       !units_work(s, active_of(s->units, pins, groups[g] | UNIT_BIT(i))))
			g++;
		if (g == CONFLICTS_MAX ||
		    (g == count && !units_work(s, active_of(s->units, pins, UNIT_BIT(i)))))
			return;
		groups[g] = (g < count ? groups[g] : 0) | UNIT_BIT(i);
		count += g == count;
	}
	for (size_t g = 0; g < count; g++) {
		if (!units_work(s, active_of(s->units, pins, groups[g])))
			return;
		why->groups[why->group_count++] =
			(struct group){describe_members(s, groups[g]), describe_stack(s)};
	}
}
