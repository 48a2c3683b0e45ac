/* SPDX-License-Identifier: MIT */
#include "deployer/fleet.h"

#include "core/clock.h"
#include "core/pool.h"
#include "deployer/records/placed.h"
#include "deployer/ssh/reach.h"
#include "plan/host_set.h"

#include <string.h>

#define FLEET_JOBS_DEFAULT 64
#define FLEET_CAUSES_SHOWN 8
#define FLEET_NAMES_SHOWN 8

static int pick_engine(const char *name, const struct engine **engine, struct error *err)
{
	*engine = engine_find(name);
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

void fleet_leave_out(struct fleet *fleet, const char *const *names)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct member *m = &fleet->members[i];

		m->left_out = true;
		for (const char *const *name = names; *name; name++)
			if (strcmp(*name, m->host->name) == 0 ||
			    strcmp(*name, m->host->address) == 0)
				m->left_out = false;
	}
}

size_t fleet_asked(const struct fleet *fleet)
{
	size_t asked = 0;

	for (size_t i = 0; i < fleet->count; i++)
		asked += !fleet->members[i].left_out;
	return asked;
}

int fleet_init(const struct cluster *cluster, const struct fleet_options *options,
	       struct arena *arena, struct fleet *fleet, struct error *err)
{
	const struct engine *engine;

	*fleet = (struct fleet){.cluster = cluster,
				.arena = arena,
				.count = cluster->host_count,
				.owner = owner_nobody};
	if (!cluster->host_count)
		return error_set(
			err, ERROR_USAGE,
			"%s: there are no 'hosts' to work on: list them, as in hosts: [node01, node02]; 'run --on' and 'export' go without",
			cluster->path ? cluster->path : "cluster.yaml");
	fleet->container = arena_printf(arena, "ringup-%s", cluster->name);
	fleet->jobs = options->jobs ? (size_t)options->jobs : FLEET_JOBS_DEFAULT;
	fleet->members = ARENA_ARRAY(arena, fleet->count, struct member);
	if (pick_engine(cluster->container.engine, &engine, err) < 0)
		return error_wrap(err, "%s", cluster->path);
	for (size_t i = 0; i < fleet->count; i++) {
		struct member *member = &fleet->members[i];

		*member = (struct member){
			.host = &cluster->hosts[i], .index = i, .fleet = fleet, .engine = engine};
		member->address = member->host->address;
		member->phase = "probe";
		member->sshd_port = cluster_sshd_port(cluster);
		if (reach_host(cluster, member->host, options->timeout_s, arena, &member->target,
			       err) < 0)
			return -1;
	}
	return strcmp(cluster->container.sshd_port, "auto") == 0 ? placed_read_ports(fleet, err)
								 : 0;
}

void fleet_phase(struct fleet *fleet, const char *phase)
{
	for (size_t i = 0; i < fleet->count; i++)
		if (member_is_active(&fleet->members[i]))
			fleet->members[i].phase = phase;
}

static void close_one(void *arg, size_t index)
{
	struct fleet *fleet = arg;

	ssh_close(fleet->members[index].ssh);
	arena_release(&fleet->members[index].arena);
}

void fleet_close(struct fleet *fleet)
{
	size_t open = 0;

	for (size_t i = 0; fleet->members && i < fleet->count; i++)
		open += fleet->members[i].ssh != NULL;
	if (fleet->members)
		pool_each(fleet->count, open < fleet->jobs ? open : fleet->jobs, close_one, fleet);
	fleet->members = NULL;
}

struct each {
	struct fleet *fleet;
	int (*fn)(struct member *member, void *arg, struct error *err);
	void *arg;
};

/* Every error of a host names it, whatever the host said. */
static void fleet_name_host(struct member *member)
{
	struct error *err = &member->err;
	size_t length = strlen(member->host->name);
	const char *after = err->text + length;

	if (err->kind == ERROR_INTERRUPTED)
		return;
	if (!starts_with(err->text, member->host->name) ||
	    (!starts_with(after, ": ") && !starts_with(after, " (")))
		error_wrap(err, "%s", member->host->name);
}

static void call_one(void *arg, size_t index)
{
	struct each *each = arg;
	struct member *member = &each->fleet->members[index];

	if (!member_is_active(member))
		return;
	if (interrupt_check(&member->err) < 0) {
		member->failed = true;
	} else if (each->fn(member, each->arg, &member->err) < 0) {
		member->failed = true;
		fleet_name_host(member);
	}
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

size_t fleet_active(const struct fleet *fleet)
{
	size_t active = 0;

	for (size_t i = 0; i < fleet->count; i++)
		active += member_is_active(&fleet->members[i]);
	return active;
}

size_t fleet_add_names(const struct fleet *fleet,
		       bool (*picks)(const struct member *member, const void *arg), const void *arg,
		       struct str *out)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct words names = WORDS_INIT(&arena);

	for (size_t i = 0; i < fleet->count; i++)
		if (picks(&fleet->members[i], arg))
			words_add(&names, fleet->members[i].host->name);
	if (names.count > FLEET_NAMES_SHOWN)
		str_add(out, host_set_fold(words_list(&names), &arena));
	else if (names.count)
		str_add(out, words_join(&names, ", "));
	return names.count;
}

static bool fleet_is_waiting(const struct member *member, const void *arg)
{
	(void)arg;
	return member->waits && !member->failed && !member->left_out;
}

/* "node03, node04 keep what they run, ...", for hosts whose turn did not come; "" for none. */
static void fleet_add_waiting(const struct fleet *fleet, struct str *text)
{
	size_t count = fleet_add_names(fleet, fleet_is_waiting, NULL, text);

	if (count)
		str_addf(text, " %s what %s, since an earlier group failed",
			 count > 1 ? "keep" : "keeps", count > 1 ? "they run" : "it runs");
}

/* The cause in a host's error: the text after "HOST: " or "HOST (ADDRESS port N): ". */
static const char *cause_of(const struct member *member)
{
	const char *text = member->err.text;
	const char *colon = starts_with(text, member->host->name) ? strstr(text, ": ") : NULL;

	return colon ? colon + 2 : text;
}

static bool fleet_has_cause(const struct member *member, const void *cause)
{
	return member->failed && strcmp(cause_of(member), cause) == 0;
}

/* Whether an earlier host failed for the same cause, so that the text names this one already. */
static bool is_repeated(const struct fleet *fleet, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (fleet_has_cause(&fleet->members[i], cause_of(&fleet->members[index])))
			return true;
	return false;
}

/* "node02, node03: CAUSE" for all hosts with the cause of this one. */
static void add_cause(const struct fleet *fleet, size_t index, struct str *text)
{
	const struct member *first = &fleet->members[index];
	_cleanup_(str_release) struct str names = STR_INIT;

	if (fleet_add_names(fleet, fleet_has_cause, cause_of(first), &names) == 1)
		str_add(text, first->err.text);
	else
		str_addf(text, "%s: %s", names.text, cause_of(first));
}

int fleet_result(const struct fleet *fleet, struct error *err)
{
	size_t failures = fleet_failures(fleet), causes = 0;
	enum error_kind kind = failures < fleet_asked(fleet) ? ERROR_PARTIAL : ERROR_FAILED;
	_cleanup_(str_release) struct str text = STR_INIT, waiting = STR_INIT;

	if (!failures)
		return 0;
	if (interrupt_check(err) < 0)
		return -1;
	for (size_t i = 0; i < fleet->count; i++) {
		const struct member *member = &fleet->members[i];

		if (!member->failed)
			continue;
		if (is_repeated(fleet, i) || ++causes > FLEET_CAUSES_SHOWN)
			continue;
		str_add(&text, causes > 1 ? "\n  " : "");
		add_cause(fleet, i, &text);
	}
	if (causes > FLEET_CAUSES_SHOWN)
		str_addf(&text, "\n  and %zu more causes", causes - FLEET_CAUSES_SHOWN);
	fleet_add_waiting(fleet, &waiting);
	if (kind == ERROR_PARTIAL)
		str_addf(&text, "%s%zu of %zu hosts failed; %s", causes > 1 ? "\n  " : "; ",
			 failures, fleet_asked(fleet),
			 waiting.length ? waiting.text : "the others are fine");
	return error_set(err, kind, "%s", text.text);
}

int member_connect(struct member *member, struct error *err)
{
	return member->ssh ? 0 : ssh_open(&member->target, &member->ssh, err);
}

void member_disconnect(struct member *member)
{
	ssh_close(member->ssh);
	member->ssh = NULL;
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
