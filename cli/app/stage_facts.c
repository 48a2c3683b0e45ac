/* SPDX-License-Identifier: MIT */
#include "cli/app/stage_facts.h"

#include "cli/app/stage_simulated.h"

#include "core/file.h"
#include "core/foreign.h"
#include "core/log.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define MINUTE_S 60
#define HOUR_S (60 * MINUTE_S)
#define DAY_S (24 * HOUR_S)

static const char *stage_facts_path(const struct stages *s)
{
	return cluster_state_path(&s->cluster, "facts.json", s->arena);
}

/* The facts of the document's hosts; with `cluster` only of those that it has. */
static int stage_facts_list(const cJSON *hosts, const struct cluster *cluster, struct arena *arena,
			    struct fleet *fleet, struct error *err)
{
	const cJSON *item;

	*fleet = (struct fleet){.members = ARENA_ARRAY(arena, (size_t)cJSON_GetArraySize(hosts) + 1,
						       struct member)};
	cJSON_ArrayForEach (item, hosts) {
		struct facts *facts = &fleet->members[fleet->count].facts;

		if (facts_from_json(item, arena, facts, err) < 0)
			return -1;
		for (size_t i = 0; cluster && i < cluster->host_count; i++)
			if (strcmp(cluster->hosts[i].name, facts->host) == 0)
				fleet->members[fleet->count].host = &cluster->hosts[i];
		fleet->count += !cluster || fleet->members[fleet->count].host;
	}
	return 0;
}

int stage_facts(struct stages *s, const char *path, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;

	if (json_read_input(path, &json, err) < 0)
		return -1;
	if (!cJSON_IsArray(json_member(json, "hosts")))
		return error_set(
			err, ERROR_USAGE,
			"%s holds no facts: it has no list of 'hosts'; 'ringup probe -o FILE' writes one",
			path);
	if (stage_facts_list(json_member(json, "hosts"), NULL, s->arena, &s->fleet, err) < 0)
		return error_wrap(err, "%s", path);
	s->no_facts = true;
	stage_say_simulated(s);
	return 0;
}

int stage_read_facts(const struct stages *s, struct fleet *fleet, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const char *path;

	*fleet = (struct fleet){0};
	if (!s->cluster.host_count || !s->cluster.path)
		return 0;
	path = stage_facts_path(s);
	if (!file_exists(path))
		return 0;
	if (json_read(path, &json, err) < 0 ||
	    stage_facts_list(json_member(json, "hosts"), &s->cluster, s->arena, fleet, err) < 0) {
		error_wrap(err, "%s", path);
		return error_advise(
			err, "'ringup probe' writes it anew, and --no-facts does without it");
	}
	return 0;
}

int stage_lend_facts(struct stages *s, struct error *err)
{
	struct fleet seen;

	if (stage_read_facts(s, &seen, err) < 0)
		return -1;
	for (size_t i = 0; i < s->fleet.count; i++)
		for (size_t k = 0; k < seen.count; k++)
			if (strcmp(seen.members[k].facts.host, s->fleet.members[i].host->name) == 0)
				s->fleet.members[i].facts = seen.members[k].facts;
	return 0;
}

/* "3 hours": how old the file is, in the largest unit that fits. */
static const char *stage_facts_age(const char *path, struct arena *arena)
{
	static const struct {
		long seconds;
		const char *name;
	} units[] = {{DAY_S, "day"}, {HOUR_S, "hour"}, {MINUTE_S, "minute"}, {1, "second"}};
	struct stat st;
	long age = stat(path, &st) == 0 ? time(NULL) - st.st_mtime : 0;

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (age >= units[i].seconds)
			return arena_printf(arena, "%ld %s%s", age / units[i].seconds,
					    units[i].name, age / units[i].seconds == 1 ? "" : "s");
	return "0 seconds";
}

int stage_facts_on_file(struct stages *s, struct error *err)
{
	if (s->no_facts || s->fleet.count)
		return 0;
	if (stage_read_facts(s, &s->fleet, err) < 0)
		return -1;
	s->no_facts = true; /* they are said once */
	if (!s->fleet.count)
		return 0;
	log_info("  %-20s facts of %zu of %zu, from a probe %s ago; --no-facts leaves them out",
		 "hosts", s->fleet.count, s->cluster.host_count,
		 stage_facts_age(stage_facts_path(s), s->arena));
	stage_say_simulated(s);
	return 0;
}
