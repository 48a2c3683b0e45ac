/* SPDX-License-Identifier: MIT */
#include "deployer/container/gpus.h"

#include "core/log.h"
#include "core/progress.h"
#include "core/str.h"
#include "deployer/container/replace.h"
#include "deployer/engine/engine.h"
#include "deployer/bringup/operate.h"
#include "plan/links.h"

#include <stdlib.h>
#include <string.h>

#define GPUS_LOOK_TIMEOUT_S 30

void member_gpu_wish(struct member *m, struct gpu_wish *wish)
{
	const char *own = m->host->gpus;
	struct error ignored = {0};

	/* the text was checked when the file was read */
	gpu_wish_parse(*own ? own : m->fleet->cluster->container.gpus, &m->arena, wish, &ignored);
}

/* How many NVIDIA GPUs are in the host's PCIe slots; 0 where sysfs shows no link of theirs. */
static size_t gpus_in_slots(struct member *m)
{
	struct links links;
	size_t count = 0;

	links_parse(&m->facts, &m->arena, &links);
	for (size_t i = 0; i < links.pci_count; i++)
		count += links.pci[i].is_gpu;
	return count;
}

int member_check_gpu_error(struct member *m, struct error *err)
{
	struct gpu_wish wish;

	member_gpu_wish(m, &wish);
	if (wish.kind == GPU_NONE || !*m->facts.gpu_error)
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"%s: its GPUs cannot be used: %s; mend the driver there (after an upgrade: reboot), or write gpus: none for this host",
		m->host->name, m->facts.gpu_error);
}

const char *member_gpu_trouble(struct member *m)
{
	size_t listed = gpu_count(&m->facts), in_slots;
	struct gpu_wish wish;

	member_gpu_wish(m, &wish);
	if (wish.kind == GPU_NONE)
		return "";
	if (*m->facts.gpu_error)
		return arena_printf(&m->arena, "its GPUs cannot be used: %s", m->facts.gpu_error);
	/* a host that is a container sees all slots and has some of the GPUs */
	if (*facts_text(&m->facts, fact_row("in_container"), &m->arena))
		return "";
	in_slots = listed ? gpus_in_slots(m) : 0;
	return in_slots > listed
		       ? arena_printf(&m->arena,
				      "nvidia-smi lists %zu of the %zu GPUs in its PCIe slots",
				      listed, in_slots)
		       : "";
}

static int gpus_check_toolkit(const struct member *m, struct error *err)
{
	if (!m->engine->has_containers)
		return 0;
	if (*m->facts.runtime_gpu && m->engine->needs_cdi && !m->state.can.has_cdi)
		return error_set(
			err, ERROR_FAILED,
			"%s: no CDI file there names its GPUs, so %s cannot give them to containers: run 'nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml' there; or write gpus: none for this host",
			m->host->name, m->engine->name);
	if (*m->facts.runtime_gpu)
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"%s: NVIDIA's container toolkit is missing there, so containers cannot get its GPUs: %s; or write gpus: none for this host",
		m->host->name, m->engine->gpu_toolkit);
}

static int gpus_check_one(struct member *m, void *arg, struct error *err)
{
	const struct facts *f = &m->facts;
	const char *trouble;
	struct gpu_wish wish;

	(void)arg;
	member_gpu_wish(m, &wish);
	if (wish.kind == GPU_NONE)
		return 0;
	trouble = member_gpu_trouble(m);
	if (*trouble && !*f->gpu_error)
		log_warn("%s: %s; 'dmesg | grep Xid' there may say why", m->host->name, trouble);
	if (member_check_gpu_error(m, err) < 0)
		return -1;
	if (gpu_wish_check(&wish, f, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	if (!gpu_count(f)) {
		log_warn(
			"%s has no GPU: its container gets none; gpus: none says that this is right",
			m->host->name);
		return 0;
	}
	return gpus_check_toolkit(m, err);
}

void fleet_check_gpus(struct fleet *fleet, const char *accelerator)
{
	if (strcmp(accelerator, "cuda") == 0)
		fleet_each(fleet, gpus_check_one, NULL);
}

/* MIG devices share the nodes of their GPUs, so at least one is there. */
static size_t gpus_nodes_wanted(struct member *m)
{
	struct gpu_wish wish;

	member_gpu_wish(m, &wish);
	for (size_t i = 0; i < wish.count; i++)
		if (gpu_wish_is_mig(wish.devices[i]))
			return 1;
	return gpu_wish_count(&wish, &m->facts);
}

static int gpus_seen(struct member *m, size_t *seen, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};

	if (member_exec(m,
			WORDS("sh", "-c",
			      "[ -e /dev/dxg ] && echo 1000 || ls /dev | grep -c '^nvidia[0-9]'"),
			GPUS_LOOK_TIMEOUT_S, &result, err) < 0)
		return -1;
	*seen = strtoul(result.out.text ? result.out.text : "", NULL, 10);
	return 0;
}

/* A container that this command did not make began before its GPUs were there: it is started again, once. */
static int gpus_restart(struct member *m, size_t wanted, size_t *seen, struct error *err)
{
	const char *doing =
		arena_printf(&m->arena, "starts the container again: it sees %zu of its %zu GPUs",
			     *seen, wanted);
	struct progress_step *step = progress_begin(m->host->name, doing);
	int rc = member_restart(m, err);

	if (rc == 0)
		rc = gpus_seen(m, seen, err);
	progress_end(step, rc == 0 && *seen >= wanted,
		     rc == 0 ? "it sees %zu of its %zu GPUs" : "failed", *seen, wanted);
	return rc;
}

#define GPUS_UNKNOWN 1000 /* gpus_seen of a host without device nodes */

/* A container that has all GPUs keeps the nodes of those that the host has lost since. */
static bool gpus_are_lost(struct member *m, size_t seen)
{
	struct gpu_wish wish;

	member_gpu_wish(m, &wish);
	return wish.kind == GPU_ALL && seen > gpu_count(&m->facts) && seen < GPUS_UNKNOWN;
}

/* What to say of such a container, in the member's arena. */
static const char *gpus_say_lost(struct member *m, size_t seen)
{
	return arena_printf(
		&m->arena,
		"its container was given %zu GPUs, and the host has %zu now: a job that uses what is lost fails; 'ringup doctor %s' may say why, 'ringup restart %s' leaves it out",
		seen, gpu_count(&m->facts), m->host->name, m->host->name);
}

int member_compare_gpus(struct member *m, enum container_gpus *gpus, const char **trouble,
			struct error *err)
{
	size_t wanted = gpus_nodes_wanted(m), seen;

	*trouble = "";
	*gpus = CONTAINER_GPUS_FINE;
	if (!wanted)
		return 0;
	if (gpus_seen(m, &seen, err) < 0)
		return -1;
	if (gpus_are_lost(m, seen))
		*gpus = CONTAINER_GPUS_LOST;
	else if (seen < wanted)
		*gpus = CONTAINER_GPUS_FEWER;
	if (*gpus == CONTAINER_GPUS_LOST)
		*trouble = gpus_say_lost(m, seen);
	else if (*gpus == CONTAINER_GPUS_FEWER)
		*trouble = arena_printf(
			&m->arena,
			"its container sees %zu of the %zu GPUs that it was to get; 'ringup up' starts it again",
			seen, wanted);
	return 0;
}

static int gpus_look_inside(struct member *m, void *arg, struct error *err)
{
	size_t wanted = gpus_nodes_wanted(m), seen;

	(void)arg;
	if (!wanted)
		return 0;
	if (gpus_seen(m, &seen, err) < 0 ||
	    (seen < wanted && !m->changed && gpus_restart(m, wanted, &seen, err) < 0))
		return -1;
	if (gpus_are_lost(m, seen))
		log_warn("%s: %s", m->host->name, gpus_say_lost(m, seen));
	if (seen >= wanted)
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"%s: its container sees %zu of the %zu GPUs that it was to get; 'ringup restart %s' gives it those that came back since it began; if it does not, look at the log of NVIDIA's container toolkit there",
		m->host->name, seen, wanted, m->host->name);
}

void fleet_check_container_gpus(struct fleet *fleet, const char *accelerator)
{
	if (strcmp(accelerator, "cuda") == 0)
		fleet_each(fleet, gpus_look_inside, NULL);
}

/* The entry of a ';'-separated list, in the arena; "" when there are fewer. */
static const char *gpus_entry(const char *list, size_t index, struct arena *arena)
{
	for (; *list && index; index--) {
		list += strcspn(list, ";");
		list += *list == ';';
	}
	return arena_strndup(arena, list, strcspn(list, ";"));
}

const char *gpus_lost(const struct facts *before, const struct facts *now, struct arena *arena)
{
	_cleanup_(str_release) struct str lost = STR_INIT;
	size_t count = *before->gpu_uuids && *now->gpu_uuids ? gpu_count(before) : 0;

	for (size_t i = 0; i < count; i++) {
		const char *uuid = gpus_entry(before->gpu_uuids, i, arena);

		if (*uuid && !list_has(now->gpu_uuids, uuid, strlen(uuid)))
			str_addf(&lost, "%sGPU %zu (%s, %s)", lost.length ? ", " : "", i,
				 gpus_entry(before->gpus, i, arena), uuid);
	}
	return arena_strdup(arena, lost.length ? lost.text : "");
}
