/* SPDX-License-Identifier: MIT */
#include "deployer/probe.h"

#include "core/clock.h"
#include "core/json.h"
#include "core/quote.h"
#include "deployer/address.h"
#include "deployer/bringup/ports.h"
#include "deployer/remote.h"
#include "plan/arch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROBE_TIMEOUT_S 60

static const char *probe_quoted(struct member *m, const char *const *pattern)
{
	const struct engine_value values[] = {{"container", m->fleet->container, NULL}, {0}};
	_cleanup_(str_release) struct str line = STR_INIT;
	struct words words = WORDS_INIT(&m->arena);

	engine_expand(pattern, values, &words);
	quote_words(&line, words.list);
	return arena_strdup(&m->arena, line.text);
}

/* Docker's policy of a container without one is "no". */
static bool probe_restarts(const char *policy)
{
	return *policy && strcmp(policy, "no") != 0;
}

void probe_read_container(struct member *m, const char *text)
{
	struct host_state *state = &m->state;
	struct arena *arena = &m->arena;

	state->container_id = remote_value(text, "container_id", arena);
	state->config = remote_value(text, "container_config", arena);
	state->settings = remote_value(text, "container_settings", arena);
	state->image = remote_value(text, "container_image", arena);
	state->started = remote_value(text, "container_started", arena);
	state->status = remote_value(text, "container_status", arena);
	state->running = strcmp(remote_value(text, "container_running", arena), "true") == 0;
	state->restarts = probe_restarts(remote_value(text, "container_restarts", arena));
	state->exit_status = (int)strtol(remote_value(text, "container_exit", arena), NULL, 10);
	owner_parse(text, "container_owner_", arena, &state->container_owner);
}

void probe_read_state(struct member *m, const char *text)
{
	struct arena *arena = &m->arena;

	m->state = (struct host_state){
		.mesh = remote_value(text, "mesh", arena),
		.folder = remote_value(text, "state_folder", arena),
		.machine = remote_value(text, "machine", arena),
		.listening = remote_value(text, "ports_taken", arena),
	};
	abilities_parse(text, arena, &m->state.can);
	probe_read_container(m, text);
	owner_parse(text, "owner_", arena, &m->state.owner);
}

static double wall_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int probe_one(struct member *m, void *arg, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = PROBE_TIMEOUT_S};
	const bool *details = arg;
	struct probe_span span;
	const char *script;

	if (remote_sections("probe", *details,
			    WORDS(m->fleet->cluster->name, m->host->address, m->engine->name,
				  probe_quoted(m, m->engine->probe),
				  probe_quoted(m, m->engine->abilities),
				  probe_quoted(m, m->engine->state),
				  ports_range(m->fleet->cluster, &m->arena)),
			    &words, &script, err) < 0 ||
	    member_connect(m, err) < 0)
		return -1;
	command.words = words.list;
	command.input = script;
	command.input_bytes = strlen(script);
	span.asked = wall_seconds();
	if (ssh_check(m->ssh, &command, "probe", &result, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	span.answered = wall_seconds();
	probe_read_state(m, result.out.text);
	return facts_parse(m->host->name, result.out.text, &span, &m->arena, &m->facts, err);
}

void fleet_probe(struct fleet *fleet, bool details)
{
	struct progress_step *step = progress_begin("probe", "");

	fleet_each(fleet, probe_one, &details);
	fleet_find_addresses(fleet);
	progress_end(step, fleet_failures(fleet) == 0, "%zu of %zu hosts answer",
		     fleet_asked(fleet) - fleet_failures(fleet), fleet_asked(fleet));
}

static int check_one(struct member *m, void *arg, struct error *err)
{
	const struct facts *f = &m->facts;
	const char *pinned = arch_by_name(m->host->arch), *own = arch_by_name(f->arch);

	(void)arg;
	if (pinned && (!own || strcmp(own, pinned) != 0))
		return error_set(err, ERROR_FAILED, "%s: it is %s, and cluster.yaml pins arch: %s",
				 m->host->name, f->arch, m->host->arch);
	if (!m->engine->has_containers || *f->engine_version)
		return 0;
	if (!*f->engine)
		return error_set(
			err, ERROR_FAILED,
			"%s: %s is not installed there; 'ringup setup' installs it (%s), or set container.engine",
			m->host->name, m->engine->name, m->engine->install);
	if (m->engine->permit && engine_refuses_login(f->engine_error))
		return error_set(
			err, ERROR_FAILED,
			"%s: %s runs there, but %s may not talk to it: %s; set 'sudo: true' for the host, or give the right (%s)",
			m->host->name, m->engine->name,
			*m->target.user ? m->target.user : "this login", f->engine_error,
			m->engine->permit);
	return error_set(err, ERROR_FAILED,
			 "%s: %s does not answer there: %s; start it (%s) and see its log",
			 m->host->name, m->engine->name, f->engine_error, m->engine->start);
}

/* Fails a member that is the machine of an earlier one: both would work on the same container. */
static void check_machines(struct fleet *fleet)
{
	for (size_t i = 1; i < fleet->count; i++) {
		struct member *m = &fleet->members[i];

		for (size_t k = 0; k < i && !m->failed && !m->left_out && *m->state.machine; k++) {
			const struct member *other = &fleet->members[k];

			if (!other->state.machine ||
			    strcmp(other->state.machine, m->state.machine) != 0)
				continue;
			m->failed = true;
			error_set(&m->err, ERROR_FAILED,
				  "%s: it is the same machine as %s; list it once in %s",
				  m->host->name, other->host->name, fleet->cluster->path);
		}
	}
}

void fleet_check(struct fleet *fleet)
{
	fleet_each(fleet, check_one, NULL);
	check_machines(fleet);
	fleet_check_addresses(fleet);
}

cJSON *fleet_facts_json(const struct fleet *fleet)
{
	cJSON *json = json_document(), *hosts = cJSON_AddArrayToObject(json, "hosts");

	for (size_t i = 0; i < fleet->count; i++)
		if (!fleet->members[i].failed && !fleet->members[i].left_out)
			cJSON_AddItemToArray(hosts, facts_to_json(&fleet->members[i].facts));
	return json;
}
