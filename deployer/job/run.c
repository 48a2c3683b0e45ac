/* SPDX-License-Identifier: MIT */
#include "deployer/job/run.h"
#include "deployer/job/run_state.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/foreign.h"
#include "core/log.h"
#include "core/words.h"
#include "deployer/job/leftovers.h"
#include "plan/host_set.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#define STAYS_USEC 500000 /* so long `run --detach` waits for a command that ends at once */
#define STOP_USEC 8000000 /* for all supervisors to end their part, after the grace */
#define LOST_CONNECT_S 4 /* for a host that has said nothing for LOST_USEC: most likely it is off */
#define TROUBLE_BYTES_MAX 600
#define BEAT_USEC 1000000
#define WAKE_MSEC 50

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
	if (!state->began && run_ranks_on(run, host) >= host->ranks) {
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
	/* (a rank may end while it prints its stacks) */
	if (status && !run->is_over && !run->hang)
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
	if (rank >= 0 && rank < run->plan.world && !run->hang)
		run->said_usec = run->ranks[rank].said_usec = clock_usec();
	/* what a launcher says of its own end, which is ringup's doing, is for the log */
	if ((run->is_over || run->hang) && rank < 0)
		run->output->shows = false;
	job_output_add(run->output, event, host->member->host->name);
	run->output->shows = shows;
	nuls_replace(event->text, event->length, ' '); /* the whole line is looked at */
	if (!run->is_over && !run->hang)
		job_verdict_feed(&run->verdict, host->member->host->name, rank, event->text);
}

static void run_hear_stack(struct job_run *run, const struct job_host *host,
			   const struct job_event *event)
{
	const char *text = foreign_clean_line(event->text);
	int rank = job_label_rank(event->label);

	if (run->stacks)
		fprintf(run->stacks, "[%s %s] %s\n", event->label, host->member->host->name, text);
	/* a host speaks for its own ranks only */
	if (run->hang && rank >= 0 && rank < run->plan.world && run->ranks[rank].host == host)
		job_hang_hear(run->hang, rank, text);
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
		run_hear_stack(run, host, event);
		break;
	case JOB_EVENT_STACKED: /* (hosts without ranks answer at once) */
		run->stacked += index < run->plan.host_count;
		break;
	case JOB_EVENT_CPU:
		run_hear_cpu(run, index, event->number);
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
		run->cpus = ARENA_ARRAY(run->plan.arena, run->plan.host_count, struct run_cpu);
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
	if (differ)
		run_end(run, ERROR_FAILED, differ);
	return !differ;
}

/* All ranks are where the plan has them: the user's command may run. */
static void run_go(struct job_run *run)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	size_t reader = (size_t)(run->ranks[run->plan.options->input_rank].host - run->plan.hosts);

	run->is_running = true;
	run->said_usec = run->went_usec = clock_usec();
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

/* Whether this process was stopped, or the whole machine: the clock goes on meanwhile. */
static void run_note_sleep(struct job_run *run)
{
	struct timespec time;
	uint64_t now;

	clock_gettime(CLOCK_BOOTTIME, &time);
	now = (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
	if (run->looked_usec && now - run->looked_usec > LOST_USEC)
		run->slept_s = (int)((now - run->looked_usec) / 1000000);
	run->looked_usec = now;
}

/* A command that cannot be run ends in milliseconds, and one that does not find its modules soon after. */
static void run_tell_stays(struct job_run *run, uint64_t now)
{
	if (!run->went_usec || now < run->went_usec + STAYS_USEC)
		return;
	run->went_usec = 0;
	if (run->watch && run->watch->stays)
		run->watch->stays(run->watch->arg);
}

/* One look at everything. */
static void run_look(struct job_run *run)
{
	uint64_t now = clock_usec();

	run_note_sleep(run);
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
	if (run->is_planned && !run->hang)
		run_check_tasks(run, now);
	if (run->is_running && !run->hang)
		run_check_end(run, now);
	if (run->is_running)
		run_check_hang(run, now);
	if (!run->is_over && !run->verdict.result->status)
		run_tell_stays(run, now);
	if (now - run->beat_usec > BEAT_USEC) {
		run->beat_usec = now;
		supervisors_beat(run->supervisors);
	}
	job_output_flush(run->output);
}

/* What takes longer than a moment is said before it begins: who sees nothing presses Ctrl-C again. */
static void run_say_end(const struct job_run *run)
{
	const struct job_result *result = run->verdict.result;
	int grace_s = job_grace_s(run->plan.options->grace_s);

	if (!run->output->shows)
		return;
	if (result->is_interrupted)
		log_info(
			"%s: ends the job on its %zu host%s, which may take %d s; once more: do not wait for it",
			result->reason, run->plan.host_count, run->plan.host_count == 1 ? "" : "s",
			grace_s);
	else if (run->is_lost)
		log_info("%s: ends the job on the other hosts", result->reason);
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
	run_note_sleep(run); /* the job may be over because of it */
	job_verdict_close(&run->verdict);
	job_input_stop(run->input);
	run_say_end(run);
	if (run->is_lost && run->plan.options->grace_s <= 0)
		supervisors_tell(run->supervisors,
				 arena_printf(run->plan.arena, "stop %d\n", LOST_GRACE_S));
	supervisors_stop(run->supervisors);
	deadline = clock_usec() + STOP_USEC +
		   (uint64_t)job_grace_s(run->plan.options->grace_s) * 1000000;
	while (!supervisors_ended(run->supervisors, LOST_USEC) && clock_usec() < deadline &&
	       !interrupted_twice()) {
		supervisors_wait(run->supervisors, WAKE_MSEC);
		job_output_flush(run->output);
	}
	supervisors_give_up(run->supervisors);
	supervisors_unlock(run->supervisors);
}

/* A job that did not begin because of some hosts may do without them. */
static int run_refuse(struct fleet *fleet, struct arena *arena, struct error *err)
{
	struct words names = WORDS_INIT(arena);

	if (fleet_result(fleet, err) == 0)
		return error_set(err, ERROR_FAILED, "the job did not begin");
	if (err->kind != ERROR_PARTIAL)
		return -1;
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->members[i].failed)
			words_add(&names, fleet->members[i].host->name);
	return error_advise(err, "'--exclude %s' runs the job without %s",
			    host_set_fold(words_list(&names), arena),
			    names.count == 1 ? "it" : "them");
}

/* Members whose supervisor did not say its last word are to be swept, by another connection; the others are left out. */
static bool run_choose_unsaid(struct job_run *run, struct fleet *fleet)
{
	uint64_t now = clock_usec();
	bool any = false;

	for (size_t i = 0; i < fleet->count; i++) {
		struct member *m = &fleet->members[i];

		m->left_out = supervisor_is_done(run->supervisors, i);
		if (m->left_out)
			continue;
		any = true;
		m->failed = false;
		if (supervisor_silence_usec(run->supervisors, i, now) > LOST_USEC)
			m->target.timeout_s = LOST_CONNECT_S;
		member_disconnect(m);
	}
	return any;
}

/* Only the supervisor knew its children: nobody else finds one that dropped the job's variable. */
static void run_say_swept(const struct fleet *fleet, int count)
{
	_cleanup_(str_release) struct str names = STR_INIT;

	for (size_t i = 0; i < fleet->count; i++) {
		const struct member *m = &fleet->members[i];

		if (!m->left_out && !m->failed && (!m->engine->has_containers || m->state.running))
			str_addf(&names, "%s%s", names.length ? ", " : "", m->host->name);
	}
	if (names.length)
		log_warn(
			"%s: the job's supervisor ended without its last word; %d process%s that it left %s ended now. One that has no RINGUP_JOB_ID in its environment is not found, and may go on",
			names.text, count, count == 1 ? "" : "es", count == 1 ? "is" : "are");
}

/*
 * A supervisor that did not say its last word may have been killed, and then has ended nothing: another login ends what
 * it left. After Ctrl-C nobody waits for that.
 */
static void run_sweep(struct job_run *run, struct fleet *fleet, struct job_result *result)
{
	struct words unswept = WORDS_INIT(run->plan.arena);
	int count = 0;

	if (run_choose_unsaid(run, fleet)) {
		job_end_leftovers(fleet, run->plan.id, job_grace_s(run->plan.options->grace_s),
				  &count);
		run_say_swept(fleet, count);
	}
	for (size_t i = 0; i < fleet->count; i++) {
		struct member *m = &fleet->members[i];

		if (m->failed && !m->left_out) {
			log_warn(
				"%s: it did not say that everything of the job has ended there; 'ringup stop %s' ends what is left",
				m->host->name, run->plan.options->name);
			words_add(&unswept, m->host->name);
		}
		m->left_out = false;
	}
	result->unswept = unswept.list;
}

int job_run(struct fleet *fleet, const struct job_options *options, const char *folder,
	    struct job_output *output, const struct job_watch *watch, struct arena *arena,
	    struct job_result *result, struct error *err)
{
	struct job_run run = {.output = output, .watch = watch};

	job_verdict_begin(&run.verdict, result, folder, arena);
	if (options->input == JOB_INPUT_TERMINAL)
		run.verdict.typed_rank = options->input_rank + 1;
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
	if (run.slept_s && result->status && !result->is_interrupted)
		result->reason = arena_printf(
			arena,
			"ringup itself was stopped for %d s, and hosts end a job that nobody watches (--detach watches by itself): %s",
			run.slept_s, result->reason);
	job_verdict_explain(&run.verdict, fleet, run.task_host);
	for (size_t i = 0; i < fleet->count; i++)
		if (supervisor_left(run.supervisors, i))
			log_warn("%s: %d processes of the job could not be ended",
				 fleet->members[i].host->name, supervisor_left(run.supervisors, i));
	if (run.is_planned)
		run_sweep(&run, fleet, result);
	supervisors_close(run.supervisors);
	if (!result->status && !run.is_running)
		return run_refuse(fleet, arena, err);
	return 0;
}
