/* SPDX-License-Identifier: MIT */
#include "deployer/fleet.h"

#include "core/clock.h"
#include "core/pool.h"

#include <string.h>

#define FLEET_TIMEOUT_DEFAULT_S 15
#define FLEET_JOBS_DEFAULT 64
#define FLEET_ERRORS_SHOWN 8

static int pick_engine(const char *name, const struct engine **engine, struct error *err)
{
	*engine = engine_find(strcmp(name, "auto") == 0 ? engines[0]->name : name);
	if (*engine)
		return 0;
	error_set(err, ERROR_USAGE,
		  "container.engine: there is no engine '%s'; known engines:", name);
	for (const struct engine *const *e = engines; *e; e++) {
		size_t used = strlen(err->text);

		snprintf(err->text + used, sizeof(err->text) - used, " %s", (*e)->name);
	}
	return -1;
}

int fleet_init(const struct cluster *cluster, const struct fleet_options *options,
	       struct arena *arena, struct fleet *fleet, struct error *err)
{
	const struct engine *engine;

	*fleet = (struct fleet){.cluster = cluster, .arena = arena, .count = cluster->host_count};
	fleet->container = arena_printf(arena, "ringup-%s", cluster->name);
	fleet->jobs = options->jobs ? (size_t)options->jobs : FLEET_JOBS_DEFAULT;
	fleet->members = ARENA_ARRAY(arena, fleet->count, struct member);
	if (pick_engine(cluster->container.engine, &engine, err) < 0)
		return error_wrap(err, "%s", cluster->path);
	for (size_t i = 0; i < fleet->count; i++) {
		const struct host *host = &cluster->hosts[i];

		fleet->members[i] = (struct member){
			.host = host,
			.index = i,
			.fleet = fleet,
			.engine = engine,
			.target = {.name = host->name,
				   .address = host->address,
				   .user = host->user,
				   .port = host->port,
				   .key = cluster_path(cluster, cluster->ssh.key, arena),
				   .known_hosts =
					   cluster_path(cluster, cluster->ssh.known_hosts, arena),
				   .jump = cluster->ssh.jump,
				   .transport = cluster->ssh.transport,
				   .sudo = cluster->ssh.sudo,
				   .timeout_s = options->timeout_s ? options->timeout_s
								   : FLEET_TIMEOUT_DEFAULT_S},
		};
	}
	return 0;
}

static void close_one(void *arg, size_t index)
{
	struct fleet *fleet = arg;

	ssh_close(fleet->members[index].ssh);
	arena_release(&fleet->members[index].arena);
}

void fleet_close(struct fleet *fleet)
{
	if (fleet->members)
		pool_each(fleet->count, fleet->jobs, close_one, fleet);
	fleet->members = NULL;
}

struct each {
	struct fleet *fleet;
	int (*fn)(struct member *member, void *arg, struct error *err);
	void *arg;
};

static void call_one(void *arg, size_t index)
{
	struct each *each = arg;
	struct member *member = &each->fleet->members[index];

	if (member->failed)
		return;
	if (interrupt_check(&member->err) < 0 || each->fn(member, each->arg, &member->err) < 0)
		member->failed = true;
}

void fleet_each(struct fleet *fleet, int (*fn)(struct member *member, void *arg, struct error *err),
		void *arg)
{
	struct each each = {fleet, fn, arg};

	pool_each(fleet->count, fleet->jobs, call_one, &each);
}

size_t fleet_failures(const struct fleet *fleet)
{
	size_t failures = 0;

	for (size_t i = 0; i < fleet->count; i++)
		failures += fleet->members[i].failed;
	return failures;
}

int fleet_result(const struct fleet *fleet, struct error *err)
{
	size_t failures = fleet_failures(fleet), shown = 0;
	enum error_kind kind = failures < fleet->count ? ERROR_PARTIAL : ERROR_FAILED;
	_cleanup_(str_release) struct str text = {0};

	if (!failures)
		return 0;
	str_init(&text);
	for (size_t i = 0; i < fleet->count && shown < FLEET_ERRORS_SHOWN; i++) {
		const struct member *member = &fleet->members[i];

		if (!member->failed)
			continue;
		if (member->err.kind == ERROR_INTERRUPTED)
			kind = ERROR_INTERRUPTED;
		str_addf(&text, "%s%s", shown++ ? "\n  " : "", member->err.text);
	}
	if (failures > shown)
		str_addf(&text, "\n  and %zu more hosts", failures - shown);
	if (kind == ERROR_PARTIAL)
		str_addf(&text, "%s%zu of %zu hosts failed; the others are done",
			 failures > 1 ? "\n  " : "; ", failures, fleet->count);
	return error_set(err, kind, "%s", text.text);
}

int member_connect(struct member *member, struct error *err)
{
	return member->ssh ? 0 : ssh_open(&member->target, &member->ssh, err);
}

int member_check(struct member *member, const char *const *words, const char *what,
		 struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct ssh_command command = {.words = words};

	if (member_connect(member, err) < 0 ||
	    ssh_check(member->ssh, &command, what, &result, err) < 0)
		return error_wrap(err, "%s", member->host->name);
	return 0;
}
