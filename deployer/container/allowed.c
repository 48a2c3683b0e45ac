/* SPDX-License-Identifier: MIT */
#include "deployer/container/allowed.h"

#include "core/log.h"
#include "core/str.h"
#include "deployer/container/container.h"

#include <string.h>

struct allowed {
	const char *accelerator;
	struct words *left_out; /* of each member: a name and a sentence for each thing */
};

static bool allowed_is_required(const struct cluster *cluster, const char *name)
{
	for (const char *const *word = cluster->container.required; *word; word++)
		if (strcmp(*word, "all") == 0 || strcmp(*word, name) == 0)
			return true;
	return false;
}

static int allowed_judge(struct member *m, void *arg, struct error *err)
{
	struct allowed *all = arg;
	struct words *own = &all->left_out[m->index];
	struct bringup bringup = {.accelerator = all->accelerator, .registry = ""};
	struct container container;

	if (!m->engine->has_containers)
		return 0;
	container_describe(m, &bringup, &container);
	*own = container.left_out;
	for (size_t i = 0; i < own->count; i += 2)
		if (allowed_is_required(m->fleet->cluster, own->list[i]))
			return error_set(
				err, ERROR_FAILED,
				"%s: its containers cannot have %s; change that on the host, or take '%s' out of container.required",
				m->host->name, own->list[i + 1], own->list[i]);
	return 0;
}

struct allowed_line {
	const struct allowed *all;
	const char *text;
};

static bool allowed_has_line(const struct member *m, const void *arg)
{
	const struct allowed_line *line = arg;
	const struct words *own = &line->all->left_out[m->index];

	for (size_t i = 1; !m->failed && i < own->count; i += 2)
		if (strcmp(own->list[i], line->text) == 0)
			return true;
	return false;
}

/* Says it for all hosts, when this is the first one of them. */
static void allowed_say(struct fleet *fleet, const struct allowed *all, size_t index,
			const char *text)
{
	const struct allowed_line line = {all, text};
	_cleanup_(str_release) struct str names = STR_INIT;

	for (size_t i = 0; i < index; i++)
		if (allowed_has_line(&fleet->members[i], &line))
			return;
	fleet_add_names(fleet, allowed_has_line, &line, &names);
	log_warn("%s: left out of the containers: %s", names.text, text);
}

void fleet_check_allowed(struct fleet *fleet, const char *accelerator)
{
	struct allowed all = {accelerator, ARENA_ARRAY(fleet->arena, fleet->count, struct words)};

	memset(all.left_out, 0, fleet->count * sizeof(*all.left_out));
	fleet_each(fleet, allowed_judge, &all);
	for (size_t i = 0; i < fleet->count; i++)
		for (size_t k = 1; !fleet->members[i].failed && k < all.left_out[i].count; k += 2)
			allowed_say(fleet, &all, i, all.left_out[i].list[k]);
}
