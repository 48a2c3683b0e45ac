/* SPDX-License-Identifier: MIT */
#include "deployer/bench.h"

#include "core/clock.h"
#include "core/words.h"
#include "deployer/bringup.h"

#include <openssl/rand.h>
#include <string.h>

#define BENCH_TIMEOUT_DEFAULT_S 300
/* The rendezvous listens somewhere in here: above the well-known ports, below Linux's ephemeral
 * ones. */
#define LAST_WORDS_BYTES 600
#define PORT_FIRST 20000
#define PORT_COUNT 10000

struct run {
	struct launch launch;
	const struct launcher *launcher;
	struct proc_result root; /* of the member that prints the report */
	atomic_bool
		given_up; /* a member cannot start its ranks: the others need not wait for them */
};

/* The worker's own statuses are its verdicts; 125 to 127 and 1 say that it never ran. */
static bool never_ran(const struct proc_result *result)
{
	return (result->status >= 125 && result->status <= 127) ||
	       (result->status == 1 && !strchr(result->out.text, '{'));
}

static int bench_run_one(struct member *m, void *arg, struct error *err)
{
	struct run *run = arg;
	struct proc_result *result = ARENA_NEW(&m->arena, struct proc_result);
	const char *const *words = run->launcher->words(m, &run->launch);
	struct ssh_command command = {.timeout_s = run->launch.timeout_s, .cancel = &run->given_up};
	int rc = 0;

	if (!words)
		return 0;
	command.words = member_exec_words(m, words);
	if (member_connect(m, err) < 0 || ssh_run(m->ssh, &command, result, err) < 0) {
		/* given up for another host's failure: that one is the reason */
		rc = atomic_load(&run->given_up) ? 0 : error_wrap(err, "%s", m->host->name);
	} else if (never_ran(result)) {
		atomic_store(&run->given_up, true);
		str_add(&result->out, result->err.text);
		str_one_line(&result->out, LAST_WORDS_BYTES);
		rc = error_set(
			err, ERROR_FAILED,
			"%s: the worker cannot be started (status %d): %s; run 'ringup up' to mend the cluster",
			m->host->name, result->status, result->out.text);
	} else if (m->index == 0) {
		run->root = *result;
		return 0; /* the report says what went wrong */
	}
	proc_result_release(result);
	return rc; /* another rank's failure is in the report too */
}

static int plan_launch(struct fleet *fleet, const struct bench_options *options,
		       struct arena *arena, struct run *run, struct error *err)
{
	int *first = ARENA_ARRAY(arena, fleet->count, int), world = 0;
	struct words arguments = WORDS_INIT(arena);
	unsigned int random = 0;

	run->launcher = launcher_find(options->launcher);
	if (!run->launcher) {
		error_set(err, ERROR_USAGE,
			  "there is no launcher '%s'; there are:", options->launcher);
		for (const struct launcher *const *l = launchers; *l; l++)
			error_advise(err, "%s (%s)", (*l)->name, (*l)->help);
		return -1;
	}
	if (run->launcher->needs_containers && !fleet->members[0].engine->has_containers)
		return error_set(
			err, ERROR_USAGE,
			"the launcher '%s' needs containers, and the engine is '%s'; take --launcher ssh",
			options->launcher, fleet->members[0].engine->name);
	for (size_t i = 0; i < fleet->count; i++) {
		first[i] = world;
		world += member_slots(&fleet->members[i]);
	}
	words_add(&arguments, "--json");
	words_add_all(&arguments, options->arguments);
	RAND_bytes((unsigned char *)&random, sizeof(random));
	run->launch = (struct launch){
		.fleet = fleet,
		.arguments = arguments.list,
		.world = world,
		.first_ranks = first,
		.root_address = fleet->members[0].host->address,
		.root_port = PORT_FIRST + (int)(random % PORT_COUNT),
		.timeout_s = options->timeout_s ? options->timeout_s : BENCH_TIMEOUT_DEFAULT_S,
	};
	return 0;
}

/* The report's ranks by the address that they were reached at; names inside of containers may
 * differ. */
static const struct member *bench_member_of(const struct fleet *fleet, const cJSON *rank)
{
	const cJSON *address = json_member(rank, "address"), *host = json_member(rank, "host");

	for (size_t i = 0; i < fleet->count; i++) {
		const struct host *h = fleet->members[i].host;
		const char *a = cJSON_IsString(address) ? address->valuestring : "";
		size_t length = strlen(h->address);

		if (strncmp(a, h->address, length) == 0 && (!a[length] || a[length] == ':'))
			return &fleet->members[i];
	}
	for (size_t i = 0; i < fleet->count; i++)
		if (cJSON_IsString(host) &&
		    strcmp(host->valuestring, fleet->members[i].host->name) == 0)
			return &fleet->members[i];
	return NULL;
}

/*
 * A job that runs on fewer hosts than planned can exit 0 and look right: count the ranks per host.
 */
static int check_places(const struct run *run, const int *seen, struct error *err)
{
	const struct fleet *fleet = run->launch.fleet;

	for (size_t i = 0; i < fleet->count; i++) {
		const struct member *m = &fleet->members[i];

		if (seen[i] != member_slots(m))
			return error_set(
				err, ERROR_VERDICT,
				"%d ranks ran on %s, planned were %d: the launcher did not spread the job over the cluster",
				seen[i], m->host->name, member_slots(m));
	}
	return 0;
}

/* Gives the report's ranks the names of the cluster file; counts them per member. */
static void bench_name_hosts(const struct fleet *fleet, const cJSON *json, struct report *report,
			     int *seen)
{
	const cJSON *rank;
	size_t i = 0;

	cJSON_ArrayForEach (rank, json_member(json, "ranks")) {
		const struct member *m = bench_member_of(fleet, rank);

		if (m) {
			seen[m->index]++;
			report->ranks[i].host = m->host->name;
		}
		i++;
	}
}

int bench_verdict(const struct report *report, struct error *err)
{
	if (strcmp(report->verdict, "pass") == 0)
		return 0;
	if (!*report->reason || starts_with(report->reason, report->verdict))
		return error_set(err, ERROR_VERDICT, "%s",
				 *report->reason ? report->reason : report->verdict);
	return error_set(err, ERROR_VERDICT, "%s: %s", report->verdict, report->reason);
}

static int read_report(struct run *run, struct arena *arena, struct report *report,
		       cJSON **document, struct error *err)
{
	const struct fleet *fleet = run->launch.fleet;
	struct str *out = &run->root.out, *errors = &run->root.err;
	const char *start = out->text ? strchr(out->text, '{') : NULL;
	int *seen = ARENA_ARRAY(arena, fleet->count, int);

	if (!start) {
		str_one_line(errors, LAST_WORDS_BYTES);
		return error_set(err, ERROR_FAILED, "%s: the worker gave no report (status %d): %s",
				 fleet->members[0].host->name, run->root.status,
				 errors->length ? errors->text : "no output");
	}
	if (json_parse(start, out->length - (size_t)(start - out->text), "the worker's report",
		       document, err) < 0 ||
	    report_from_json(*document, arena, report, err) < 0)
		return -1;
	report->launcher = run->launcher->name;
	bench_name_hosts(fleet, *document, report, seen);
	if (bench_verdict(report, err) < 0)
		return -1;
	return check_places(run, seen, err);
}

/* A run needs every host: the first that failed is the reason. */
static void bench_first_error(const struct fleet *fleet, struct error *err)
{
	for (size_t i = 0; i < fleet->count && !err->kind; i++)
		if (fleet->members[i].failed)
			*err = fleet->members[i].err;
	if (!err->kind)
		error_set(err, ERROR_FAILED, "no host gave a report");
}

int fleet_bench(struct fleet *fleet, const struct bench_options *options, struct arena *arena,
		struct report *report, cJSON **document, struct error *err)
{
	struct run run = {0};
	struct progress_step *step;
	size_t jobs = fleet->jobs;
	uint64_t begin = clock_usec();
	int rc;

	*report = (struct report){0};
	*document = NULL;
	if (plan_launch(fleet, options, arena, &run, err) < 0)
		return -1;
	step = progress_begin("bench",
			      arena_printf(arena, "%d ranks on %zu hosts by %s", run.launch.world,
					   fleet->count, run.launcher->name));
	fleet->jobs = fleet->count; /* ranks wait for each other: all hosts at once */
	fleet_each(fleet, bench_run_one, &run);
	fleet->jobs = jobs;
	rc = run.root.out.text ? read_report(&run, arena, report, document, err) : -1;
	if (rc < 0 && !err->kind)
		bench_first_error(fleet, err);
	progress_end(step, rc == 0, rc == 0 ? "done in %.1f s" : "ended after %.1f s",
		     clock_seconds_since(begin));
	proc_result_release(&run.root);
	return rc;
}
