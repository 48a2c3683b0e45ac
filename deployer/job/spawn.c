/* SPDX-License-Identifier: MIT */
#include "deployer/job/spawn.h"

#include "deployer/launcher/launcher.h"

#include <string.h>

#define SPAWNS_MAX 100000 /* a label has room for more */
#define NAME_BYTES_SHOWN 100

struct job_spawn {
	const struct job_host *host;
	int number; /* by which the first host knows it */
};

/* The host that a launcher calls so: by its address or its name. */
static const struct job_host *spawn_find_host(const struct job_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->host_count; i++) {
		const struct host *host = plan->hosts[i].member->host;

		if (strcmp(host->address, name) == 0 || strcmp(host->name, name) == 0)
			return &plan->hosts[i];
	}
	return NULL;
}

static void spawn_start(struct supervisors *supervisors, const struct job_plan *plan,
			const struct job_host *host, size_t number, const char *command)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	job_say(&out, "task", arena_printf(plan->arena, "t%zu", number));
	job_say(&out, "word", "/bin/sh");
	job_say(&out, "word", "-c");
	job_say(&out, "word", command);
	job_say(&out, "start", NULL);
	supervisor_tell(supervisors, (size_t)(host - plan->hosts), out.text);
}

const char *job_spawn(struct job_spawns *spawns, const struct job_plan *plan,
		      struct supervisors *supervisors, const struct job_host *asker,
		      const struct job_event *event)
{
	const struct launcher *launcher = plan->options->launcher;
	const struct job_host *host = spawn_find_host(plan, event->label);

	if (!launcher->spawns || asker != plan->hosts)
		return "it asks for programs on other hosts, which it has no reason to";
	if (!host)
		return arena_printf(
			plan->arena,
			"%s wants to start a program on '%.*s', which is no host of the job",
			launcher->name, NAME_BYTES_SHOWN, event->label);
	if (spawns->count == SPAWNS_MAX)
		return "it asks for too many programs on other hosts";
	if ((spawns->count & (spawns->count - 1)) == 0) {
		struct job_spawn *grown = ARENA_ARRAY(
			plan->arena, spawns->count ? 2 * spawns->count : 1, struct job_spawn);

		if (spawns->count)
			memcpy(grown, spawns->list, spawns->count * sizeof(*grown));
		spawns->list = grown;
	}
	spawns->list[spawns->count++] = (struct job_spawn){host, event->number};
	spawn_start(supervisors, plan, host, spawns->count, event->text);
	return NULL;
}

bool job_spawn_ended(const struct job_spawns *spawns, struct supervisors *supervisors,
		     const struct job_host *host, const char *label, int status)
{
	size_t number = *label == 't' ? (size_t)job_fact_number(label + 1, 0) : 0;
	_cleanup_(str_release) struct str out = STR_INIT;

	if (!number || number > spawns->count || spawns->list[number - 1].host != host)
		return false;
	str_addf(&out, "spawned %d %d\n", spawns->list[number - 1].number, status);
	supervisor_tell(supervisors, 0, out.text);
	return true;
}
