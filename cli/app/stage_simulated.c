/* SPDX-License-Identifier: MIT */
#include "cli/app/stage_simulated.h"
#include "cli/app/stage_facts.h"

#include "core/log.h"
#include "core/str.h"

#include <string.h>

#define SIMULATED_HOSTS_SHOWN 8

/* "node01, node02: 8x NVIDIA H100 80GB HBM3" for all hosts with the GPUs of this one. */
static void simulated_add_group(const struct fleet *fleet, size_t first, struct str *out)
{
	const char *text = fleet->members[first].facts.simulated;
	size_t count = 0;

	str_add(out, out->length ? "; " : "");
	for (size_t i = first; i < fleet->count; i++) {
		const struct member *m = &fleet->members[i];

		if (!m->facts.simulated || strcmp(m->facts.simulated, text) != 0)
			continue;
		if (++count <= SIMULATED_HOSTS_SHOWN)
			str_addf(out, "%s%s", count > 1 ? ", " : "", m->facts.host);
	}
	if (count > SIMULATED_HOSTS_SHOWN)
		str_addf(out, " and %zu more", count - SIMULATED_HOSTS_SHOWN);
	str_addf(out, ": %s", text);
}

static bool simulated_is_new(const struct fleet *fleet, size_t index)
{
	const char *text = fleet->members[index].facts.simulated;

	if (!text || !*text)
		return false;
	for (size_t i = 0; i < index; i++)
		if (fleet->members[i].facts.simulated &&
		    strcmp(fleet->members[i].facts.simulated, text) == 0)
			return false;
	return true;
}

void stage_say_simulated(const struct stages *s)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	for (size_t i = 0; i < s->fleet.count; i++)
		if (simulated_is_new(&s->fleet, i))
			simulated_add_group(&s->fleet, i, &out);
	if (out.length)
		log_warn("simulated GPUs (%s): nothing here says how fast a GPU is", out.text);
}

/* The hosts' facts of the last probe; hosts that were not seen are left out. */
static struct stages simulated_on_file(const struct stages *s)
{
	struct stages seen = {.arena = s->arena};
	struct error ignored = {0};

	stage_read_facts(s, &seen.fleet, &ignored);
	return seen;
}

void stage_say_simulated_on_file(const struct stages *s)
{
	struct stages seen = simulated_on_file(s);

	stage_say_simulated(&seen);
}

void stage_add_simulated(const struct stages *s, cJSON *json)
{
	for (size_t i = 0; i < s->fleet.count; i++) {
		const char *text = s->fleet.members[i].facts.simulated;

		if (text && *text && !cJSON_HasObjectItem(json, "simulated"))
			cJSON_AddTrueToObject(json, "simulated");
	}
}

void stage_add_simulated_on_file(const struct stages *s, cJSON *json)
{
	struct stages seen = simulated_on_file(s);

	stage_add_simulated(&seen, json);
}
