/* SPDX-License-Identifier: MIT */
/* allreduce: what a rank does from start to end, and the only place that prints failures. */
#include "backend/backend.h"
#include "backend/watch.h"
#include "bench/bench.h"
#include "bench/device_limits.h"
#include "bench/find.h"
#include "clock.h"
#include "health/health.h"
#include "host/hardware.h"
#include "host/limits.h"
#include "host/versions.h"
#include "output.h"
#include "rendezvous/control.h"
#include "rendezvous/rendezvous.h"
#include "report_file.h"
#include "supervise.h"
#include "table.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the end of a run is reported from, by the main thread or, if that is stuck, by the control
 * thread. */
struct story {
	const struct options *options;
	struct group group;
	struct report report;
	FILE *file;  /* of -J, on rank 0; or NULL */
	void *state; /* the backend's, to be closed; NULL: none */
	bool told;   /* all has been said, and this is its exit status */
	int status;
};

/* Each rank: what the library warned of before the failure. */
static void tell_words(const struct story *story)
{
	const struct backend *backend = backend_find(story->options->backend);
	const struct group *group = &story->group;
	char text[1024] = "";

	if (backend && backend->words && group->members)
		backend->words(text, sizeof(text));
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
		fprintf(stderr, "allreduce: rank %d (%s): %.*s\n", group->rank,
			group->members[group->rank].host, (int)(end - line), line);
}

/* Rank 0 reports the end of the run; another rank does so only if it could not reach rank 0 (@alone).
 * Returns the exit status. */
static int tell(const struct story *story, const struct failure *failure, bool alone)
{
	const struct options *options = story->options;
	int status = failure->status;

	if (status != STATUS_PASS)
		tell_words(story);
	if (status != STATUS_PASS && (options->rank == 0 || alone)) {
		fprintf(stderr, "allreduce: %s: %s\n", verdict_name(status), failure->reason);
		output_device(options, &story->group, failure->rank);
	}
	if (story->file &&
	    report_file_end(story->file, options, &story->group, &story->report, failure) < 0)
		fprintf(stderr, "allreduce: -J: cannot write %s: %s\n", options->output_file,
			strerror(errno));
	if (options->rank == 0 &&
	    output_verdict(options, &story->group, &story->report, failure) < 0) {
		fprintf(stderr, "allreduce: cannot write standard output\n");
		return status == STATUS_PASS ? STATUS_USAGE : status;
	}
	return status;
}

/* The main thread hangs: before it could tell the story, or while it gives its devices back. */
static void tell_and_leave(void *arg, const struct failure *failure, bool alone)
{
	const struct story *story = arg;
	const struct group *group = &story->group;

	if (!story->told)
		_exit(tell(arg, failure, alone));
	fprintf(stderr,
		"allreduce: rank %d (%s): the libraries hang while the devices are given back: the process ends without it\n",
		group->rank, group->members[group->rank].host);
	_exit(story->status);
}

/* What follows the benchmark, if it was asked for and all is well so far. */
static int work_on(struct story *story, const struct bench *bench, struct failure *err)
{
	const struct workload *workload = &story->group.workload;
	const struct sgd_setup setup = {.group = &story->group,
					.backend = bench->backend,
					.state = bench->state,
					.fault = bench->fault};
	struct failure *verdict = &story->report.failure;

	if (workload->find_slow && verdict->status == STATUS_PASS &&
	    find_run(bench, &story->report, err) < 0)
		return -1;
	if (workload->sgd_steps && verdict->status == STATUS_PASS)
		return sgd_run(&setup, &story->report.sgd, verdict, err);
	return 0;
}

/* Adds @count warnings to those of the report, and shows them. */
static void add_warnings(struct story *story, const struct warning *list, int count)
{
	struct report *report = &story->report;
	int before = report->warning_count;

	report->warning_count += count;
	report->warnings =
		realloc(report->warnings, ((size_t)report->warning_count + 1) * sizeof(*list));
	if (!report->warnings)
		abort();
	if (count > 0)
		memcpy(report->warnings + before, list, (size_t)count * sizeof(*list));
	output_warnings(story->options, &story->group, report, before);
}

/* Brings all ranks' warnings to rank 0: first those of the machines and of backends that are connected, later (@first:
 * after the first collective) those of the others. */
static int collect_warnings(struct story *story, const struct bench *bench, bool first,
			    struct failure *err)
{
	const struct group *group = &story->group;
	struct warning *list = NULL;
	int count = 0;
	struct warnings own = {.rank = group->rank},
			*all = calloc((size_t)(group->rank == 0 ? group->world : 1), sizeof(*all));
	int rc;

	if (!all)
		abort();
	if (bench->backend->warn && bench->backend->connects_late == first)
		bench->backend->warn(bench->state, &own);
	if (!first && hardware_speaks(group))
		hardware_check_pci(&own);
	rc = control_gather(group->control, &own, sizeof(own), all, err);
	if (rc == 0 && group->rank == 0)
		list = warnings_merge(group, all, &count);
	if (rc == 0 && group->rank == 0)
		add_warnings(story, list, count);
	free(list);
	free(all);
	return rc < 0 ? -1 : control_share(group->control, NULL, 0, err);
}

static int after_first(const struct bench *bench, void *arg, struct failure *err)
{
	return bench->backend->connects_late ? collect_warnings(arg, bench, true, err) : 0;
}

/* For -I 1 with -J: how many ranks nccl-tests would have in a process. */
static int main_times_kept(const struct options *options)
{
	if (!options->spreads || options->output_file[0] == '\0')
		return 0;
	return (options->threads > 0 ? options->threads : 1) *
	       (options->gpus > 0 ? options->gpus : 1);
}

/* From the table of members to the last barrier. */
static int main_work(struct story *story, const struct backend *backend, struct failure *err)
{
	const struct options *options = story->options;
	struct bench bench = {.group = &story->group,
			      .backend = backend,
			      .fault = &options->fault,
			      .min_busbw = options->min_busbw,
			      .min_average = options->min_average,
			      .expect = &options->expect,
			      .keep_times = main_times_kept(options),
			      .on_row = table_row,
			      .on_progress = output_progress,
			      .arg = (void *)(uintptr_t)options,
			      .on_first = after_first,
			      .first_arg = story};
	struct control *control = story->group.control;
	bool reduced;
	int rc;

	fault_strike(&options->fault, PHASE_BOOTSTRAP, options->rank);
	if (device_limits_agree(&story->group, backend, &reduced, err) < 0)
		return -1;
	if (reduced)
		output_reduced(options, &story->group);
	control_begin(control, clock_usec());
	rc = backend->open(&story->group, bench_buffer_bytes(&story->group.workload, backend),
			   &bench.state, err);
	story->state = bench.state;
	if (rc < 0)
		return -1;
	control_end(control);
	rc = collect_warnings(story, &bench, false, err);
	if (rc == 0 && options->rank == 0)
		table_header(options, &story->group);
	if (rc == 0)
		rc = bench_run(&bench, &story->report, err);
	if (rc == 0)
		rc = work_on(story, &bench, err);
	return rc == 0 ? control_finish(control, err) : -1;
}

static int take_part(struct story *story, const struct backend *backend, const int *fds,
		     bool *alone, struct failure *err)
{
	story->group.control = control_start(&story->group, fds, tell_and_leave, story, err);
	*alone = true;
	if (!story->group.control)
		return -1;
	if (main_work(story, backend, err) < 0) {
		*alone = control_raise(story->group.control, err);
		return -1;
	}
	*alone = false;
	*err = story->report.failure;
	return 0;
}

/* The verdict was told before this: the libraries may hang in it. */
static void give_back(struct story *story, const struct backend *backend)
{
	if (!story->group.control)
		return;
	control_leave(story->group.control);
	if (story->state)
		backend->close(story->state);
	control_stop(story->group.control);
}

/* The driver or its library hangs in probe(). */
static void leave_probe(void *arg)
{
	const struct story *story = arg;
	const struct options *options = story->options;
	struct failure failure = {.phase = PHASE_VERSION};

	failure_set(
		&failure, STATUS_GPU, options->rank, "",
		"rank %d: the driver does not answer within %d s when it is asked for its devices (--backend %s): see 'dmesg | grep -e NVRM -e Xid' on this host",
		options->rank, options->timeout_sec, options->backend);
	_exit(tell(story, &failure, true));
}

static int probe(const struct backend *backend, struct story *story, struct failure *unusable)
{
	struct watch watch;
	int rc;

	watch_begin(&watch, story->options->timeout_sec, leave_probe, story);
	rc = backend->probe(unusable);
	watch_end(&watch);
	return rc;
}

static int run_rank(struct options *options)
{
	const struct backend *backend = backend_find(options->backend);
	struct failure err = {.status = STATUS_PASS}, unusable = {.status = STATUS_PASS};
	struct story story = {.options = options};
	bool alone = true, joined;
	int *fds = NULL, status;

	if (fault_hits(&options->fault, FAULT_DROP, options->rank) &&
	    options->fault.at[FAULT_DROP] == PHASE_JOIN) {
		sleep((unsigned)options->timeout_sec);
		return STATUS_TIMEOUT;
	}
	story.group.world = options->world;
	if (options->rank == 0 && options->output_file[0] != '\0' && !options->silent)
		story.file = report_file_begin(options);
	if (probe(backend, &story, &unusable) < 0)
		unusable.phase = PHASE_VERSION;
	if (options->rank == 0 && options->root_listener < 0 &&
	    rendezvous_listen(options, &err) < 0)
		return tell(&story, &err, true);
	joined = rendezvous_join(options, &unusable, &story.group, &fds, &alone, &err) == 0;
	secret_forget(&options->secret);
	secret_unguard();
	if (joined)
		take_part(&story, backend, fds, &alone, &err);
	status = story.status = tell(&story, &err, alone);
	story.told = true;
	give_back(&story, backend);
	report_release(&story.report);
	group_release(&story.group);
	free(fds);
	return status;
}

static int run_many(struct options *options)
{
	struct story story = {.options = options, .group = {.world = options->world}};
	struct failure err = {.status = STATUS_PASS};
	int status;

	if (options->rank == 0 && rendezvous_listen(options, &err) < 0)
		return tell(&story, &err, true);
	status = supervise(options, run_rank, &err);
	return err.status == STATUS_PASS ? status : tell(&story, &err, true);
}

int main(int argc, char **argv)
{
	struct options options;
	struct failure err = {.status = STATUS_PASS};

	signal(SIGPIPE, SIG_IGN);
	limits_raise_files();
	switch (options_parse(argc, argv, &options, &err)) {
	case OPTIONS_DONE:
		return STATUS_PASS;
	case OPTIONS_VERSIONS:
		return versions_print(options.json);
	case OPTIONS_HEALTH:
		return health_run(&options);
	case OPTIONS_BAD:
		fprintf(stderr, "allreduce: %s\n", err.reason);
		return STATUS_USAGE;
	case OPTIONS_RUN:
		break;
	}
	return options.procs > 0 ? run_many(&options) : run_rank(&options);
}
