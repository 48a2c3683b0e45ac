/* SPDX-License-Identifier: MIT */
#include "deployer/lease/up_leases.h"

#include "deployer/container/gpus.h"
#include "deployer/lease/lease.h"

#include <string.h>

#define UP_GRACE_S 3900 /* until the container is there: a pull may take 3600 s */

static void up_lease_request(const struct member *m, const char *among, int count,
			     struct lease_request *request)
{
	*request = (struct lease_request){.kind = "up",
					  .id = "",
					  .cluster = m->fleet->cluster->name,
					  .job = "",
					  .ticket = "",
					  .count = count,
					  .among = among,
					  .grace_s = UP_GRACE_S};
}

/* Sets the first `count` GPUs that the request may have; false when there are fewer. */
static bool up_lease_choose(struct member *m, const struct lease_answer *answer, size_t count)
{
	struct words chosen = WORDS_INIT(&m->arena);

	for (size_t i = 0; i < answer->gpu_count && chosen.count < count; i++)
		if (answer->gpus[i].state == LEASE_FREE)
			words_add(&chosen, answer->gpus[i].uuid);
	if (chosen.count < count)
		return false;
	m->state.leased = words_join(&chosen, ",");
	return true;
}

/* What it has, or else what it might get. */
static int up_lease_look(struct member *m, size_t count, struct error *err)
{
	static const char *const among[] = {"up", "all"};
	struct lease_request request;
	struct lease_answer answer;

	for (size_t i = 0; i < ARRAY_LEN(among); i++) {
		up_lease_request(m, among[i], (int)count, &request);
		if (member_lease(m, "list", &request, &answer, err) < 0)
			return -1;
		if (up_lease_choose(m, &answer, count))
			break;
	}
	return 0;
}

static int up_lease_refuse(struct member *m, size_t count, const struct lease_answer *answer,
			   struct error *err)
{
	if (*answer->none)
		return error_set(err, ERROR_FAILED, "%s: gpus: %zu, and %s", m->host->name, count,
				 answer->none);
	if (answer->queue)
		return error_set(
			err, ERROR_FAILED,
			"%s: gpus: %zu, and %d job%s wait%s for GPUs of this host ('ringup ps --gpus'); try again when they have theirs",
			m->host->name, count, answer->queue, answer->queue == 1 ? "" : "s",
			answer->queue == 1 ? "s" : "");
	return error_set(
		err, ERROR_FAILED,
		"%s: gpus: %zu asks for %zu GPUs, and %zu of %zu are free; %s; ask for fewer, or end what holds them",
		m->host->name, count, count, lease_gpus_free(answer), answer->gpu_count,
		lease_holders_text(answer, &m->arena));
}

static int up_lease_one(struct member *m, void *arg, struct error *err)
{
	const bool *takes = arg;
	struct lease_request request;
	struct lease_answer answer;
	struct gpu_wish wish;

	member_gpu_wish(m, &wish);
	if (wish.kind != GPU_COUNT || !m->engine->has_containers || m->state.leased)
		return 0;
	if (!*takes)
		return up_lease_look(m, wish.count, err);
	up_lease_request(m, "all", (int)wish.count, &request);
	if (member_lease(m, "take", &request, &answer, err) < 0)
		return -1;
	if (answer.taken.count != wish.count)
		return up_lease_refuse(m, wish.count, &answer, err);
	m->state.leased = words_join(&answer.taken, ",");
	return 0;
}

void fleet_lease_up(struct fleet *fleet, const char *accelerator, bool takes)
{
	if (strcmp(accelerator, "cuda") == 0)
		fleet_each(fleet, up_lease_one, &takes);
}

static int up_lease_give(struct member *m, struct error *err)
{
	struct lease_request request;
	struct lease_answer ignored;

	up_lease_request(m, "all", 0, &request);
	return member_lease(m, "give", &request, &ignored, err);
}

void fleet_give_up_unused(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct member *m = &fleet->members[i];
		struct error ignored = {0};

		/* one that was put back keeps what it has */
		if (m->failed && m->state.leased && !*m->state.container_id)
			up_lease_give(m, &ignored);
	}
}

int member_give_up(struct member *m, struct error *err)
{
	const char *settings = m->state.settings ? m->state.settings : "";

	return strstr(settings, "gpus=GPU-") || strstr(settings, "gpus=MIG-")
		       ? up_lease_give(m, err)
		       : 0;
}
