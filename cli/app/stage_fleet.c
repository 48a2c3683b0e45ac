/* SPDX-License-Identifier: MIT */
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_departed.h"
#include "cli/app/stage_facts.h"
#include "cli/app/stage_plan.h"
#include "cli/app/stage_simulated.h"

#include "core/file.h"
#include "core/foreign.h"
#include "core/json.h"
#include "core/log.h"
#include "deployer/container/parcel.h"
#include "deployer/container/gpus.h"
#include "deployer/lease/up_leases.h"
#include "deployer/probe.h"
#include "plan/host_set.h"
#include "plan/lock.h"
#include "registry-client/login/helper.h"

#include <math.h>
#include <string.h>

/* Less than this harms nobody but who reads logs; `ringup doctor` tells of it. */
#define SKEW_S 5

/* Names the GPUs that were there at the last probe and are not now. */
static void stage_say_lost(const struct stages *s, const struct fleet *before)
{
	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct member *now = &s->fleet.members[i];

		for (size_t k = 0; k < before->count && !now->failed && !now->left_out; k++) {
			const char *lost = "";

			if (before->members[k].host == now->host)
				lost = gpus_lost(&before->members[k].facts, &now->facts, s->arena);
			if (*lost)
				log_warn("%s has lost %s since the last probe; it has %zu GPUs now",
					 now->host->name, lost, gpu_count(&now->facts));
		}
	}
}

static bool stage_is_asked(const struct stages *s, const char *name)
{
	for (size_t i = 0; i < s->fleet.count; i++)
		if (!s->fleet.members[i].left_out &&
		    strcmp(s->fleet.members[i].host->name, name) == 0)
			return true;
	return false;
}

/* Members that are left out have the facts of the last probe, or none. */
static void stage_take_facts(struct stages *s, const struct fleet *before)
{
	if (!s->only.count)
		return;
	fleet_leave_out(&s->fleet, words_list(&s->only));
	for (size_t i = 0; i < before->count; i++)
		for (size_t k = 0; k < s->fleet.count; k++)
			if (s->fleet.members[k].left_out &&
			    s->fleet.members[k].host == before->members[i].host)
				s->fleet.members[k].facts = before->members[i].facts;
}

/* Adds what the last probe knows of the hosts that are left out this time. */
static void stage_keep_facts(const struct stages *s, const char *path, cJSON *json)
{
	_cleanup_(json_free) cJSON *before = NULL;
	struct error ignored = {0};
	const cJSON *item;

	if ((!s->is_choice && !s->only.count) || !file_exists(path) ||
	    json_read(path, &before, &ignored) < 0)
		return;
	cJSON_ArrayForEach (item, json_member(before, "hosts"))
		if (!stage_is_asked(s, json_text(item, "host", s->arena)))
			cJSON_AddItemToArray(cJSON_GetObjectItem(json, "hosts"),
					     cJSON_Duplicate(item, true));
}

/* A short probe does not lose what a whole one found. */
static void stage_keep_details(struct stages *s, const struct fleet *before)
{
	for (size_t i = 0; i < s->fleet.count && !s->details; i++)
		for (size_t k = 0; k < before->count; k++)
			if (!s->fleet.members[i].failed &&
			    before->members[k].host == s->fleet.members[i].host)
				facts_keep_details(&s->fleet.members[i].facts,
						   &before->members[k].facts, s->arena);
}

/* Names the hosts whose clocks are ahead, or behind, in one line. */
static void stage_say_clocks(const struct stages *s, bool is_ahead)
{
	struct words names = WORDS_INIT(s->arena);
	double least = 0, most = 0;
	const char *range;

	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct member *m = &s->fleet.members[i];
		double skew = is_ahead ? m->facts.clock_skew_seconds : -m->facts.clock_skew_seconds;

		if (m->failed || m->left_out || skew < SKEW_S)
			continue;
		least = names.count && least < skew ? least : skew;
		most = most > skew ? most : skew;
		words_add(&names, m->host->name);
	}
	if (!names.count)
		return;
	range = round(least) == round(most) ? arena_printf(s->arena, "%.0f s", most)
					    : arena_printf(s->arena, "%.0f to %.0f s", least, most);
	log_warn("%s: %s %s %s this machine's; start a time service on %s (chrony, "
		 "systemd-timesyncd)",
		 host_set_fold(words_list(&names), s->arena),
		 names.count == 1 ? "its clock is" : "their clocks are", range,
		 is_ahead ? "ahead of" : "behind", names.count == 1 ? "both" : "all");
}

/* Clocks that differ make certificates invalid, and logs and timeouts wrong. */
static void stage_say_skew(const struct stages *s)
{
	stage_say_clocks(s, true);
	stage_say_clocks(s, false);
}

int stage_probe(struct stages *s, struct error *err)
{
	struct error ignored = {0};
	struct fleet before;
	struct fleet_options options = {.timeout_s = s->ctx->timeout_s, .jobs = s->ctx->jobs};
	_cleanup_(json_free) cJSON *json = NULL;
	const char *path = cluster_state_path(&s->cluster, "facts.json", s->arena);

	if (fleet_init(&s->cluster, &options, s->arena, &s->fleet, err) < 0 ||
	    stage_state(s, err) < 0 ||
	    owner_load(&s->cluster, false, s->arena, &s->fleet.owner, err) < 0)
		return -1;
	stage_read_facts(s, &before, &ignored);
	stage_take_facts(s, &before);
	fleet_probe(&s->fleet, s->details);
	stage_keep_details(s, &before);
	stage_say_skew(s);
	stage_say_departed(s);
	stage_say_simulated(s);
	stage_say_lost(s, &before);
	json = fleet_facts_json(&s->fleet);
	stage_keep_facts(s, path, json);
	return json_write(path, json, 0600, err);
}

/*
 * The hosts of the sets that take hosts in, or of those that leave hosts out. No host is not all hosts: a set to take in must
 * name one.
 */
static int stage_add_sets(struct stages *s, const char *const *sets, bool in, struct words *names,
			  struct error *err)
{
	for (; *sets; sets++) {
		struct words of_set = WORDS_INIT(s->arena);

		if ((**sets != '!') != in)
			continue;
		if (host_set_of_cluster(&s->cluster, *sets + !in, &of_set, err) < 0)
			return -1;
		if (in && !of_set.count)
			return error_set(err, ERROR_USAGE, "'%s' names no host", *sets);
		host_set_drop(&of_set, names);
		words_add_all(names, words_list(&of_set));
	}
	return 0;
}

int stage_ask_only(struct stages *s, const struct words *sets, const char *const *arguments,
		   struct error *err)
{
	struct words all = WORDS_INIT(s->arena), out = WORDS_INIT(s->arena);

	s->only = (struct words)WORDS_INIT(s->arena);
	if (sets)
		words_add_all(&all, words_list(sets));
	if (arguments)
		words_add_all(&all, arguments);
	if (stage_add_sets(s, words_list(&all), true, &s->only, err) < 0 ||
	    stage_add_sets(s, words_list(&all), false, &out, err) < 0)
		return -1;
	if (!out.count)
		return 0;
	if (!s->only.count)
		host_set_of_cluster(&s->cluster, "@*", &s->only, err);
	host_set_drop(&s->only, &out);
	return s->only.count ? 0 : error_set(err, ERROR_USAGE, "--exclude leaves no host");
}

int stage_choose(struct stages *s, const struct words *sets, const char *const *arguments,
		 struct error *err)
{
	struct words wanted;
	struct host *kept;

	if (stage_ask_only(s, sets, arguments, err) < 0)
		return -1;
	wanted = s->only;
	s->only = (struct words)WORDS_INIT(s->arena);
	if (!wanted.count)
		return 0;
	s->is_choice = wanted.count < s->cluster.host_count;
	kept = ARENA_ARRAY(s->arena, wanted.count, struct host);
	for (size_t i = 0; i < wanted.count; i++)
		kept[i] = *cluster_host(&s->cluster, wanted.list[i]);
	s->cluster.hosts = kept;
	s->cluster.host_count = wanted.count;
	return 0;
}

int stage_select(struct stages *s, const struct words *sets, const char *const *arguments,
		 struct error *err)
{
	struct fleet_options options = {.timeout_s = s->ctx->timeout_s, .jobs = s->ctx->jobs};

	if (stage_choose(s, sets, arguments, err) < 0 ||
	    fleet_init(&s->cluster, &options, s->arena, &s->fleet, err) < 0)
		return -1;
	return owner_load(&s->cluster, false, s->arena, &s->fleet.owner, err);
}

/* All but the login. */
static int stage_fill_bringup(struct stages *s, struct bringup *bringup, struct error *err)
{
	const struct cluster_registry *r = &s->cluster.registry;
	const char *programs;
	char *ca = NULL;

	*bringup = (struct bringup){.accelerator = s->plan.accelerator, .registry = r->address};
	if (*r->ca && file_read(cluster_path(&s->cluster, r->ca, s->arena), MIB, s->arena, &ca,
				NULL, err) < 0)
		return error_wrap(err, "registry.ca");
	bringup->registry_ca = ca;
	fleet_lease_up(&s->fleet, s->plan.accelerator, false);
	if (s->reference.digest)
		bringup->image = reference_text(&s->reference, s->arena);
	if (keys_load(&s->fleet, s->arena, &bringup->keys, err) < 0)
		return -1;
	if (s->fleet.members[0].engine->has_containers)
		return 0;
	programs = path_program_folder(s->arena);
	if (!file_exists(arena_printf(s->arena, "%s/allreduce", programs)))
		return error_set(err, ERROR_FAILED, "the worker %s/allreduce is missing; run make",
				 programs);
	return parcel_read_programs(programs, s->arena, &bringup->programs, err);
}

int stage_bringup(struct stages *s, struct bringup *bringup, struct error *err)
{
	struct credentials credentials;

	if (registry_credentials(&s->cluster, s->cluster.registry.address, s->arena, &credentials,
				 err) < 0 ||
	    stage_fill_bringup(s, bringup, err) < 0)
		return -1;
	bringup->credentials = credentials;
	return 0;
}

int stage_wanted(struct stages *s, struct bringup *wanted, bool *known, struct error *err)
{
	struct lock lock;
	bool found;

	*known = false;
	if (lock_read(stage_lock_path(s), s->arena, &lock, &found, err) < 0)
		return -1;
	if (!found || !keys_exist(&s->fleet, s->arena))
		return 0;
	s->plan = lock.plan;
	if (stage_fill_bringup(s, wanted, err) < 0)
		return -1;
	wanted->image = *lock.image ? lock.image : NULL;
	*known = true;
	return 0;
}

void stage_print_lines(FILE *out, const char *host, const char *text)
{
	while (text && *text) {
		int length = (int)strcspn(text, "\n");

		say_to(out, "%s: %.*s\n", host, length, text);
		text += length + (text[length] == '\n');
	}
}

void stage_json_failed(const struct stages *s, cJSON *document)
{
	cJSON *list = cJSON_AddArrayToObject(document, "failed");

	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct member *m = &s->fleet.members[i];
		cJSON *item;

		if (!m->failed)
			continue;
		item = cJSON_CreateObject();
		cJSON_AddItemToArray(list, item);
		cJSON_AddStringToObject(item, "host", m->host->name);
		json_add_text(item, "error", m->err.text);
	}
}
