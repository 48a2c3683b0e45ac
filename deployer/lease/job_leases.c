/* SPDX-License-Identifier: MIT */
#include "deployer/lease/job_leases.h"

#include "core/clock.h"
#include "core/log.h"
#include "deployer/lease/allot.h"
#include "deployer/lease/lease.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEASE_GRACE_S 60 /* until the supervisors are there; connecting may take 15 s */
#define LEASE_TRIES 8	 /* when somebody else takes what was free */
#define LEASE_ASK_AGAIN_S 3
#define LEASE_HOSTS_SHOWN 6

struct lease_job {
	struct fleet *fleet;
	const struct job_lease_wish *wish;
	struct arena *arena;
	struct lease_answer *answers; /* one per member */
	int *total, *room, *ranks;    /* the same, in ranks */
	char ticket[24];
	bool has_tickets;
	bool has_warned;
	bool may_hold;	    /* some host was reached and did not give back */
	size_t first;	    /* the member that was told first */
	bool is_first_turn; /* of two in which hosts are told: it alone, and the others */
};

static void lease_job_request(const struct lease_job *job, const struct member *m,
			      struct lease_request *request)
{
	*request = (struct lease_request){.kind = "job",
					  .id = job->wish->id,
					  .cluster = m->fleet->cluster->name,
					  .job = job->wish->name,
					  .ticket = job->ticket,
					  .count = job->ranks[m->index] * job->wish->gpus,
					  .grace_s = LEASE_GRACE_S};
}

static int lease_list_one(struct member *m, void *arg, struct error *err)
{
	struct lease_job *job = arg;
	struct lease_request request;

	if (job->wish->sees && !job->wish->sees[m->index])
		return 0;
	lease_job_request(job, m, &request);
	request.among = member_lease_among(m);
	return member_lease(m, "list", &request, &job->answers[m->index], err);
}

static int lease_take_one(struct member *m, void *arg, struct error *err)
{
	struct lease_job *job = arg;
	struct lease_request request;
	bool is_first = m->index == job->first;

	/* the first one has answered when the others are told */
	if (!job->ranks[m->index] || (is_first && job->answers[m->index].taken.count))
		return 0;
	lease_job_request(job, m, &request);
	request.among = member_lease_among(m);
	return member_lease(m, "take", &request, &job->answers[m->index], err);
}

static int lease_return(struct member *m, const char *action, const char *id, struct error *err)
{
	const struct lease_request request = {
		.kind = "job", .id = id, .cluster = "", .job = "", .ticket = "", .among = "all"};
	struct lease_answer ignored;

	return member_lease(m, action, &request, &ignored, err);
}

/* Errors are ignored here: who asks for GPUs next says them. A host that could not be reached a moment ago is not asked again. */
static bool lease_give_one(struct member *m, const char *id)
{
	struct error ignored = {0};

	return m->left_out ||
	       ((m->ssh || !m->failed) && lease_return(m, "give", id, &ignored) == 0);
}

/* Gives back what this round has taken. A host that was never reached has taken nothing. */
static void lease_give_all(struct lease_job *job)
{
	job->may_hold = false;
	for (size_t i = 0; i < job->fleet->count; i++)
		if (!lease_give_one(&job->fleet->members[i], job->wish->id) &&
		    job->fleet->members[i].ssh)
			job->may_hold = true;
}

static int lease_free_one(struct member *m, void *arg, struct error *err)
{
	return lease_return(m, "free", arg, err);
}

static int lease_try_to_free(struct member *m, void *arg, struct error *err)
{
	if (lease_return(m, "free", arg, err) < 0)
		*err = (struct error){0}; /* who asks for GPUs next says it */
	return 0;
}

void fleet_free_job(struct fleet *fleet, const char *id, bool must)
{
	fleet_each(fleet, must ? lease_free_one : lease_try_to_free, (void *)(uintptr_t)id);
}

void fleet_give_job(struct fleet *fleet, const char *id, struct words *kept)
{
	for (size_t i = 0; fleet->members && i < fleet->count; i++)
		if (!lease_give_one(&fleet->members[i], id))
			words_add(kept, fleet->members[i].host->name);
}

static int lease_slots(const struct lease_job *job, const struct member *m)
{
	return job->wish->per_host ? job->wish->per_host
	       : m->host->slots	   ? m->host->slots
				   : INT_MAX;
}

static int lease_smaller(size_t gpus, int per_rank, int slots)
{
	int ranks = (int)gpus / per_rank;

	return ranks < slots ? ranks : slots;
}

/* What the hosts have room for at all, and now. How many ranks are wanted. */
static int lease_count_room(struct lease_job *job)
{
	int64_t wanted = 0;

	for (size_t i = 0; i < job->fleet->count; i++) {
		const struct lease_answer *answer = &job->answers[i];
		int slots = lease_slots(job, &job->fleet->members[i]), gpus = job->wish->gpus;

		job->total[i] = lease_smaller(lease_gpus_total(answer), gpus, slots);
		job->room[i] =
			answer->queue ? 0 : lease_smaller(lease_gpus_free(answer), gpus, slots);
		wanted += job->wish->per_host ? job->wish->per_host : job->total[i];
	}
	return job->wish->ranks ? job->wish->ranks : wanted < INT_MAX ? (int)wanted : INT_MAX;
}

static bool lease_none_has_gpus(const struct lease_job *job)
{
	for (size_t i = 0; i < job->fleet->count; i++)
		if (job->answers[i].gpu_count)
			return false;
	return true;
}

static int64_t lease_sum(const int *ranks, size_t count)
{
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += ranks[i];
	return sum;
}

/* "node01: GPU 0: ...", for each host with something that is not free, or that has no GPUs. */
static const char *lease_story(const struct lease_job *job)
{
	_cleanup_(str_release) struct str out = STR_INIT;
	size_t shown = 0;

	for (size_t i = 0; i < job->fleet->count; i++) {
		const struct lease_answer *answer = &job->answers[i];
		const char *text =
			answer->gpu_count ? lease_holders_text(answer, job->arena) : answer->none;

		if ((!*text && !answer->queue) || ++shown > LEASE_HOSTS_SHOWN)
			continue;
		str_addf(&out, "\n  %s: %s", job->fleet->members[i].host->name, text);
		if (answer->queue)
			str_addf(&out, "%s%d job%s waited before this one", *text ? "; " : "",
				 answer->queue, answer->queue == 1 ? "" : "s");
	}
	if (shown > LEASE_HOSTS_SHOWN)
		str_addf(&out, "\n  and %zu more hosts", shown - LEASE_HOSTS_SHOWN);
	return arena_strdup(job->arena, out.length ? out.text : "");
}

/*
 * The first host whose GPUs the cluster may use and that do not work, where it may be what the job lacks: some other host has
 * room for a rank, or none works. The count of the hosts where there is none.
 */
static size_t lease_first_broken(const struct lease_job *job)
{
	size_t i = 0, total = 0;

	for (size_t k = 0; k < job->fleet->count; k++)
		total += lease_gpus_total(&job->answers[k]);
	if (total && !lease_sum(job->total, job->fleet->count))
		return job->fleet->count; /* one rank wants more than a host has */
	while (i < job->fleet->count &&
	       (!job->answers[i].is_broken ||
		strcmp(member_lease_among(&job->fleet->members[i]), "-") == 0))
		i++;
	return i;
}

static int lease_refuse_size(const struct lease_job *job, int wanted, struct error *err)
{
	_cleanup_(str_release) struct str has = STR_INIT;
	size_t broken = lease_first_broken(job), total = 0;

	for (size_t i = 0; i < job->fleet->count; i++)
		total += lease_gpus_total(&job->answers[i]);
	for (size_t i = 0; i < job->fleet->count && i < LEASE_HOSTS_SHOWN; i++)
		str_addf(&has, "%s%s %zu", i ? ", " : "", job->fleet->members[i].host->name,
			 lease_gpus_total(&job->answers[i]));
	if (broken < job->fleet->count)
		return error_set(
			err, ERROR_PARTIAL,
			"%s: its GPUs cannot be used: %s; without them there is room for %lld of %d ranks with %d GPUs each: mend the driver there (after an upgrade: reboot), or give a smaller -n",
			job->fleet->members[broken].host->name, job->answers[broken].none,
			(long long)lease_sum(job->total, job->fleet->count), wanted,
			job->wish->gpus);
	if (strcmp(member_lease_among(&job->fleet->members[0]), "up") == 0 && !total)
		return error_set(
			err, ERROR_FAILED,
			"the containers have no GPUs of this cluster's leases; run 'ringup up', which takes what 'gpus' says");
	if (!wanted)
		return error_set(
			err, ERROR_USAGE,
			"--gpus %d is more than any host has for one rank; GPUs that the cluster may use: %s%s",
			job->wish->gpus, has.text,
			job->fleet->count > LEASE_HOSTS_SHOWN ? " ..." : "");
	return error_set(
		err, ERROR_USAGE,
		"%d ranks with %d GPUs each are more than the hosts have room for (%lld ranks); GPUs that the cluster may use: %s%s; correct --gpus, -n, --ppn or 'slots'",
		wanted, job->wish->gpus, (long long)lease_sum(job->total, job->fleet->count),
		has.text, job->fleet->count > LEASE_HOSTS_SHOWN ? " ..." : "");
}

static int lease_refuse_taken(const struct lease_job *job, int wanted, struct error *err)
{
	int64_t room = lease_sum(job->room, job->fleet->count);

	error_set(
		err, ERROR_FAILED,
		"%d ranks with %d GPUs each are wanted, and there is room for %lld now; others have the rest:%s",
		wanted, job->wish->gpus, (long long)room, lease_story(job));
	return error_advise(err, room ? "--wait waits for them, and a smaller -n takes what is free"
				      : "--wait waits for them");
}

static int lease_refuse_without(const struct lease_job *job, struct error *err)
{
	return error_set(
		err, ERROR_PARTIAL,
		"--gpus %d: no host of the job has a GPU that it could lease; leave --gpus out, or correct the hosts:%s",
		job->wish->gpus, lease_story(job));
}

/*
 * A host that gets no ranks since its GPUs are broken, or since it has none where the cluster file does not say so. Without -n
 * a broken one is missed, as `up` fails it; with -n the others do.
 */
static int lease_check_host(const struct lease_job *job, struct member *m, struct error *err)
{
	const struct lease_answer *answer = &job->answers[m->index];

	if (!*answer->none || strcmp(member_lease_among(m), "-") == 0)
		return 0;
	if (answer->is_broken && !job->wish->ranks)
		return error_set(
			err, ERROR_PARTIAL,
			"%s: its GPUs cannot be used: %s; mend the driver there (after an upgrade: reboot), name the others by --hosts, %s",
			m->host->name, answer->none,
			job->wish->gpus
				? "or say by -n how many ranks they are to have"
				: "or give '-e CUDA_VISIBLE_DEVICES=' where the job needs none");
	if (!job->has_warned)
		log_warn("%s gets no rank of --gpus %d: %s%s", m->host->name, job->wish->gpus,
			 answer->none,
			 answer->is_broken ? "" : "; gpus: none says that this is right");
	return 0;
}

static int lease_check_hosts(struct lease_job *job, struct error *err)
{
	for (size_t i = 0; i < job->fleet->count; i++)
		if (lease_check_host(job, &job->fleet->members[i], err) < 0)
			return -1;
	job->has_warned = true;
	return 0;
}

/* The order in which hosts are told. */
static size_t lease_first(const struct lease_job *job)
{
	size_t first = job->fleet->count;

	for (size_t i = 0; i < job->fleet->count; i++)
		if (job->ranks[i] && (first == job->fleet->count ||
				      strcmp(job->fleet->members[i].host->address,
					     job->fleet->members[first].host->address) < 0))
			first = i;
	return first;
}

static bool lease_has_all(const struct lease_job *job)
{
	for (size_t i = 0; i < job->fleet->count; i++)
		if (job->answers[i].taken.count != (size_t)job->ranks[i] * (size_t)job->wish->gpus)
			return false;
	return true;
}

/* Takes on all hosts. *done is false when somebody was quicker; then nothing is held. */
static int lease_take(struct lease_job *job, bool *done, struct error *err)
{
	struct member *first;

	for (size_t i = 0; i < job->fleet->count; i++)
		job->answers[i].taken = (struct words)WORDS_INIT(job->arena);
	job->first = lease_first(job);
	first = &job->fleet->members[job->first];
	*done = false;
	if (lease_take_one(first, job, err) < 0)
		return -1;
	if (job->answers[job->first].taken.count)
		fleet_each(job->fleet, lease_take_one, job);
	*done = lease_has_all(job) && !fleet_failures(job->fleet);
	if (!*done)
		lease_give_all(job);
	return fleet_result(job->fleet, err);
}

/* Waits before it asks again; the time differs, so that two jobs do not meet again and again. */
static int lease_pause(int msec, struct error *err)
{
	const struct timespec step = {.tv_nsec = 50000000};

	for (; msec > 0; msec -= 50) {
		if (interrupt_check(err) < 0)
			return -1;
		nanosleep(&step, NULL);
	}
	return 0;
}

static void lease_begin_to_wait(struct lease_job *job)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(job->ticket, sizeof(job->ticket), "%020llu",
		 (unsigned long long)now.tv_sec * 1000000ULL +
			 (unsigned long long)now.tv_nsec / 1000);
	log_info("  %-20s%s", "waits for GPUs:", lease_story(job));
	if (job->wish->waiting)
		job->wish->waiting(job->wish->arg);
}

static int lease_refuse_seen(const struct lease_job *job, struct error *err)
{
	error_set(err, ERROR_FAILED, "its ranks would see GPUs that others have:%s",
		  lease_story(job));
	return error_advise(
		err,
		"--gpus N gives each rank N free ones, --wait waits for all, '-e CUDA_VISIBLE_DEVICES=' is for a job that needs none, and --force starts it beside the other");
}

/* A process that nobody leased anything for, maybe one that is on its way out. */
static void lease_say_used(struct lease_job *job)
{
	bool is_used = false;

	for (size_t i = 0; i < job->fleet->count; i++)
		for (size_t k = 0; k < job->answers[i].gpu_count; k++)
			is_used |= job->answers[i].gpus[k].state == LEASE_USED;
	if (is_used && !job->has_warned)
		log_warn("its ranks see GPUs that something else uses:%s", lease_story(job));
	job->has_warned |= is_used;
}

/* A host with ranks gives all, unless somebody else has some. */
static int lease_take_seen(struct member *m, void *arg, struct error *err)
{
	struct lease_job *job = arg;
	struct lease_request request;

	if (!job->wish->sees[m->index] || (m->index == job->first) != job->is_first_turn)
		return 0;
	lease_job_request(job, m, &request);
	request.count = job->wish->forced ? LEASE_COUNT_FREE : LEASE_COUNT_ALL;
	request.among = member_lease_among(m);
	return member_lease(m, "take", &request, &job->answers[m->index], err);
}

/* Whether somebody else has GPUs of the hosts, or comes before. */
static bool lease_seen_by_others(const struct lease_job *job)
{
	for (size_t i = 0; i < job->fleet->count && !job->wish->forced; i++) {
		const struct lease_answer *answer = &job->answers[i];

		if (answer->queue)
			return true;
		for (size_t k = 0; k < answer->gpu_count; k++)
			if (answer->gpus[k].state == LEASE_LEASED)
				return true;
	}
	return false;
}

static int lease_check_seen(struct lease_job *job, struct error *err)
{
	for (size_t i = 0; i < job->fleet->count; i++)
		if (job->answers[i].is_broken &&
		    lease_check_host(job, &job->fleet->members[i], err) < 0)
			return -1;
	return 0;
}

static int lease_ask_seen(struct lease_job *job,
			  int (*ask)(struct member *, void *, struct error *), bool *is_full,
			  struct error *err)
{
	if (*is_full)
		return 0;
	fleet_each(job->fleet, ask, job);
	if (fleet_result(job->fleet, err) < 0)
		return -1;
	*is_full = lease_seen_by_others(job);
	return 0;
}

static bool lease_has_some(const struct lease_job *job)
{
	for (size_t i = 0; i < job->fleet->count; i++)
		if (job->answers[i].taken.count)
			return true;
	return false;
}

/*
 * One round for all GPUs that the ranks see. One question is enough, since there is nothing to choose; who waits asks all
 * hosts first, which renews its tickets.
 */
static int lease_round_seen(struct lease_job *job, bool *done, bool *is_full, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < job->fleet->count; i++) {
		job->answers[i] =
			(struct lease_answer){.none = "", .taken = WORDS_INIT(job->arena)};
		job->ranks[i] = job->wish->sees[i];
	}
	job->first = lease_first(job);
	*is_full = false;
	if (*job->ticket)
		rc = lease_ask_seen(job, lease_list_one, is_full, err);
	for (int turn = 0; rc == 0 && turn < 2; turn++) {
		job->is_first_turn = turn == 0;
		rc = lease_ask_seen(job, lease_take_seen, is_full, err);
	}
	if (rc == 0)
		rc = lease_check_seen(job, err);
	*done = rc == 0 && !*is_full;
	if (*done)
		lease_say_used(job);
	else if (lease_has_some(job))
		lease_give_all(job);
	return rc == 0 && *is_full && !job->wish->waits ? lease_refuse_seen(job, err) : rc;
}

/* One round: asks, spreads, takes. *done when the job has its GPUs. */
static int lease_round(struct lease_job *job, bool *done, bool *is_full, struct error *err)
{
	int wanted;

	if (!job->wish->gpus)
		return lease_round_seen(job, done, is_full, err);
	fleet_each(job->fleet, lease_list_one, job);
	if (fleet_result(job->fleet, err) < 0)
		return -1;
	if (lease_none_has_gpus(job))
		return lease_refuse_without(job, err);
	if (lease_check_hosts(job, err) < 0)
		return -1;
	wanted = lease_count_room(job);
	if (!wanted || wanted > lease_sum(job->total, job->fleet->count))
		return lease_refuse_size(job, wanted, err);
	*is_full = allot_ranks(job->room, job->fleet->count, wanted, job->wish->spread,
			       job->ranks) < wanted;
	if (!*is_full)
		return lease_take(job, done, err);
	return job->wish->waits ? 0 : lease_refuse_taken(job, wanted, err);
}

static int lease_rounds(struct lease_job *job, struct error *err)
{
	unsigned int seed = (unsigned int)clock_usec();
	bool done = false, is_full = false;

	for (int tries = 0; !done; tries++) {
		if (lease_round(job, &done, &is_full, err) < 0)
			return -1;
		if (done)
			break;
		if (is_full && !*job->ticket) {
			lease_begin_to_wait(job);
			continue; /* the ticket counts from now on */
		}
		if (!job->wish->waits && tries == LEASE_TRIES)
			return error_set(err, ERROR_FAILED,
					 "others took the GPUs %d times; try again, or give --wait",
					 tries);
		if (lease_pause(is_full ? LEASE_ASK_AGAIN_S * 1000
					: 50 + (int)(rand_r(&seed) % 400),
				err) < 0)
			return -1;
	}
	return 0;
}

/* The tickets of a job that has waited, on the hosts that it does not need. */
static void lease_drop_tickets(const struct lease_job *job)
{
	for (size_t i = 0; *job->ticket && i < job->fleet->count; i++)
		if (!job->ranks[i])
			lease_give_one(&job->fleet->members[i], job->wish->id);
}

/* What the hosts said lives in their own arenas, which are closed with them. */
static void lease_keep(const struct lease_job *job, struct job_leases *leases)
{
	leases->devices = ARENA_ARRAY(job->arena, job->fleet->count, const char *const *);
	for (size_t i = 0; i < job->fleet->count; i++) {
		struct words list = WORDS_INIT(job->arena);

		words_add_all(&list, words_list(&job->answers[i].taken));
		leases->devices[i] = words_list(&list);
		leases->leaves_out = leases->leaves_out || !list.count;
	}
}

/* Without root the leases are only this user's. */
static void lease_say_scope(const struct lease_job *job)
{
	for (size_t i = 0; i < job->fleet->count; i++) {
		if (!job->answers[i].gpu_count || job->answers[i].is_host_wide)
			continue;
		log_info(
			"  %-20s %s and others without root: other users do not see this job's leases (ssh.sudo: true makes them host-wide)",
			"GPUs", job->fleet->members[i].host->name);
		return;
	}
}

int fleet_lease_job(struct fleet *fleet, const struct job_lease_wish *wish, struct arena *arena,
		    struct job_leases *leases, struct error *err)
{
	struct lease_job job = {.fleet = fleet, .wish = wish, .arena = arena, .ticket = ""};

	*leases = (struct job_leases){0};
	job.answers = ARENA_ARRAY(arena, fleet->count, struct lease_answer);
	job.total = ARENA_ARRAY(arena, fleet->count, int);
	job.room = ARENA_ARRAY(arena, fleet->count, int);
	job.ranks = ARENA_ARRAY(arena, fleet->count, int);
	if (lease_rounds(&job, err) < 0) {
		if (*job.ticket)
			lease_give_all(&job);
		leases->may_hold = job.may_hold;
		return -1;
	}
	lease_keep(&job, leases);
	lease_say_scope(&job);
	lease_drop_tickets(&job);
	return 0;
}
