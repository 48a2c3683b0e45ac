/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_simulated.h"

#include "core/log.h"
#include "core/term.h"
#include "deployer/probe.h"

#include <string.h>

struct options {
	struct words hosts;
};

static const struct opt options[] = {
	HOSTS_OPTION(struct options, hosts),
	OPT_END,
};

/* Whose the container is, or the files where there is none. */
static const struct owner *status_owner(const struct member *m)
{
	return *m->state.container_id ? &m->state.container_owner : &m->state.owner;
}

static bool is_there(const struct member *m)
{
	return *m->state.container_id || *m->state.mesh || *m->state.owner.id;
}

static bool is_foreign(const struct member *m)
{
	return is_there(m) && !owner_is(status_owner(m), &m->fleet->owner);
}

static const char *state_of(const struct member *m)
{
	if (m->failed)
		return "unreachable";
	if (is_foreign(m))
		return "foreign";
	if (!m->engine->has_containers)
		return *m->state.mesh ? "ready" : "absent";
	if (!*m->state.container_id)
		return "absent";
	return m->state.running ? "running" : "stopped";
}

/* "2026-11-21T09:30:00.12345Z" without the fraction. */
static const char *started_of(const struct member *m, struct arena *arena)
{
	if (!m->state.running)
		return "-";
	return arena_printf(arena, "%.19sZ", m->state.started);
}

static void print_table(const struct stages *s)
{
	struct term_table table;

	term_table_init(&table, s->arena,
			WORDS("HOST", "ADDRESS", "STATE", "STARTED", "CONTAINER", "IMAGE"));
	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct member *m = &s->fleet.members[i];
		const char *digest = m->failed ? NULL : strstr(m->state.image, "sha256:");

		term_table_row(
			&table,
			WORDS(m->host->name, m->host->address, state_of(m),
			      m->failed ? "-" : started_of(m, s->arena),
			      m->failed || !*m->state.container_id
				      ? "-"
				      : arena_printf(s->arena, "%.12s", m->state.container_id),
			      digest ? arena_printf(s->arena, "%.19s", digest) : "-"));
	}
	term_table_print(&table, stdout);
}

static void status_add_owner(const struct member *m, cJSON *item)
{
	const struct owner *owner = status_owner(m);
	cJSON *json = cJSON_AddObjectToObject(item, "owner");

	cJSON_AddBoolToObject(json, "ours", owner_is(owner, &m->fleet->owner));
	json_add_text(json, "user", owner->user);
	json_add_text(json, "machine", owner->machine);
	json_add_text(json, "folder", owner->folder);
	json_add_text(json, "time", owner->time);
}

static void status_warn_of_others(const struct stages *s)
{
	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct member *m = &s->fleet.members[i];

		if (!m->failed && is_foreign(m))
			log_warn("%s: the cluster '%s' there is not this folder's: %s",
				 m->host->name, s->cluster.name,
				 *status_owner(m)->id ? owner_story(status_owner(m), s->arena)
						      : "it names no owner");
	}
}

static void status_print_json(const struct stages *s)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *hosts = cJSON_AddArrayToObject(json, "hosts");

	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct member *m = &s->fleet.members[i];
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "host", m->host->name);
		cJSON_AddStringToObject(item, "address", m->host->address);
		cJSON_AddStringToObject(item, "state", state_of(m));
		if (m->failed) {
			cJSON_AddStringToObject(item, "error", m->err.text);
		} else {
			json_add_text(item, "container", m->state.container_id);
			json_add_text(item, "image", m->state.image);
			json_add_text(item, "started", m->state.started);
			cJSON_AddNumberToObject(item, "exit_status", m->state.exit_status);
			if (is_there(m))
				status_add_owner(m, item);
		}
		cJSON_AddItemToArray(hosts, item);
	}
	stage_add_simulated(s, json);
	json_print(stdout, json);
}

static int status_run(struct context *ctx, void *values, const char *const *arguments,
		      struct error *err)
{
	const struct options *o = values;
	struct stages s;
	int rc;

	if (stage_cluster(&s, ctx, err) < 0 || stage_choose(&s, &o->hosts, arguments, err) < 0)
		return -1;
	rc = stage_probe(&s, err);
	if (rc == 0) {
		if (ctx->json)
			status_print_json(&s);
		else
			print_table(&s);
		status_warn_of_others(&s);
		rc = fleet_result(&s.fleet, err);
	}
	fleet_close(&s.fleet);
	return rc;
}

const struct command command_status = {
	.name = "status",
	.arguments = "[HOST...]",
	.summary = "the state of every host's container",
	.help = "Takes one SSH round trip per host. The states are running, stopped, absent, unreachable,\n"
		"and foreign when somebody else started it. With engine: none a host is ready instead of running.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = status_run,
};
