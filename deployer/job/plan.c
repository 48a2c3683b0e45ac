/* SPDX-License-Identifier: MIT */
#include "deployer/job/plan.h"

#include "core/digest.h"
#include "deployer/engine/engine.h"
#include "deployer/container/gpus.h"
#include "deployer/job/defaults.h"
#include "plan/links.h"

#include <string.h>

#define RANKS_MAX 100000
#define ID_BYTES 8

void job_host_init(struct job_host *host, struct member *member)
{
	*host = (struct job_host){.member = member,
				  .machine = "",
				  .cores = 1,
				  .interface = "",
				  .network = "",
				  .rdma = WORDS_INIT(&member->arena),
				  .ports = WORDS_INIT(&member->arena)};
}

void job_tasks_add(struct job_tasks *tasks, const struct job_task *task)
{
	struct job_task *grown = ARENA_ARRAY(tasks->arena, tasks->count + 1, struct job_task);

	if (tasks->count)
		memcpy(grown, tasks->list, tasks->count * sizeof(*grown));
	grown[tasks->count++] = *task;
	tasks->list = grown;
}

/* The host has the GPUs that `gpus` names. One that shows none may be one that hides them. */
static int job_check_wish(const struct job_host *host, const struct gpu_wish *wish,
			  struct error *err)
{
	const char *name = host->member->host->name;
	const char *missing = host->gpus ? gpu_wish_beyond(wish, (size_t)host->gpus) : NULL;

	if (!missing)
		return 0;
	return error_set(
		err, ERROR_PARTIAL,
		"%s: the GPU %s of 'gpus' is not there: it has %d, counted from 0; correct 'gpus', or see what became of it: ringup doctor -H %s",
		name, missing, host->gpus, name);
}

/* The ranks may see the GPUs that were leased; without a container, those that `gpus` names. */
static int job_limit_gpus(struct job_host *host, const char *const *const *devices,
			  struct error *err)
{
	struct gpu_wish wish;

	if (devices) {
		host->devices = devices[host->member->index];
		for (host->gpus = 0; host->devices[host->gpus];)
			host->gpus++;
		return 0;
	}
	if (host->member->engine->has_containers)
		return 0;
	member_gpu_wish(host->member, &wish);
	if (wish.kind == GPU_ALL)
		return 0;
	if (job_check_wish(host, &wish, err) < 0)
		return -1;
	host->devices = wish.devices;
	host->gpus = (int)wish.count;
	return 0;
}

/* Ranks that the host has room for: --ppn, its slots, or one per GPU, at least 1. */
static int job_slots(const struct job_plan *plan, const struct job_host *host)
{
	int per_rank = plan->options->gpus ? plan->options->gpus : 1;

	if (plan->options->devices)
		return host->gpus / per_rank;
	if (plan->options->per_host)
		return plan->options->per_host;
	if (host->member->host->slots && plan->options->gpus && host->gpus)
		return host->gpus / per_rank < host->member->host->slots
			       ? host->gpus / per_rank
			       : host->member->host->slots;
	if (host->member->host->slots)
		return host->member->host->slots;
	return host->gpus >= per_rank ? host->gpus / per_rank : 1;
}

/* Two ranks never share a GPU of --gpus. A host without GPUs may be one that hides them. */
static int job_check_gpus(const struct job_plan *plan, const struct job_host *host, int ranks,
			  struct error *err)
{
	int per_rank = plan->options->gpus;

	if (!per_rank || !host->gpus || (int64_t)ranks * per_rank <= host->gpus)
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"%s: %d ranks with %d GPUs each take %lld, and it has %d; correct --gpus, --ppn or 'slots'",
		host->member->host->name, ranks, per_rank, (long long)ranks * per_rank, host->gpus);
}

int job_plan_ranks(struct job_plan *plan, struct error *err)
{
	int wanted = plan->options->ranks;
	int64_t slots = 0;
	size_t kept = 0;

	for (size_t i = 0; i < plan->host_count; i++) {
		if (job_limit_gpus(&plan->hosts[i], plan->options->devices, err) < 0)
			return -1;
		slots += job_slots(plan, &plan->hosts[i]);
	}
	if (!wanted && slots > RANKS_MAX)
		return error_set(
			err, ERROR_USAGE,
			"%zu hosts would have %lld ranks, and a job takes at most %d; correct --ppn or 'slots'",
			plan->host_count, (long long)slots, RANKS_MAX);
	if (wanted > slots || wanted > RANKS_MAX)
		return error_set(
			err, ERROR_USAGE,
			"%s %d asks for more ranks than the %zu hosts have slots (%lld); say how many each host takes: --ppn N, or 'slots' of the hosts in the cluster file",
			plan->options->roles ? "--roles with a sum of" : "-n", wanted,
			plan->host_count, (long long)slots);
	plan->world = 0;
	for (size_t i = 0; i < plan->host_count; i++) {
		struct job_host *host = &plan->hosts[i];
		int ranks = job_slots(plan, host);

		if (wanted && plan->world + ranks > wanted)
			ranks = wanted - plan->world;
		if (!ranks)
			break;
		if (job_check_gpus(plan, host, ranks, err) < 0)
			return -1;
		host->first_rank = plan->world;
		host->ranks = ranks;
		plan->world += ranks;
		kept++;
	}
	plan->host_count = kept;
	if (plan->options->input_rank && plan->options->input_rank >= plan->world)
		return error_set(err, ERROR_USAGE,
				 "--stdin %d: there is no such rank; the job has the ranks 0 to %d",
				 plan->options->input_rank, plan->world - 1);
	return 0;
}

int job_new_id(char id[JOB_ID_BYTES], struct error *err)
{
	return random_hex(id, ID_BYTES, err);
}

int job_plan_init(struct job_plan *plan, struct fleet *fleet, const struct job_options *options,
		  struct arena *arena, struct error *err)
{
	*plan = (struct job_plan){.options = options, .arena = arena};
	plan->hosts = ARENA_ARRAY(arena, fleet->count, struct job_host);
	plan->host_count = fleet->count;
	for (size_t i = 0; i < fleet->count; i++)
		job_host_init(&plan->hosts[i], &fleet->members[i]);
	if (options->id) {
		snprintf(plan->id, sizeof(plan->id), "%s", options->id);
		return 0;
	}
	return job_new_id(plan->id, err);
}

/* What the probe has seen of the host, in place of what its supervisor would say. */
static void job_take_facts(struct job_host *host, const struct facts *facts, struct arena *arena)
{
	struct links links;

	host->cores = facts->cpus > 0 ? facts->cpus : 1;
	host->interface = facts->interface ? facts->interface : "";
	host->network = facts->interface_cidr ? facts->interface_cidr : "";
	links_parse(facts, arena, &links);
	for (size_t i = 0; i < links.port_count; i++)
		if (links.ports[i].active)
			words_addf(&host->rdma, "%s:%d", links.ports[i].device,
				   links.ports[i].port);
}

int job_plan_without_hosts(struct fleet *fleet, const struct job_options *options,
			   struct arena *arena, struct job_plan *plan, struct error *err)
{
	size_t kept = 0;

	if (job_plan_init(plan, fleet, options, arena, err) < 0)
		return -1;
	for (size_t i = 0; i < fleet->count; i++) {
		const struct facts *facts = &fleet->members[i].facts;
		struct job_host *host = &plan->hosts[kept];
		struct gpu_wish wish;

		*host = plan->hosts[i];
		if (facts->gpus) {
			member_gpu_wish(&fleet->members[i], &wish);
			/* without a container the ranks' limit follows in job_plan_ranks */
			host->gpus = (int)(fleet->members[i].engine->has_containers
						   ? gpu_wish_count(&wish, facts)
						   : gpu_count(facts));
			job_take_facts(host, facts, arena);
		}
		/* as the leases leave it out */
		kept += !facts->gpus || host->gpus >= options->gpus;
	}
	plan->host_count = kept;
	return job_plan_ranks(plan, err);
}

const struct job_host *job_host_of(const struct job_plan *plan, int rank)
{
	for (size_t i = 0; i < plan->host_count; i++)
		if (rank < plan->hosts[i].first_rank + plan->hosts[i].ranks)
			return &plan->hosts[i];
	return NULL;
}

const char *job_port(const struct job_host *host, size_t index)
{
	return index < host->ports.count ? host->ports.list[index] : "PORT";
}

const char *job_host_list(const struct job_plan *plan)
{
	_cleanup_(str_release) struct str list = STR_INIT;

	for (size_t i = 0; i < plan->host_count; i++)
		str_addf(&list, "%s%s:%d", i ? "," : "", plan->hosts[i].member->host->address,
			 plan->hosts[i].ranks);
	return arena_strdup(plan->arena, list.text);
}

const char *job_visible_devices(const struct job_host *host, struct arena *arena)
{
	struct words words = WORDS_INIT(arena);

	words_add_all(&words, host->devices);
	return arena_printf(arena, "CUDA_VISIBLE_DEVICES=%s", words_join(&words, ","));
}

const char *const *job_host_defaults(const struct job_plan *plan, const struct job_host *host)
{
	struct words env = WORDS_INIT(plan->arena);
	int threads = host->ranks ? host->cores / host->ranks : 1;

	job_defaults_add(&env, arena_printf(plan->arena, "%d", threads > 0 ? threads : 1));
	if (host->devices)
		words_add(&env, job_visible_devices(host, plan->arena));
	if (!*host->interface)
		return env.list;
	/* the second "=" means an exact name; without it NCCL takes every name that begins so */
	words_addf(&env, "NCCL_SOCKET_IFNAME==%s", host->interface);
	words_addf(&env, "GLOO_SOCKET_IFNAME=%s", host->interface);
	words_addf(&env, "TP_SOCKET_IFNAME=%s", host->interface);
	words_addf(&env, "HOROVOD_GLOO_IFACE=%s", host->interface);
	/* else UCX may take docker0, also beside InfiniBand: https://github.com/openucx/ucx/issues/9383 */
	if (strcmp(host->interface, "lo") != 0)
		words_addf(&env, "UCX_NET_DEVICES=%s%s%s", words_join(&host->rdma, ","),
			   host->rdma.count ? "," : "", host->interface);
	return env.list;
}

static void job_add_gpus(const struct job_plan *plan, const struct job_host *host, int local_rank,
			 struct words *env)
{
	_cleanup_(str_release) struct str list = STR_INIT;
	int gpus = plan->options->gpus;

	for (int i = 0; i < gpus; i++) {
		int index = local_rank * gpus + i;

		if (host->devices && index < host->gpus)
			str_addf(&list, "%s%s", i ? "," : "", host->devices[index]);
		else
			str_addf(&list, "%s%d", i ? "," : "", index);
	}
	if (gpus)
		words_addf(env, "CUDA_VISIBLE_DEVICES=%s", list.text);
}

void job_add_rank_task(const struct job_plan *plan, const struct job_host *host, int local_rank,
		       struct words *env, struct job_tasks *tasks)
{
	int rank = host->first_rank + local_rank;

	job_add_gpus(plan, host, local_rank, env);
	job_tasks_add(tasks, &(struct job_task){.label = arena_printf(plan->arena, "%d", rank),
						.words = plan->options->command,
						.env = words_list(env)});
}

void job_add_rank_words(const struct job_plan *plan, const struct job_host *host,
			const char *address, struct words *out)
{
	const struct engine_value values[] = {{"folder", host->member->state.folder, NULL}, {0}};

	words_addf(out, "%sringup-job",
		   engine_expand_word(host->member->engine->program_folder, values, plan->arena));
	words_add_all(out, WORDS("rank", "--id", plan->id));
	if (address)
		words_add_all(out, WORDS("--address", address));
	words_add(out, "--");
}
