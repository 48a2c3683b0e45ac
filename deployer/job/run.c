/* SPDX-License-Identifier: MIT */
#include "deployer/job/run.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/foreign.h"
#include "core/log.h"
#include "deployer/job/console/input.h"
#include "deployer/job/spawn.h"
#include "deployer/job/supervisors.h"
#include "deployer/job/versions.h"
#include "deployer/launcher/launcher.h"

#include <signal.h>
#include <string.h>

#define START_TIMEOUT_DEFAULT_S 60
#define LOST_USEC 8000000	   /* a host that says nothing for so long is lost */
#define FIRST_FAILURE_USEC 1500000 /* a rank's end comes later than its launcher's, at most this */
#define LAST_TASK_USEC 15000000	   /* for a launcher to end when all its ranks have */
#define STOP_USEC 12000000	   /* for all supervisors to end their part */
#define TROUBLE_BYTES_MAX 600
#define BEAT_USEC 1000000
#define WAKE_MSEC 50
#define STACKS_USEC 6000000 /* for the hosts to say what their processes do */
#define QUIET_RANKS_SHOWN 3
#define MISSING_HOSTS_SHOWN 5
#define STATUS_TIMED_OUT 124 /* as timeout(1) */

/* What a rank has done so far. */
struct run_rank {
	const struct job_host *host;
	bool began, ended;
	bool serves; /* as in struct job_task; and so */
	int grace_s;
	int status;
	uint64_t said_usec; /* when its last line came; 0: none has */
};

struct job_run {
	struct job_plan plan;
	struct supervisors *supervisors;
	struct job_spawns spawns;
	struct job_versions *versions;
	struct job_input *input; /* NULL: it has not begun, or no rank has stdin */
	struct job_output *output;
	const struct job_watch *watch;
	struct job_verdict verdict;
	struct run_rank *ranks;
	int began, ended;	/* ranks */
	int tasks, tasks_ended; /* processes that start ranks */
	int task_status;
	const struct job_host *task_host; /* of the first task that failed */
	uint64_t task_usec;		  /* when it failed, or when the work was done; 0 */
	uint64_t begin_usec, beat_usec;
	uint64_t said_usec;   /* when a rank's last line came, or all began */
	uint64_t stacks_usec; /* when the hosts were asked for stacks; 0 */
	size_t stacked;	      /* hosts that have answered */
	FILE *stacks;
	bool is_planned, is_started, is_running, is_over;
	bool is_held; /* the terminal does not take what the ranks print, and they wait */
};

static void run_fail(struct job_run *run, int status, int rank, const char *host,
		     const char *reason)
{
	if (job_verdict_fail(&run->verdict, status, rank, host, reason))
		run->is_over = true;
}

static void run_fail_host(struct job_run *run, const struct job_host *host, const char *reason)
{
	const char *name = host->member->host->name;

	run_fail(run, ERROR_FAILED, -1, name,
		 arena_printf(run->plan.arena, "%s: %s", name, reason));
}

static const char *launcher_name(const struct job_run *run)
{
	return run->plan.options->launcher->name;
}

/* Counts the ranks that have begun on a host. */
static int ranks_on(const struct job_run *run, const struct job_host *host)
{
	int count = 0;

	for (int i = 0; i < run->plan.world; i++)
		count += run->ranks[i].began && run->ranks[i].host == host;
	return count;
}

static void run_join(struct job_run *run, const struct job_host *host, int rank, int world)
{
	const char *name = host->member->host->name;
	struct arena *arena = run->plan.arena;
	struct run_rank *state;

	if (rank >= run->plan.world || (world > 0 && world != run->plan.world)) {
		run_fail_host(
			run, host,
			arena_printf(
				arena,
				"%s started rank %d of %d there, and the plan has %d ranks in all",
				launcher_name(run), rank, world, run->plan.world));
		return;
	}
	state = &run->ranks[rank];
	if (!run->plan.options->launcher->ranks_join) {
		run_fail_host(run, host, "a rank joined there that nobody started");
		return;
	}
	if (state->began && !state->ended) {
		run_fail_host(run, host,
			      arena_printf(arena, "%s started rank %d twice, on %s and on %s",
					   launcher_name(run), rank,
					   state->host->member->host->name, name));
		return;
	}
	if (!state->began && ranks_on(run, host) >= host->ranks) {
		run_fail_host(
			run, host,
			arena_printf(
				arena,
				"%s started more than the %d ranks that the plan has there: it did not spread the job over the hosts",
				launcher_name(run), host->ranks));
		return;
	}
	run->began += !state->began;
	run->ended -= state->ended; /* started again, by torchrun */
	*state = (struct run_rank){.host = host, .began = true};
}

/* The rank's last lines decide whether its failure is the first one. */
static void run_fail_rank(struct job_run *run, int rank, int status)
{
	job_output_flush(run->output);
	if (job_verdict_fail_rank(&run->verdict, status, rank,
				  run->ranks[rank].host->member->host->name))
		run->is_over = true;
}

/* Whether all ranks that the job waits for have ended. */
static bool run_work_is_done(const struct job_run *run)
{
	for (int i = 0; i < run->plan.world; i++)
		if (!run->ranks[i].ended && !run->ranks[i].serves)
			return false;
	return true;
}

static void run_rank_exit(struct job_run *run, const struct job_host *host, int rank, int status)
{
	struct run_rank *state = &run->ranks[rank];

	if (state->began && state->host != host) {
		run_fail_host(run, host, "it reports the end of a rank of another host");
		return;
	}
	if (state->ended || !state->began)
		return;
	state->ended = true;
	state->status = status;
	run->ended++;
	if (state->serves && run_work_is_done(run))
		return; /* nobody needs it any more */
	if (status && !run->is_over)
		run_fail_rank(run, rank, status);
}

static void run_exit(struct job_run *run, const struct job_host *host, const char *label,
		     int status)
{
	int rank = job_label_rank(label);

	if (!run->is_planned ||
	    job_spawn_ended(&run->spawns, run->supervisors, host, label, status))
		return;
	if (rank >= 0 && rank < run->plan.world) {
		run_rank_exit(run, host, rank, status);
	} else if (rank < 0) {
		run->tasks_ended++;
		if (status && !run->task_host) {
			run->task_host = host;
			run->task_status = status;
			run->task_usec = clock_usec();
		}
	}
}

/* The launcher starts something on another host. */
static void run_spawn(struct job_run *run, const struct job_host *host,
		      const struct job_event *event)
{
	const char *why = job_spawn(&run->spawns, &run->plan, run->supervisors, host, event);

	if (why)
		run_fail_host(run, host, why);
}

static void run_add_output(struct job_run *run, const struct job_host *host,
			   const struct job_event *event)
{
	bool shows = run->output->shows;
	int rank = job_label_rank(event->label);

	if (!run->output->all || !run->is_planned)
		return;
	/* a host speaks for its own ranks only */
	if (rank >= run->plan.world ||
	    (rank >= 0 && run->ranks[rank].began && run->ranks[rank].host != host))
		return;
	if (rank >= 0 && rank < run->plan.world && !run->stacks_usec)
		run->said_usec = run->ranks[rank].said_usec = clock_usec();
	/* what a launcher says of its own end, which is ringup's doing, is for the log */
	if (run->is_over && rank < 0)
		run->output->shows = false;
	job_output_add(run->output, event, host->member->host->name);
	run->output->shows = shows;
	if (!run->is_over)
		job_verdict_feed(&run->verdict, host->member->host->name, rank, event->text);
}

/* Called under the lock, on the thread of the host. */
static void run_hear(void *arg, size_t index, const struct job_event *event)
{
	struct job_run *run = arg;
	struct job_host *host = &run->plan.hosts[index];

	if (run->is_over && (event->kind == JOB_EVENT_JOIN || event->kind == JOB_EVENT_TROUBLE))
		return;
	if ((event->kind == JOB_EVENT_OUTPUT || event->kind == JOB_EVENT_EXIT) &&
	    strcmp(event->label, JOB_LABEL_VERSIONS) == 0) {
		if (run->is_planned)
			job_versions_hear(run->versions, host, event);
		return;
	}
	switch (event->kind) {
	case JOB_EVENT_JOIN:
		if (run->is_planned)
			run_join(run, host, event->rank, event->world);
		break;
	case JOB_EVENT_SPAWN:
		if (run->is_planned && !run->is_over)
			run_spawn(run, host, event);
		break;
	case JOB_EVENT_OUTPUT:
		run_add_output(run, host, event);
		break;
	case JOB_EVENT_TOOK:
	case JOB_EVENT_CLOSED:
		job_input_hear(run->input, index, event);
		break;
	case JOB_EVENT_EXIT:
		run_exit(run, host, event->label, event->number);
		break;
	case JOB_EVENT_STACK:
		if (run->stacks)
			fprintf(run->stacks, "[%s %s] %s\n", event->label, host->member->host->name,
				foreign_clean_line(event->text));
		break;
	case JOB_EVENT_STACKED:
		run->stacked++;
		break;
	case JOB_EVENT_TROUBLE:
		foreign_clean_line(event->text);
		run_fail_host(
			run, host,
			arena_printf(&host->member->arena, "%.*s", TROUBLE_BYTES_MAX, event->text));
		break;
	default:
		break;
	}
}

/* Called without the lock. Once the job is over its last lines are wanted, however long they wait. */
static bool run_holds(void *arg)
{
	struct job_run *run = arg;

	return job_terminal_is_full(&run->output->terminal) && !interrupted();
}

static void say_list(struct str *out, const char *keyword, const char *const *list)
{
	for (; *list; list++)
		job_say(out, keyword, *list);
}

static void say_task(struct job_run *run, const struct job_host *host, const struct job_task *task,
		     struct str *out)
{
	int rank = job_label_rank(task->label);

	job_say(out, "task", task->label);
	say_list(out, "env", task->env);
	say_list(out, "env", run->plan.options->env);
	say_list(out, "word", task->words);
	if (rank < 0) {
		run->tasks++;
		return;
	}
	if (rank == run->plan.options->input_rank)
		job_input_announce(run->plan.options, out);
	run->ranks[rank] = (struct run_rank){
		.host = host, .began = true, .serves = task->serves, .grace_s = task->grace_s};
	run->began++;
}

static int run_tell(struct job_run *run, size_t index, const struct str *lines, struct error *err)
{
	if (lines->overflowed)
		return error_set(err, ERROR_USAGE, "%s: the environment of its ranks is too large",
				 run->plan.hosts[index].member->host->name);
	supervisor_tell(run->supervisors, index, lines->text);
	return 0;
}

/* Tells a host the environment of its ranks, and asks for the versions that they meet there. */
static int run_prepare_host(struct job_run *run, size_t index, struct error *err)
{
	const struct job_host *host = &run->plan.hosts[index];
	const struct job_options *options = run->plan.options;
	_cleanup_(str_release) struct str out = STR_INIT;

	job_say(&out, "set", arena_printf(run->plan.arena, "RINGUP_JOB=%s", options->name));
	say_list(&out, "default", job_host_defaults(&run->plan, host));
	if (options->devices) /* also where the container says something else */
		job_say(&out, "set", job_visible_devices(host, run->plan.arena));
	say_list(&out, "set", options->env);
	if (*job_workdir(options, host->member))
		job_say(&out, "dir", job_workdir(options, host->member));
	if (job_versions_ask(run->versions, host, &out, err) < 0)
		return -1;
	job_say(&out, "start", NULL);
	return run_tell(run, index, &out, err);
}

/* Tells a host its tasks. */
static int run_start_host(struct job_run *run, size_t index, struct error *err)
{
	const struct job_host *host = &run->plan.hosts[index];
	struct job_tasks tasks = {.arena = run->plan.arena};
	_cleanup_(str_release) struct str out = STR_INIT;

	if (run->plan.options->launcher->tasks(&run->plan, host, &tasks, err) < 0)
		return -1;
	for (size_t i = 0; i < tasks.count; i++)
		say_task(run, host, &tasks.list[i], &out);
	job_say(&out, "start", NULL);
	return run_tell(run, index, &out, err);
}

/* Does it for every host, until one fails: then the job is over. */
static void run_each_host(struct job_run *run,
			  int (*do_host)(struct job_run *run, size_t index, struct error *err))
{
	struct error err = {0};

	for (size_t i = 0; i < run->plan.host_count && !err.kind; i++)
		do_host(run, i, &err);
	if (err.kind)
		run_fail(run, (int)err.kind, -1, "", arena_strdup(run->plan.arena, err.text));
}

/* All hosts are ready: spreads the ranks. */
static void run_prepare(struct job_run *run)
{
	struct error err = {0};

	for (size_t i = 0; i < run->plan.host_count; i++)
		supervisor_facts(run->supervisors, i, &run->plan.hosts[i]);
	if (job_plan_ranks(&run->plan, &err) == 0 &&
	    job_output_open(run->output, run->output->folder, run->plan.world, run->plan.arena,
			    &err) == 0) {
		run->ranks = ARENA_ARRAY(run->plan.arena, (size_t)run->plan.world, struct run_rank);
		run->versions = job_versions_new(&run->plan);
		run->is_planned = true;
		run_each_host(run, run_prepare_host);
	} else {
		run_fail(run, (int)err.kind, -1, "", arena_strdup(run->plan.arena, err.text));
	}
}

/* Whether all hosts have the same libraries. If not, the job is over. */
static bool run_versions_fit(struct job_run *run, uint64_t now)
{
	const char *differ, *silent;

	if (run->plan.options->mixed_versions)
		return true;
	if (!job_versions_are_known(run->versions, now))
		return false;
	silent = job_versions_silent(run->versions);
	if (silent)
		log_warn("%s: it does not say which libraries it has, so they are not compared",
			 silent);
	differ = job_versions_differ(run->versions);
	run->verdict.is_refused = differ != NULL;
	if (differ)
		run_fail(run, ERROR_FAILED, -1, "", differ);
	return !differ;
}

/* All ranks are where the plan has them: the user's command may run. */
static void run_go(struct job_run *run)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	size_t reader = (size_t)(run->ranks[run->plan.options->input_rank].host - run->plan.hosts);

	run->is_running = true;
	run->said_usec = clock_usec();
	if (run->plan.options->launcher->names_hosts)
		str_addf(&out, "set MASTER_ADDR=%s\n", run->ranks[0].host->member->host->address);
	str_add(&out, "go\n");
	if (run->plan.options->launcher->ranks_join)
		job_input_prepare(run->supervisors, reader, run->plan.options);
	for (size_t i = 0; i < run->plan.host_count; i++)
		supervisor_tell(run->supervisors, i, out.text);
	if (run->watch && run->watch->began)
		run->watch->began(run->watch->arg, &run->plan);
	job_output_flush(run->output); /* before the terminal gets other modes */
	run->input = job_input_begin(run->supervisors, reader, run->plan.options, run->plan.arena);
}

/* Starts the tasks. Ranks that join wait for "go"; others are the person's command at once. */
static void run_check_ready(struct job_run *run, uint64_t now)
{
	bool joins = run->plan.options->launcher->ranks_join;

	if (!run->is_started && (joins || run_versions_fit(run, now))) {
		run->is_started = true;
		run_each_host(run, run_start_host);
	}
	if (run->is_started && !run->is_over && run->began == run->plan.world &&
	    (!joins || run_versions_fit(run, now)))
		run_go(run);
}

/* "node02 (1 of 2 ranks), node03 (0 of 2 ranks)": where ranks are missing. */
static const char *run_missing_ranks(const struct job_run *run)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	int hosts = 0;

	for (size_t i = 0; i < run->plan.host_count; i++) {
		const struct job_host *host = &run->plan.hosts[i];
		int began = ranks_on(run, host);

		if (began < host->ranks && hosts++ < MISSING_HOSTS_SHOWN)
			str_addf(&text, "%s%s (%d of %d ranks)", text.length ? ", " : "",
				 host->member->host->name, began, host->ranks);
	}
	if (hosts > MISSING_HOSTS_SHOWN)
		str_addf(&text, " and ranks of %d more hosts", hosts - MISSING_HOSTS_SHOWN);
	return arena_strdup(run->plan.arena, text.text);
}

static void run_check_start(struct job_run *run, uint64_t now)
{
	int seconds = run->plan.options->start_timeout_s;

	if (!seconds)
		seconds = START_TIMEOUT_DEFAULT_S;
	if (now - run->begin_usec < (uint64_t)seconds * 1000000)
		return;
	run_fail(run, ERROR_FAILED, -1, "",
		 run->is_planned
			 ? arena_printf(run->plan.arena,
					"%s did not start all ranks in %d s; missing: %s",
					launcher_name(run), seconds, run_missing_ranks(run))
			 : arena_printf(run->plan.arena, "not all hosts were ready in %d s: %s",
					seconds,
					supervisors_waiting(run->supervisors, run->plan.arena)));
}

/* A launcher that failed: a rank's own end says more, and may come a moment later. */
static void run_check_tasks(struct job_run *run, uint64_t now)
{
	const char *name = run->task_host ? run->task_host->member->host->name : "";

	if (!run->task_host || (run->is_running && now - run->task_usec < FIRST_FAILURE_USEC))
		return;
	run_fail(run, run->task_status, -1, name,
		 arena_printf(run->plan.arena, "%s on %s ended with status %d%s",
			      launcher_name(run), name, run->task_status,
			      run->is_running ? "" : " before all ranks had begun"));
}

/* Whether a rank that serves the others may still end by itself. */
static bool run_has_grace(const struct job_run *run, uint64_t now)
{
	for (int i = 0; i < run->plan.world; i++) {
		const struct run_rank *rank = &run->ranks[i];

		if (!rank->ended && now - run->task_usec < (uint64_t)rank->grace_s * 1000000)
			return true;
	}
	return false;
}

static void run_check_end(struct job_run *run, uint64_t now)
{
	if (!run_work_is_done(run))
		return;
	if (!run->task_usec)
		run->task_usec = now;
	if (run_has_grace(run, now))
		return;
	if (run->tasks_ended == run->tasks || now - run->task_usec > LAST_TASK_USEC)
		run->is_over = true;
}

static void run_check_hosts(struct job_run *run, uint64_t now)
{
	for (size_t i = 0; i < run->plan.host_count; i++) {
		const struct job_host *host = &run->plan.hosts[i];

		if (supervisor_has_ended(run->supervisors, i))
			run_fail_host(run, host, "the connection was lost while the job ran");
		else if (run->is_held)
			supervisor_heard(run->supervisors, i,
					 now); /* it waits, since nobody reads */
		else if (supervisor_silence_usec(run->supervisors, i, now) > LOST_USEC)
			run_fail_host(
				run, host,
				"the host does not answer any more; is it up, and the network?");
	}
}

static void run_check_person(struct job_run *run, uint64_t now)
{
	int seconds = run->plan.options->timeout_s;

	run->is_held = run->output->all && job_terminal_is_full(&run->output->terminal);
	if (run->output->all && run->output->terminal.is_closed)
		run_fail(run, 128 + SIGPIPE, -1, "", "nobody reads its output any more");

	if (interrupted()) {
		run_fail(run, ERROR_INTERRUPTED, -1, "", "interrupted");
		run->verdict.result->is_interrupted = true;
	}
	if (seconds && now - run->begin_usec > (uint64_t)seconds * 1000000)
		run_fail(run, STATUS_TIMED_OUT, -1, "",
			 arena_printf(run->plan.arena, "the job did not end within --limit %d s",
				      seconds));
}

/* The ranks that have been quiet for the longest time: most likely the first of them stopped first. */
static const char *run_quietest(const struct job_run *run, uint64_t now)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	uint64_t after = 0;
	int shown = 0, silent = 0;

	while (shown < QUIET_RANKS_SHOWN) {
		const struct run_rank *next = NULL;

		for (int i = 0; i < run->plan.world; i++) {
			const struct run_rank *rank = &run->ranks[i];

			if (!rank->ended && rank->said_usec > after &&
			    (!next || rank->said_usec < next->said_usec))
				next = rank;
		}
		if (!next)
			break;
		after = next->said_usec;
		str_addf(&text, "%srank %d on %s %.0f s ago", shown++ ? ", " : "",
			 (int)(next - run->ranks), next->host->member->host->name,
			 (double)(now - after) / 1e6);
	}
	for (int i = 0; i < run->plan.world; i++)
		silent += !run->ranks[i].ended && !run->ranks[i].said_usec;
	if (silent)
		str_addf(&text, "%sno line ever came from %d rank%s", shown ? "; " : "", silent,
			 silent == 1 ? "" : "s");
	return arena_strdup(run->plan.arena, text.text);
}

/* A job without output: asks what its processes do, and then ends it. */
static void run_check_hang(struct job_run *run, uint64_t now)
{
	int seconds = run->plan.options->hang_timeout_s;
	const char *path;

	if (!seconds || now < run->said_usec + (uint64_t)seconds * 1000000)
		return;
	path = arena_printf(run->plan.arena, "%s/stacks.txt", run->output->folder);
	if (!run->stacks_usec) {
		run->stacks_usec = now;
		run->stacks = fopen(path, "we");
		supervisors_tell(run->supervisors, "stacks\n");
		return;
	}
	if (run->stacked < run->plan.host_count && now - run->stacks_usec < STACKS_USEC)
		return;
	file_close(&run->stacks);
	run_fail(
		run, STATUS_TIMED_OUT, -1, "",
		arena_printf(
			run->plan.arena,
			"it hangs: no rank printed a line for %d s (--hang-timeout). The last lines came from: %s. What every process did then is in %s",
			seconds, run_quietest(run, now), path));
}

/* One look at everything. */
static void run_look(struct job_run *run)
{
	uint64_t now = clock_usec();

	run_check_person(run, now);
	if (job_verdict_is_settled(&run->verdict, now))
		run->is_over = true;
	if (supervisors_failed(run->supervisors) && !run->is_planned) {
		run->is_over = true; /* the hosts' own errors say why */
		return;
	}
	if (!run->is_planned && supervisors_ready(run->supervisors))
		run_prepare(run);
	if (run->is_planned)
		run_check_hosts(run, now);
	if (run->is_planned && !run->is_running && !run->is_over)
		run_check_ready(run, now);
	if (!run->is_running)
		run_check_start(run, now);
	if (run->is_planned)
		run_check_tasks(run, now);
	if (run->is_running) {
		run_check_end(run, now);
		run_check_hang(run, now);
	}
	if (now - run->beat_usec > BEAT_USEC) {
		run->beat_usec = now;
		supervisors_beat(run->supervisors);
	}
	job_output_flush(run->output);
}

/* The thread that decides, beside those of the hosts. */
static void run_control(void *arg)
{
	struct job_run *run = arg;
	uint64_t deadline;

	supervisors_lock(run->supervisors);
	while (!run->is_over) {
		run_look(run);
		if (!run->is_over)
			supervisors_wait(run->supervisors, WAKE_MSEC);
	}
	job_verdict_close(&run->verdict);
	job_input_stop(run->input);
	supervisors_stop(run->supervisors);
	deadline = clock_usec() + STOP_USEC;
	while (!supervisors_ended(run->supervisors, LOST_USEC) && clock_usec() < deadline &&
	       !interrupted_twice()) {
		supervisors_wait(run->supervisors, WAKE_MSEC);
		job_output_flush(run->output);
	}
	supervisors_give_up(run->supervisors);
	supervisors_unlock(run->supervisors);
}

int job_run(struct fleet *fleet, const struct job_options *options, const char *folder,
	    struct job_output *output, const struct job_watch *watch, struct arena *arena,
	    struct job_result *result, struct error *err)
{
	struct job_run run = {.output = output, .watch = watch};

	job_verdict_begin(&run.verdict, result, folder, arena);
	output->folder = folder;
	output->raw_rank = options->input == JOB_INPUT_TERMINAL ? options->input_rank : -1;
	if (job_plan_init(&run.plan, fleet, options, arena, err) < 0)
		return -1;
	run.begin_usec = clock_usec();
	if (supervisors_open(&run.supervisors, fleet, run.plan.id, options, run_hear, run_holds,
			     &run, err) < 0)
		return -1;
	supervisors_run(run.supervisors, run_control, &run);
	job_input_close(run.input);
	job_output_close(output);
	job_verdict_explain(&run.verdict, fleet, run.task_host);
	for (size_t i = 0; i < fleet->count; i++)
		if (supervisor_left(run.supervisors, i))
			log_warn("%s: %d processes of the job could not be ended",
				 fleet->members[i].host->name, supervisor_left(run.supervisors, i));
	for (size_t i = 0; i < fleet->count && run.is_planned; i++)
		if (!supervisor_is_done(run.supervisors, i))
			log_warn("%s: it did not say that everything of the job has ended there",
				 fleet->members[i].host->name);
	supervisors_close(run.supervisors);
	if (!result->status && !run.is_running)
		return fleet_result(fleet, err) < 0
			       ? -1
			       : error_set(err, ERROR_FAILED, "the job did not begin");
	return 0;
}
