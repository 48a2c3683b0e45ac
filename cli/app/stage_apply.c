/* SPDX-License-Identifier: MIT */
#include "cli/app/stage_apply.h"

#include "cli/app/stage_fleet.h"
#include "cli/app/stage_push.h"
#include "cli/app/stage_seeds.h"
#include "cli/app/stage_simulated.h"

#include "core/clock.h"
#include "core/foreign.h"
#include "core/log.h"
#include "core/term.h"
#include "deployer/container/allowed.h"
#include "deployer/bringup/claim.h"
#include "deployer/container/gpus.h"
#include "deployer/records/history.h"
#include "deployer/bringup/host_stack.h"
#include "deployer/container/images.h"
#include "deployer/lease/up_leases.h"
#include "deployer/records/placed.h"
#include "deployer/bringup/ports.h"
#include "deployer/probe.h"

#include <string.h>
#include <unistd.h>

bool stage_has_containers(const struct stages *s)
{
	return s->fleet.members[0].engine->has_containers;
}

int stage_meet_hosts(struct stages *s, bool takes_over, struct error *err)
{
	if (stage_probe(s, err) < 0)
		return -1;
	s->fleet.takes_over = takes_over;
	if (owner_load(&s->cluster, true, s->arena, &s->fleet.owner, err) < 0)
		return -1;
	fleet_phase(&s->fleet, "check");
	fleet_check(&s->fleet);
	fleet_check_owner(&s->fleet);
	fleet_check_paused(&s->fleet);
	fleet_check_ports(&s->fleet);
	return 0;
}

int stage_check_gpus(struct stages *s, struct error *err)
{
	fleet_phase(&s->fleet, "GPUs");
	fleet_check_gpus(&s->fleet, s->plan.accelerator);
	fleet_phase(&s->fleet, "engine");
	fleet_check_allowed(&s->fleet, s->plan.accelerator);
	return fleet_failures(&s->fleet) == fleet_asked(&s->fleet) ? fleet_result(&s->fleet, err)
								   : 0;
}

int stage_apply(struct stages *s, const struct apply *apply, struct error *err)
{
	struct history_note note = {.command = apply->command, .plan = &s->plan};
	struct bringup bringup;

	fleet_lease_up(&s->fleet, s->plan.accelerator, true);
	if (placed_add(&s->fleet, err) < 0 || stage_bringup(s, &bringup, err) < 0)
		return -1;
	bringup.rolling = apply->rolling;
	bringup.image_bytes = s->image_bytes;
	bringup.image_is_new = apply->image_is_new;
	if (stage_image_file(s, &bringup.image_archive, err) < 0)
		return -1;
	stage_seeds(s, &bringup);
	fleet_bringup(&s->fleet, &bringup);
	if (bringup.image_archive)
		unlink(bringup.image_archive);
	fleet_give_up_unused(&s->fleet);
	if (!stage_has_containers(s) && !cluster_has_no_stack(&s->cluster))
		fleet_check_stack(&s->fleet, &s->plan);
	keys_wipe(&bringup.keys);
	note.recipe = apply->recipe ? apply->recipe : s->spec ? s->recipe : NULL;
	note.image = bringup.image;
	history_add(&s->fleet, &note);
	fleet_prune_images(&s->fleet, bringup.image);
	return fleet_result(&s->fleet, err);
}

static void stage_apply_json(const struct stages *s)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *hosts = cJSON_AddArrayToObject(json, "hosts");

	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct member *m = &s->fleet.members[i];
		cJSON *item;

		if (m->left_out)
			continue;
		item = cJSON_CreateObject();
		cJSON_AddStringToObject(item, "host", m->host->name);
		cJSON_AddBoolToObject(item, "ok", !m->failed && !m->waits);
		cJSON_AddBoolToObject(item, "changed", m->changed);
		json_add_text(item, "container", m->state.container_id);
		json_add_text(item, "error", m->failed ? m->err.text : NULL);
		json_add_text(item, "phase", m->failed ? m->phase : NULL);
		cJSON_AddItemToArray(hosts, item);
	}
	if (s->reference.digest)
		cJSON_AddStringToObject(json, "image", reference_text(&s->reference, s->arena));
	stage_add_simulated(s, json);
	cJSON_AddNumberToObject(json, "ssh_connections", ssh_connections_opened());
	json_print(stdout, json);
}

/* Errors are "HOST: CAUSE; WHAT TO DO". */
static void stage_add_failure(const struct member *m, struct term_table *table)
{
	const char *text = m->err.text, *name = m->host->name, *advice;

	if (starts_with(text, name) && text[strlen(name)] == ':')
		text += strlen(name) + 1 + strspn(text + strlen(name) + 1, " ");
	advice = strstr(text, "; ");
	term_table_row(
		table,
		WORDS(name, m->phase,
		      advice ? arena_strndup(table->arena, text, (size_t)(advice - text)) : text,
		      advice ? advice + strlen("; ") : "run the same command again"));
}

static void stage_print_failures(const struct stages *s)
{
	struct term_table table;

	if (!fleet_failures(&s->fleet))
		return;
	term_table_init(&table, s->arena, WORDS("HOST", "PHASE", "CAUSE", "WHAT TO DO"));
	for (size_t i = 0; i < s->fleet.count; i++)
		if (s->fleet.members[i].failed)
			stage_add_failure(&s->fleet.members[i], &table);
	term_table_print(&table, stdout);
}

void stage_print_outcome(const struct stages *s, uint64_t begin, int rc, const struct error *err)
{
	size_t changed = 0, up = fleet_active(&s->fleet);

	if (rc < 0 && err->kind != ERROR_PARTIAL && !s->ctx->json)
		return;
	if (s->ctx->json) {
		stage_apply_json(s);
		return;
	}
	for (size_t i = 0; i < s->fleet.count; i++)
		changed += s->fleet.members[i].changed && !s->fleet.members[i].failed;
	stage_print_failures(s);
	if (up)
		say("cluster %s: %zu of %zu hosts up, %zu changed, %.1f s\n", s->cluster.name, up,
		    fleet_asked(&s->fleet), changed, clock_seconds_since(begin));
	for (size_t i = 0; up && i < s->cluster.job_count; i++)
		log_info("  %-20s ringup run %s", i ? "" : "jobs", s->cluster.jobs[i].name);
}
