/* SPDX-License-Identifier: MIT */
#include "cli/app/stage_departed.h"

#include "core/log.h"
#include "deployer/records/placed.h"
#include "deployer/probe.h"

#include <string.h>

/* Compared with the whole file, since stages->cluster may have a part of its hosts only. */
static int stage_departed_list(const struct stages *s, struct host **hosts, size_t *count,
			       struct error *err)
{
	const struct cluster *whole = s->ctx->cluster ? s->ctx->cluster : &s->cluster;

	return placed_departed(whole, s->arena, hosts, count, err);
}

void stage_say_departed(const struct stages *s)
{
	struct error err = {0};
	struct host *hosts;
	size_t count;

	if (stage_departed_list(s, &hosts, &count, &err) < 0) {
		log_warn("%s", err.text);
		return;
	}
	for (size_t i = 0; i < count; i++)
		log_warn(
			"%s (%s) is not in cluster.yaml any more, and what 'up' put there is left: its container and the cluster's keys; 'ringup down %s' removes them",
			hosts[i].name, hosts[i].address, hosts[i].name);
}

/* A name that is in the file means the host of the file. */
static const struct host *stage_departed_find(const struct stages *s, const struct host *hosts,
					      size_t count, const char *name)
{
	if (cluster_host(&s->cluster, name))
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (strcmp(hosts[i].name, name) == 0 || strcmp(hosts[i].address, name) == 0)
			return &hosts[i];
	return NULL;
}

int stage_choose_departed(struct stages *s, const char *const *names, bool *is_departed,
			  struct error *err)
{
	struct fleet_options options = {.timeout_s = s->ctx->timeout_s, .jobs = s->ctx->jobs};
	struct host *hosts, *chosen;
	size_t count, found = 0, asked = 0;

	*is_departed = false;
	if (!*names || stage_departed_list(s, &hosts, &count, err) < 0)
		return *names ? -1 : 0;
	for (const char *const *name = names; *name; name++)
		asked++;
	chosen = ARENA_ARRAY(s->arena, asked, struct host);
	for (const char *const *name = names; *name; name++) {
		const struct host *host = stage_departed_find(s, hosts, count, *name);

		if (host)
			chosen[found++] = *host;
	}
	if (!found)
		return 0;
	if (found < asked)
		return error_set(
			err, ERROR_USAGE,
			"name hosts of cluster.yaml and hosts that are not in it any more in two runs: the latter are purged");
	*is_departed = true;
	s->cluster.hosts = chosen;
	s->cluster.host_count = found;
	if (fleet_init(&s->cluster, &options, s->arena, &s->fleet, err) < 0 ||
	    owner_load(&s->cluster, false, s->arena, &s->fleet.owner, err) < 0)
		return -1;
	fleet_probe(&s->fleet, false);
	return 0;
}
