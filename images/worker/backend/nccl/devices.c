/* SPDX-License-Identifier: MIT */
#include "backend/nccl/devices.h"
#include "health/nvml_link.h"
#include "rendezvous/control.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What rank 0 has decided of a rank. */
struct choice {
	int32_t number;
	struct device device;
};

static struct device_name *names; /* [name_count], of all ranks */
static int name_count;

/* GPUs and those who have them. */
struct matching {
	const struct devices *all;
	int (*ids)[DEVICES_MAX]; /* [world]: equal numbers are one GPU */
	int *holders, *seen; /* [number of GPUs]: rank, -1: free; the last rank that asked for it */
	int32_t *chosen;
};

struct sight {
	const struct device *device;
	int rank, place;
};

static int by_uuid(const void *a, const void *b)
{
	const struct sight *x = a, *y = b;

	return memcmp(x->device->uuid, y->device->uuid, sizeof(x->device->uuid));
}

/* Numbers the GPUs by their UUIDs. Returns how many there are. */
static int number_devices(struct matching *m, int world)
{
	struct sight *sights = calloc((size_t)world * DEVICES_MAX, sizeof(*sights));
	int count = 0, id = -1;

	if (!sights)
		abort();
	for (int rank = 0; rank < world; rank++)
		for (int i = 0; i < m->all[rank].count; i++)
			sights[count++] = (struct sight){&m->all[rank].list[i], rank, i};
	qsort(sights, (size_t)count, sizeof(*sights), by_uuid);
	for (int i = 0; i < count; i++) {
		id += i == 0 || by_uuid(&sights[i - 1], &sights[i]) != 0;
		m->ids[sights[i].rank][sights[i].place] = id;
	}
	free(sights);
	return id + 1;
}

static bool hold(struct matching *m, int rank, int place)
{
	m->holders[m->ids[rank][place]] = rank;
	m->chosen[rank] = place;
	return true;
}

/* A free GPU, or one whose rank can take another one; @asking is the rank for which all this is done. */
static bool find_device(struct matching *m, int rank, int asking)
{
	for (int i = 0; i < m->all[rank].count; i++)
		if (m->holders[m->ids[rank][i]] < 0)
			return hold(m, rank, i);
	for (int i = 0; i < m->all[rank].count; i++) {
		int id = m->ids[rank][i];

		if (m->seen[id] == asking)
			continue;
		m->seen[id] = asking;
		if (find_device(m, m->holders[id], asking))
			return hold(m, rank, i);
	}
	return false;
}

int devices_assign(const struct group *group, const struct devices *all, int32_t *chosen)
{
	size_t world = (size_t)group->world;
	struct matching m = {.all = all, .chosen = chosen};
	int count, failed = -1;

	m.ids = calloc(world, sizeof(*m.ids));
	m.holders = calloc(world * DEVICES_MAX, sizeof(*m.holders));
	m.seen = calloc(world * DEVICES_MAX, sizeof(*m.seen));
	if (!m.ids || !m.holders || !m.seen)
		abort();
	count = number_devices(&m, group->world);
	for (int id = 0; id < count; id++)
		m.holders[id] = m.seen[id] = -1;
	for (int rank = 0; rank < group->world && failed < 0; rank++)
		failed = find_device(&m, rank, rank) ? -1 : rank;
	free(m.ids);
	free(m.holders);
	free(m.seen);
	return failed;
}

/* How many ranks of @rank's host come before it. */
static int ranks_before(const struct group *group, int rank)
{
	const struct member *self = &group->members[rank];
	int before = 0;

	for (int other = 0; other < rank; other++)
		before += strcmp(group->members[other].host, self->host) == 0 &&
			  strcmp(group->members[other].kernel, self->kernel) == 0;
	return before;
}

static int no_device(const struct group *group, const struct devices *all, int rank,
		     struct failure *err)
{
	const char *host = group->members[rank].host;
	int number = ranks_before(group, rank) + 1;

	if (number > all[rank].count)
		return failure_set(
			err, STATUS_GPU, rank, host,
			"rank %d (%s) is number %d of its host, which has %d GPUs: start one rank per GPU",
			rank, host, number, all[rank].count);
	return failure_set(
		err, STATUS_GPU, rank, host,
		"rank %d (%s) sees only GPUs that other ranks have, such as %s: start one rank per GPU, and look at $CUDA_VISIBLE_DEVICES and $NVIDIA_VISIBLE_DEVICES of each",
		rank, host, all[rank].list[0].bus);
}

static bool devices_unknown(const struct devices *devices)
{
	static const uint8_t none[16];

	return memcmp(devices->list[0].uuid, none, sizeof(none)) == 0;
}

/*
 * For tests on a machine of one GPU: each host's ranks begin with its first GPU. NCCL takes two ranks on one GPU for
 * two machines if $NCCL_HOSTID differs.
 */
static bool devices_shared(void)
{
	return getenv("RINGUP_TEST_SHARED_GPU") != NULL;
}

/* By number, where a driver does not say which GPUs are the same: before CUDA 9.2. */
static int assign_blindly(const struct group *group, const struct devices *all, int32_t *chosen)
{
	for (int rank = 0; rank < group->world; rank++) {
		chosen[rank] = ranks_before(group, rank);
		if (chosen[rank] >= all[rank].count)
			return rank;
	}
	return -1;
}

/* Rank 0: what everybody gets. */
static int decide(const struct group *group, struct devices *all, struct choice *choices,
		  struct failure *err)
{
	int32_t *chosen = calloc((size_t)group->world, sizeof(*chosen));
	bool unknown = false;
	int failed;

	if (!chosen)
		abort();
	for (int rank = 0; rank < group->world; rank++) {
		if (all[rank].count < 0 || all[rank].count > DEVICES_MAX)
			all[rank].count = 0;
		unknown |= devices_unknown(&all[rank]);
	}
	failed = unknown || devices_shared() ? assign_blindly(group, all, chosen)
					     : devices_assign(group, all, chosen);
	for (int rank = 0; rank < group->world && failed < 0; rank++)
		choices[rank] = (struct choice){.number = chosen[rank],
						.device = all[rank].list[chosen[rank]]};
	free(chosen);
	return failed < 0 ? 0 : no_device(group, all, failed, err);
}

static void read_device(const struct cuda *cuda, int number, struct device *device)
{
	int handle = 0;

	if (cuda->cuDeviceGet(&handle, number) != 0)
		return;
	cuda->cuDeviceGetName(device->model, sizeof(device->model), handle);
	cuda->cuDeviceGetPCIBusId(device->bus, sizeof(device->bus), handle);
	if (cuda->cuDeviceGetUuidOfMig)
		cuda->cuDeviceGetUuidOfMig(device->uuid, handle);
	else if (cuda->cuDeviceGetUuid)
		cuda->cuDeviceGetUuid(device->uuid, handle);
}

/* nvidia-smi's spelling. */
static void name_device(const struct device *device, struct device_name *name)
{
	const uint8_t *u = device->uuid;

	snprintf(name->model, sizeof(name->model), "%.63s", device->model);
	snprintf(name->bus, sizeof(name->bus), "%.15s", device->bus);
	text_tidy(name->model, sizeof(name->model));
	text_tidy(name->bus, sizeof(name->bus));
	snprintf(name->uuid, sizeof(name->uuid),
		 "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 strstr(name->model, " MIG ") ? "MIG" : "GPU", u[0], u[1], u[2], u[3], u[4], u[5],
		 u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

static void keep_names(const struct choice *choices, int world)
{
	free(names);
	names = calloc((size_t)world, sizeof(*names));
	if (!names)
		abort();
	for (int rank = 0; rank < world; rank++)
		name_device(&choices[rank].device, &names[rank]);
	name_count = world;
}

int devices_choose(const struct group *group, const struct cuda *cuda, int *device,
		   struct failure *err)
{
	size_t world = (size_t)group->world;
	struct devices own = {.count = cuda->devices}, *all = NULL;
	struct choice *choices = calloc(world, sizeof(*choices));
	int rc;

	if (group->rank == 0)
		all = calloc(world, sizeof(*all));
	if (!choices || (group->rank == 0 && !all))
		abort();
	if (own.count > DEVICES_MAX)
		own.count = DEVICES_MAX;
	for (int i = 0; i < own.count; i++)
		read_device(cuda, i, &own.list[i]);
	rc = control_gather(group->control, &own, sizeof(own), all, err);
	if (rc == 0 && group->rank == 0)
		rc = decide(group, all, choices, err);
	if (rc == 0)
		rc = control_share(group->control, choices, world * sizeof(*choices), err);
	if (rc == 0) {
		*device = choices[group->rank].number;
		keep_names(choices, group->world);
	}
	free(choices);
	free(all);
	return rc;
}

const struct device_name *devices_name(int rank)
{
	return rank >= 0 && rank < name_count ? &names[rank] : NULL;
}

void devices_links(const struct group *group, uint8_t *links)
{
	struct failure none = {.status = STATUS_PASS};
	const char *host = group->members[group->rank].host;
	struct nvml nvml;
	void *own, *peer;

	if (nvml_open(&nvml, &none) < 0)
		return;
	own = nvml_at(&nvml, names[group->rank].bus);
	for (int rank = 0; rank < group->world && own; rank++) {
		if (rank == group->rank || strcmp(group->members[rank].host, host) != 0)
			continue;
		peer = nvml_at(&nvml, names[rank].bus);
		if (peer)
			links[rank] = (uint8_t)nvml_link(&nvml, own, peer, names[rank].bus);
	}
}
