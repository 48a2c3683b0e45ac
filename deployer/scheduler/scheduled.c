/* SPDX-License-Identifier: MIT */
#include "deployer/scheduler/scheduled.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "core/term.h"
#include "deployer/job/console/output.h"
#include "deployer/job/verdict.h"
#include "deployer/launcher/launcher.h"
#include "deployer/scheduler/slurm.h"
#include "deployer/scheduler/slurm_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define STEP_USEC 200000
#define READ_BYTES (64 * KIB)
#define LINE_BYTES_MAX (256 * KIB)
#define FAILURES_MAX 64
#define STATUS_TIMED_OUT 124 /* as timeout(1) */
/* The controller serves everybody: it is asked often only while the job is young. */
#define ASK_YOUNG_USEC 1000000
#define ASK_USEC 10000000
#define YOUNG_USEC 60000000
#define SILENT_USEC (300 * UINT64_C(1000000))
#define SETTLE_READS 3

enum raw_kind { RAW_PLACED, RAW_OUT, RAW_ERR, RAW_BATCH, RAW_KINDS };

static const char *const raw_names[] = {"placed.log", "out.log", "err.log", "batch.log"};

/* A file of the script, as far as it is read. */
struct raw {
	const char *path;
	off_t at;
	struct str line; /* without its end yet */
};

struct failure {
	const char *host;
	int task, status;
};

struct scheduled {
	struct job_record *record;
	struct arena *arena;
	int lock;
	bool shows, is_open;
	bool starts_nodes; /* a task is a node, whose ranks the launcher starts */
	struct raw raw[RAW_KINDS];
	const char *ended_path; /* where the script leaves its status */
	const char **hosts;	/* of each task; NULL: not said yet */
	struct job_output output;
	struct job_verdict verdict;
	struct job_result result;
	struct failure failures[FAILURES_MAX];
	size_t failure_count;
	uint64_t began_usec, asked_usec, answered_usec;
	const char *said;     /* what the person was told of its state */
	const char *hopeless; /* the reason to wait that the last answer had, where it has no end */
};

static const char *scheduled_path(const struct scheduled *s, const char *name)
{
	return arena_printf(s->arena, "%s/%s", s->record->folder, name);
}

/* --- the script's files ---------------------------------------------------------------------- */

static const char *scheduled_host(const struct scheduled *s, int task)
{
	return task < s->record->ranks && s->hosts[task] ? s->hosts[task] : s->record->scheduler;
}

static void scheduled_place(struct scheduled *s, int task, const char *host)
{
	/* a job that Slurm starts again may get other nodes */
	if (task < s->record->ranks && cluster_host_word(host))
		s->hosts[task] = arena_strdup(s->arena, host);
}

static void scheduled_print(struct scheduled *s, int task, bool is_error, char *text)
{
	char label[16] = "t0";
	const char *host = task < 0 ? s->record->scheduler : scheduled_host(s, task);

	if (task >= 0 && !s->starts_nodes && task < s->record->ranks)
		snprintf(label, sizeof(label), "%d", task);
	job_output_add(&s->output,
		       &(struct job_event){.kind = JOB_EVENT_OUTPUT,
					   .label = label,
					   .text = text,
					   .is_error = is_error,
					   .is_whole = true},
		       host);
	job_verdict_feed(&s->verdict, host, *label == 't' ? -1 : task, text);
}

static void scheduled_take_line(struct scheduled *s, enum raw_kind kind, char *line)
{
	const char *text;
	struct failure failure;
	int task = -1;

	if (kind != RAW_BATCH && (text = slurm_labelled(line, &task))) {
		if (kind == RAW_PLACED)
			scheduled_place(s, task, text);
		else
			scheduled_print(s, task, kind == RAW_ERR, line + (text - line));
		return;
	}
	if (slurm_task_failed(line, s->arena, &failure.host, &failure.task, &failure.status) &&
	    cluster_host_word(failure.host) && s->failure_count < FAILURES_MAX)
		s->failures[s->failure_count++] = failure;
	scheduled_print(s, -1, true, line);
}

/* Reads what is new in a file. Whether there was anything. */
static bool scheduled_read(struct scheduled *s, enum raw_kind kind)
{
	struct raw *raw = &s->raw[kind];
	_cleanup_(fd_close) int fd = open(raw->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char bytes[READ_BYTES];
	off_t before = raw->at;
	ssize_t got;

	while (fd >= 0 && (got = pread(fd, bytes, sizeof(bytes), raw->at)) > 0) {
		raw->at += got;
		for (ssize_t i = 0; i < got; i++) {
			if (bytes[i] != '\n' && raw->line.length < LINE_BYTES_MAX) {
				str_add_char(&raw->line, bytes[i] ? bytes[i] : '?');
				continue;
			}
			scheduled_take_line(s, kind, raw->line.text);
			str_clear(&raw->line);
			if (bytes[i] != '\n')
				str_add_char(&raw->line, bytes[i]);
		}
	}
	return raw->at != before;
}

static bool scheduled_read_all(struct scheduled *s)
{
	bool any = false;

	for (enum raw_kind kind = 0; kind < RAW_KINDS; kind++)
		any |= scheduled_read(s, kind);
	job_output_flush(&s->output);
	return any;
}

/* The end: lines without an end count, and a shared file system may show the last ones late. */
static void scheduled_read_rest(struct scheduled *s)
{
	for (int still = 0; still < SETTLE_READS;) {
		still = scheduled_read_all(s) ? 0 : still + 1;
		usleep(STEP_USEC / 2);
	}
	for (enum raw_kind kind = 0; kind < RAW_KINDS; kind++)
		if (s->raw[kind].line.length) {
			scheduled_take_line(s, kind, s->raw[kind].line.text);
			str_clear(&s->raw[kind].line);
		}
	job_output_flush(&s->output);
}

/* --- how it ended ---------------------------------------------------------------------------- */

/* The script's own word, where the scheduler has forgotten the job; -1: there is none. */
static int scheduled_left_status(const struct scheduled *s)
{
	char text[16] = "";
	_cleanup_(fd_close) int fd = open(s->ended_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return -1;
	return job_fact_number(arena_strndup(s->arena, text, strcspn(text, "\n")), -1) & 0xff;
}

/* The ranks that srun named, the first one first. */
static void scheduled_judge_ranks(struct scheduled *s)
{
	for (size_t i = 0; i < s->failure_count; i++) {
		const struct failure *f = &s->failures[i];

		if (!s->starts_nodes && f->task < s->record->ranks)
			job_verdict_fail_rank(&s->verdict, f->status, f->task, f->host);
		else
			job_verdict_fail(&s->verdict, f->status, -1, f->host,
					 arena_printf(s->arena, "%s on %s ended with status %d",
						      s->record->launcher, f->host, f->status));
	}
}

/* What the scheduler says of an end that no rank made; "" for one of the ranks' own. */
static const char *scheduled_story(struct scheduled *s, const struct slurm_state *state,
				   int *status)
{
	const char *id = s->record->id, *down;

	*status = state->status ? state->status : 1;
	if (strcmp(state->state, "TIMEOUT") == 0 || strcmp(state->state, "DEADLINE") == 0) {
		*status = STATUS_TIMED_OUT;
		return arena_printf(
			s->arena,
			"job %s took longer than its limit of time, and Slurm ended it; --limit SECONDS gives it more, as far as the partition does",
			id);
	}
	if (strcmp(state->state, "NODE_FAIL") == 0) {
		down = slurm_down(state->nodes, s->arena);
		*status = 1;
		return arena_printf(
			s->arena,
			"a node went down while job %s ran%s%s; 'ringup status --on slurm' shows the nodes, and --set requeue=yes starts such a job again",
			id, *down ? ": " : "", down);
	}
	if (strcmp(state->state, "PREEMPTED") == 0)
		return arena_printf(
			s->arena,
			"job %s had to give way to one with a higher priority; --set requeue=yes puts such a job back into the queue",
			id);
	if (strcmp(state->state, "OUT_OF_MEMORY") == 0)
		return arena_printf(
			s->arena,
			"job %s used more memory than it has; --set mem=SIZE gives it more", id);
	return "";
}

static void scheduled_judge(struct scheduled *s, const struct slurm_state *state)
{
	struct fleet nobody = {.arena = s->arena};
	const char *story;
	int status;

	if (state->phase == SLURM_GONE) {
		status = scheduled_left_status(s);
		if (status < 0)
			job_verdict_fail(
				&s->verdict, 1, -1, "",
				arena_printf(
					s->arena,
					"Slurm no longer knows job %s, and it left no word of its end",
					s->record->id));
	} else {
		status = strcmp(state->state, "COMPLETED") == 0 ? 0 : state->status;
		if (strcmp(state->state, "CANCELLED") == 0) {
			s->result = (struct job_result){
				.status = ERROR_INTERRUPTED,
				.rank = -1,
				.host = "",
				.is_interrupted = true,
				.reason = arena_printf(s->arena, "Slurm job %s was cancelled",
						       s->record->id)};
			return;
		}
		if (strcmp(state->state, "COMPLETED") != 0 && strcmp(state->state, "FAILED") != 0 &&
		    *(story = scheduled_story(s, state, &status)))
			job_verdict_fail(&s->verdict, status, -1, "", story);
	}
	if (status)
		scheduled_judge_ranks(s);
	if (status > 0 && !s->result.status)
		job_verdict_fail(&s->verdict, status, -1, "",
				 arena_printf(s->arena, "Slurm job %s ended with status %d",
					      s->record->id, status));
	job_verdict_explain(&s->verdict, &nobody, true);
}

static int scheduled_conclude(struct scheduled *s, const struct slurm_state *state,
			      struct error *err)
{
	struct job_record *record = s->record;
	char now[24];

	scheduled_read_rest(s);
	job_verdict_close(&s->verdict);
	scheduled_judge(s, state);
	clock_iso8601(now);
	record->ended = arena_strdup(s->arena, now);
	record->status = s->result.status;
	record->reason = s->result.reason;
	record->state = s->result.is_interrupted ? "stopped" : record->status ? "failed" : "done";
	return job_record_write(record, err);
}

/* --- how it is ------------------------------------------------------------------------------- */

static void scheduled_tell(struct scheduled *s, const char *what)
{
	if (strcmp(s->said, what) == 0)
		return;
	s->said = arena_strdup(s->arena, what);
	if (s->shows)
		log_info("%s: %s", s->record->name, what);
}

static void scheduled_say_waits(struct scheduled *s, const struct slurm_state *state)
{
	bool is_hopeless;
	const char *means = slurm_reason(state->reason, &is_hopeless);
	bool is_new = !*state->reason || strcmp(state->reason, "None") == 0;
	const char *what = arena_printf(s->arena, "Slurm job %s waits%s%s%s%s%s", s->record->id,
					is_new ? "" : " (", is_new ? "" : state->reason,
					is_new ? "" : ")", *means ? ": " : "", means);

	if (!is_hopeless) {
		s->hopeless = "";
		if (!is_new)
			scheduled_tell(s, what);
		return;
	}
	/* a first answer may be that of a controller that has not looked at all of it */
	if (strcmp(s->hopeless, state->reason) != 0) {
		s->hopeless = arena_strdup(s->arena, state->reason);
		return;
	}
	if (s->shows && strcmp(s->said, what) != 0)
		log_warn("%s: %s; 'ringup stop %s' gives it up", s->record->name, what,
			 s->record->name);
	s->said = what;
}

static int scheduled_note(struct scheduled *s, const char *state, struct error *err)
{
	if (strcmp(s->record->state, state) == 0)
		return 0;
	s->record->state = state;
	return job_record_write(s->record, err);
}

/* Takes the scheduler's answer. */
static int scheduled_hear(struct scheduled *s, const struct slurm_state *state, bool *ended,
			  struct error *err)
{
	switch (state->phase) {
	case SLURM_WAITS:
		s->failure_count = 0; /* those of a run that is begun again */
		scheduled_say_waits(s, state);
		return scheduled_note(s, "waiting", err);
	case SLURM_RUNS:
		if (strcmp(s->record->state, "running") != 0)
			scheduled_tell(
				s,
				arena_printf(s->arena,
					     "Slurm job %s runs: %d rank%s on %s by %s; logs in %s",
					     s->record->id, s->record->ranks,
					     s->record->ranks == 1 ? "" : "s", state->nodes,
					     s->record->launcher, s->record->folder));
		return scheduled_note(s, "running", err);
	case SLURM_GONE:
	case SLURM_ENDED:
		break;
	}
	*ended = true;
	return scheduled_conclude(s, state, err);
}

static bool scheduled_is_due(const struct scheduled *s, uint64_t now)
{
	uint64_t every = now - s->began_usec < YOUNG_USEC ? ASK_YOUNG_USEC : ASK_USEC;

	/* its end is near */
	if (every == ASK_USEC && file_exists(s->ended_path))
		every = ASK_YOUNG_USEC;
	return !s->asked_usec || now - s->asked_usec >= every;
}

int scheduled_step(struct scheduled *s, bool *ended, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct slurm_state state;
	struct error silent = {0};
	uint64_t now = clock_usec();

	*ended = false;
	scheduled_read_all(s);
	if (!scheduled_is_due(s, now))
		return 0;
	s->asked_usec = now;
	if (slurm_ask(s->record->id, &arena, &state, &silent) == 0) {
		s->answered_usec = now;
		return scheduled_hear(s, &state, ended, err);
	}
	if (now - s->answered_usec > SILENT_USEC) {
		*err = silent;
		return -1;
	}
	scheduled_tell(s, arena_printf(s->arena, "%s; asking again", silent.text));
	return 0;
}

int scheduled_wait(struct scheduled *s, struct error *err)
{
	bool ended = false;

	for (;;) {
		if (scheduled_step(s, &ended, err) < 0)
			return -1;
		if (ended)
			return 0;
		if (interrupt_check(err) < 0)
			return -1;
		usleep(STEP_USEC);
	}
}

/* --- begin and end --------------------------------------------------------------------------- */

/* The derived files are made again from the script's. */
static int scheduled_remove_old(const struct scheduled *s, struct error *err)
{
	const char **names;

	if (folder_list(s->record->folder, ".log", s->arena, &names, err) < 0)
		return -1;
	for (; *names; names++)
		if ((strcmp(*names, "all.log") == 0 || strcmp(*names, "launcher.log") == 0 ||
		     starts_with(*names, "rank-")) &&
		    unlink(scheduled_path(s, *names)) < 0 && errno != ENOENT)
			return error_errno(err, "cannot remove %s", scheduled_path(s, *names));
	return 0;
}

static bool scheduled_starts_nodes(const char *name)
{
	const struct launcher *launcher;
	struct error ignored = {0};
	const struct launcher_wish wish = {.command = WORDS("-")};

	return launcher_find_for_job(name, &wish, &launcher, &ignored) == 0 &&
	       launcher->place == PLACE_NODE;
}

int scheduled_open(struct job_record *record, int lock, bool shows, struct arena *arena,
		   struct scheduled **scheduled, struct error *err)
{
	struct scheduled *s = ARENA_NEW(arena, struct scheduled);

	*scheduled = NULL;
	if (record->ranks < 1 || record->ranks > SLURM_RANKS_MAX)
		return error_set(err, ERROR_USAGE, "%s/job.json: %d ranks cannot be",
				 record->folder, record->ranks);
	*s = (struct scheduled){.record = record,
				.arena = arena,
				.lock = lock,
				.shows = shows,
				.said = "",
				.hopeless = "",
				.hosts = ARENA_ARRAY(arena, (size_t)record->ranks, const char *),
				.output = {.shows = shows,
					   .raw_rank = -1,
					   .is_colored = log_color() && term_is_tty(stdout)},
				.began_usec = clock_usec(),
				.answered_usec = clock_usec()};
	if (lock < 0)
		s->lock = open(scheduled_path(s, "lock"), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			       0600);
	if (s->lock < 0)
		return error_errno(err, "cannot open %s/lock", record->folder);
	if (lock < 0 && flock(s->lock, LOCK_EX | LOCK_NB) < 0) {
		fd_close(&s->lock);
		return 0;
	}
	s->starts_nodes = scheduled_starts_nodes(record->launcher);
	s->ended_path = scheduled_path(s, "ended");
	for (enum raw_kind kind = 0; kind < RAW_KINDS; kind++) {
		s->raw[kind].path = scheduled_path(s, raw_names[kind]);
		str_init(&s->raw[kind].line);
	}
	if (scheduled_remove_old(s, err) < 0 ||
	    job_output_open(&s->output, record->folder, record->ranks, arena, err) < 0) {
		fd_close(&s->lock);
		return -1;
	}
	job_verdict_begin(&s->verdict, &s->result, record->folder, arena);
	*scheduled = s;
	return 0;
}

void scheduled_close(struct scheduled *s)
{
	if (!s)
		return;
	job_output_close(&s->output);
	for (enum raw_kind kind = 0; kind < RAW_KINDS; kind++)
		str_release(&s->raw[kind].line);
	fd_close(&s->lock);
}

int scheduled_cancel(const struct job_record *record, struct error *err)
{
	return slurm_cancel(record->id, err);
}

int scheduled_settle(struct job_record *record, struct arena *arena, struct error *err)
{
	struct scheduled *s;
	bool ended;
	int rc;

	if (!scheduled_is_open(record))
		return 0;
	if (scheduled_open(record, -1, false, arena, &s, err) < 0)
		return -1;
	rc = s ? scheduled_step(s, &ended, err) : 0;
	scheduled_close(s);
	return rc;
}
