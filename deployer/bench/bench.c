/* SPDX-License-Identifier: MIT */
#include "deployer/bench/bench.h"

#include "core/clock.h"
#include "core/words.h"

#include <errno.h>
#include <string.h>

#define BENCH_TIMEOUT_DEFAULT_S 300
#define LAST_WORDS_BYTES 600
#define PORT_DRAWS 3

struct bench_run {
	struct program program;
	struct launch launch;
	const struct launcher *launcher;
	struct proc_result root; /* of the member that prints the report */
};

/* The worker's own statuses are its verdicts; 125 to 127 and 1 mean that it never ran. */
static bool bench_never_began(const struct proc_result *result)
{
	return (result->status >= 125 && result->status <= 127) ||
	       (result->status == 1 && !strchr(result->out.text, '{'));
}

static const char *const *bench_words(const char *const *before, const char *const *arguments,
				      struct arena *arena)
{
	struct words words = WORDS_INIT(arena);

	words_add_all(&words, before);
	words_add(&words, "--json");
	words_add_all(&words, arguments);
	return words.list;
}

/*
 * The all-reduce worker as a program. mpirun tells it which rank it is, or it starts all ranks of
 * its host itself.
 */
static struct program bench_program(const struct fleet *fleet, const char *const *arguments,
				    struct arena *arena)
{
	static const char *const no_env[] = {NULL};
	int *ranks = ARENA_ARRAY(arena, fleet->count, int);

	for (size_t i = 0; i < fleet->count; i++)
		ranks[i] = member_slots(&fleet->members[i]);
	return (struct program){
		.title = "the worker",
		.rank_words =
			bench_words(WORDS("allreduce", "--root", "@{root}"), arguments, arena),
		.host_words =
			bench_words(WORDS("allreduce", "--rank", "@{rank}", "--procs", "@{ranks}",
					  "--world", "@{world}", "--root", "@{root}", "--bind",
					  "@{address}", "--host", "@{host}"),
				    arguments, arena),
		.env = no_env,
		.needs_secret = true,
		.ranks = ranks,
		.never_began = bench_never_began,
	};
}

/*
 * Finds the member of a rank in the report by its address, because names inside containers may
 * differ.
 */
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
 * A job that runs on fewer hosts than planned can exit 0 and look right, so the ranks per host are
 * counted.
 */
static int check_places(const struct bench_run *run, const int *seen, struct error *err)
{
	const struct fleet *fleet = run->launch.fleet;

	for (size_t i = 0; i < fleet->count; i++) {
		const struct member *m = &fleet->members[i];

		if (seen[i] != run->program.ranks[i])
			return error_set(
				err, ERROR_VERDICT,
				"%d ranks ran on %s, planned were %d: the launcher did not spread the job over the cluster",
				seen[i], m->host->name, run->program.ranks[i]);
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

static int read_report(struct bench_run *run, struct arena *arena, struct report *report,
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
	if (out->overflowed)
		return error_set(err, ERROR_FAILED,
				 "%s: the worker's report is longer than %zu bytes",
				 fleet->members[0].host->name, out->length);
	if (json_parse(start, out->length - (size_t)(start - out->text), "the worker's report",
		       document, err) < 0 ||
	    report_from_json(*document, arena, report, err) < 0)
		return error_wrap(err, "%s", fleet->members[0].host->name);
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

/* The rendezvous has a random port, which a program of the host may have: then another one is drawn. */
static bool bench_port_was_taken(struct fleet *fleet, const struct error *err)
{
	if (!strstr(err->text, "cannot listen on ") || !strstr(err->text, strerror(EADDRINUSE)))
		return false;
	for (size_t i = 0; i < fleet->count; i++) {
		fleet->members[i].failed = false;
		fleet->members[i].err = (struct error){0};
	}
	return true;
}

static int bench_once(struct fleet *fleet, const struct bench_options *options, struct arena *arena,
		      struct report *report, cJSON **document, struct error *err)
{
	struct bench_run run = {.launcher = options->launcher};
	struct progress_step *step;
	uint64_t begin = clock_usec();
	int rc;

	*report = (struct report){0};
	*document = NULL;
	run.program = bench_program(fleet, options->arguments, arena);
	if (launch_plan(fleet, run.launcher, &run.program,
			options->timeout_s ? options->timeout_s : BENCH_TIMEOUT_DEFAULT_S, arena,
			&run.launch, err) < 0)
		return -1;
	step = progress_begin("bench",
			      arena_printf(arena, "%d ranks on %zu hosts by %s", run.launch.world,
					   fleet->count, run.launcher->name));
	launch_run(&run.launch, run.launcher, &run.root);
	rc = run.root.out.text ? read_report(&run, arena, report, document, err) : -1;
	if (rc < 0 && !err->kind)
		bench_first_error(fleet, err);
	/* the host that was waited for last is not the reason */
	if (rc < 0 && err->kind != ERROR_INTERRUPTED &&
	    clock_seconds_since(begin) >= run.launch.timeout_s)
		error_set(
			err, ERROR_VERDICT,
			"the run did not end within --limit %d s; a smaller largest size (-- -e 64M) or fewer steps (-- -n 10) take less time, a larger --limit gives it more",
			run.launch.timeout_s);
	progress_end(step, rc == 0, rc == 0 ? "done in %.1f s" : "ended after %.1f s",
		     clock_seconds_since(begin));
	proc_result_release(&run.root);
	return rc;
}

int fleet_bench(struct fleet *fleet, const struct bench_options *options, struct arena *arena,
		struct report *report, cJSON **document, struct error *err)
{
	int rc = bench_once(fleet, options, arena, report, document, err);

	for (int again = 0; again < PORT_DRAWS && rc < 0 && bench_port_was_taken(fleet, err);
	     again++) {
		json_free(document);
		*err = (struct error){0};
		rc = bench_once(fleet, options, arena, report, document, err);
	}
	return rc;
}
