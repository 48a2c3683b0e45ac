/* SPDX-License-Identifier: MIT */
#include "deployer/job/run_state.h"

#include "core/clock.h"
#include "core/file.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define START_TIMEOUT_DEFAULT_S 60
#define FIRST_FAILURE_USEC 1500000 /* a rank's end comes later than its launcher's, at most this */
#define LAST_TASK_USEC 15000000	   /* for a launcher to end when all its ranks have */
#define STACKS_USEC 6000000	   /* for the hosts to say what their processes do */
#define IDLE_PERCENT 5		   /* of one core on a host: less is no computing */
#define QUIET_RANKS_SHOWN 3
#define MISSING_HOSTS_SHOWN 5
#define STATUS_TIMED_OUT 124 /* as timeout(1) */

void run_fail(struct job_run *run, int status, int rank, const char *host, const char *reason)
{
	if (job_verdict_fail(&run->verdict, status, rank, host, reason))
		run->is_over = true;
}

void run_end(struct job_run *run, int status, const char *reason)
{
	if (!job_verdict_fail(&run->verdict, status, -1, "", reason))
		return;
	run->verdict.is_ended_here = true;
	run->is_over = true;
}

void run_fail_host(struct job_run *run, const struct job_host *host, const char *reason)
{
	const char *name = host->member->host->name;

	run_fail(run, ERROR_FAILED, -1, name,
		 arena_printf(run->plan.arena, "%s: %s", name, reason));
}

const char *launcher_name(const struct job_run *run)
{
	return run->plan.options->launcher->name;
}

int run_ranks_on(const struct job_run *run, const struct job_host *host)
{
	int count = 0;

	for (int i = 0; i < run->plan.world; i++)
		count += run->ranks[i].began && run->ranks[i].host == host;
	return count;
}

bool run_work_is_done(const struct job_run *run)
{
	for (int i = 0; i < run->plan.world; i++)
		if (!run->ranks[i].ended && !run->ranks[i].serves)
			return false;
	return true;
}

/* "node02 (1 of 2 ranks), node03 (0 of 2 ranks)": where ranks are missing. */
static const char *run_missing_ranks(const struct job_run *run)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	int hosts = 0;

	for (size_t i = 0; i < run->plan.host_count; i++) {
		const struct job_host *host = &run->plan.hosts[i];
		int began = run_ranks_on(run, host);

		if (began < host->ranks && hosts++ < MISSING_HOSTS_SHOWN)
			str_addf(&text, "%s%s (%d of %d ranks)", text.length ? ", " : "",
				 host->member->host->name, began, host->ranks);
	}
	if (hosts > MISSING_HOSTS_SHOWN)
		str_addf(&text, " and ranks of %d more hosts", hosts - MISSING_HOSTS_SHOWN);
	return arena_strdup(run->plan.arena, text.text);
}

void run_check_start(struct job_run *run, uint64_t now)
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
void run_check_tasks(struct job_run *run, uint64_t now)
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

void run_check_end(struct job_run *run, uint64_t now)
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

void run_check_hosts(struct job_run *run, uint64_t now)
{
	for (size_t i = 0; i < run->plan.host_count; i++) {
		const struct job_host *host = &run->plan.hosts[i];

		if (supervisor_has_ended(run->supervisors, i)) {
			run->is_lost = true;
			run_fail_host(run, host, supervisor_story(run->supervisors, i));
		} else if (run->is_held) {
			supervisor_heard(run->supervisors, i,
					 now); /* it waits, since nobody reads */
		} else if (supervisor_silence_usec(run->supervisors, i, now) > LOST_USEC) {
			run->is_lost = true;
			run_fail_host(
				run, host,
				"the host does not answer any more; is it up, and the network?");
		}
	}
}

static const char *run_interruption(void)
{
	switch (interrupt_signal()) {
	case SIGTERM:
		return "interrupted by SIGTERM";
	case SIGHUP:
		return "interrupted by SIGHUP";
	default:
		return "interrupted";
	}
}

/* Hands a signal for the ranks on: SIGUSR1, as for a checkpoint. */
static void run_pass_signal(struct job_run *run)
{
	int number = run->is_running ? signal_passed() : 0;
	char line[24];

	if (!number)
		return;
	snprintf(line, sizeof(line), "signal %d\n", number);
	supervisors_tell(run->supervisors, line);
}

void run_check_person(struct job_run *run, uint64_t now)
{
	int seconds = run->plan.options->timeout_s;

	run_pass_signal(run);
	run->is_held = run->output->all && job_terminal_is_full(&run->output->terminal);
	if (run->output->all && run->output->terminal.error == EPIPE)
		run_fail(run, 128 + SIGPIPE, -1, "", "nobody reads its output any more");
	else if (run->output->all && run->output->terminal.error)
		run_end(run, ERROR_FAILED,
			arena_printf(run->plan.arena, "cannot write to standard output: %s",
				     strerror(run->output->terminal.error)));

	if (interrupted()) {
		run_fail(run, interrupt_status(), -1, "", run_interruption());
		run->verdict.result->is_interrupted = true;
	}
	if (seconds && now - run->begin_usec > (uint64_t)seconds * 1000000)
		run_end(run, STATUS_TIMED_OUT,
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

void run_hear_cpu(struct job_run *run, size_t index, int msec)
{
	uint64_t now = clock_usec(), used, passed;
	struct run_cpu *cpu;

	if (!run->is_running || run->hang || index >= run->plan.host_count)
		return;
	cpu = &run->cpus[index];
	passed = now - cpu->usec;
	used = (uint64_t)((msec - cpu->msec + JOB_CPU_MSEC_MAX) % JOB_CPU_MSEC_MAX) * 1000;
	if (cpu->usec && used * 100 > passed * IDLE_PERCENT)
		run->said_usec = now;
	*cpu = (struct run_cpu){msec, now};
}

/* Asks how much the job computes, several times in the time that it may be without a sign of life. */
static void run_ask_cpu(struct job_run *run, uint64_t now)
{
	uint64_t pause = (uint64_t)run->plan.options->hang_timeout_s * 1000000 / 4;

	if (!run->plan.options->hang_idle || run->hang || now - run->cpu_usec < pause)
		return;
	run->cpu_usec = now;
	for (size_t i = 0; i < run->plan.host_count; i++)
		supervisor_tell(run->supervisors, i, "cpu\n");
}

/* A job without output: asks what its processes do, and then ends it. */
void run_check_hang(struct job_run *run, uint64_t now)
{
	int seconds = run->plan.options->hang_timeout_s;
	struct arena *arena = run->plan.arena;
	const char *path, *places;

	if (seconds)
		run_ask_cpu(run, now);
	if (!seconds || now < run->said_usec + (uint64_t)seconds * 1000000)
		return;
	path = arena_printf(arena, "%s/stacks.txt", run->output->folder);
	if (!run->hang) {
		run->hang = job_hang_new(run->plan.world, arena);
		run->quietest = run_quietest(run, now); /* ranks may end while they answer */
		run->stacks_usec = now;
		run->stacks = fopen(path, "we");
		supervisors_tell(run->supervisors, "stacks\n");
		return;
	}
	if (run->stacked < run->plan.host_count && now - run->stacks_usec < STACKS_USEC)
		return;
	file_close(&run->stacks);
	places = job_hang_places(run->hang, arena);
	run_end(run, STATUS_TIMED_OUT,
		arena_printf(
			arena,
			"it hangs: no rank printed a line%s for %d s (--hang-timeout). The last lines came from: %s. What every process did then is in %s%s%s",
			run->plan.options->hang_idle ? " or used a processor" : "", seconds,
			run->quietest, path,
			*places ? "; where the ranks are, the rarest places first:" : "", places));
}
