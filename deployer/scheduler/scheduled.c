/* SPDX-License-Identifier: MIT */
#include "deployer/scheduler/scheduled.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "core/term.h"
#include "deployer/export/export.h"
#include "deployer/job/console/output.h"
#include "deployer/job/verdict.h"
#include "deployer/scheduler/scheduler.h"
#include "deployer/scheduler/stream.h"

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
/* The controller serves everybody: it is asked often only while the job is young. */
#define ASK_YOUNG_USEC 1000000
#define ASK_USEC 10000000
#define YOUNG_USEC 60000000
#define SILENT_USEC (300 * UINT64_C(1000000))
#define SETTLE_READS 3
#define OUTPUT_SECONDS 120 /* to fetch what a job has printed */
#define STAMP_BYTES 40

/* A file with raw output, as far as it is read. */
struct raw {
	const char *path;
	off_t at;
	struct str line; /* without its end yet */
};

struct stamp {
	char text[STAMP_BYTES];
};

struct scheduled {
	struct job_record *record;
	struct arena *arena;
	int lock;
	bool shows;
	bool only_looks; /* it changes nothing in the cluster, and fetches output of an ended job only */
	bool starts_nodes; /* a task is a node, whose ranks the launcher starts */
	const struct scheduler *scheduler;
	const char *roles; /* of the job's ranks; "" */
	struct raw raw[SCHEDULER_RAW_MAX];
	int raw_count;
	struct stream stream;	/* fetches the output */
	int printing;		/* whom the stream can know, or -1 before the first fetch */
	struct stamp *stamps;	/* of each task's last line, the last one for all others */
	const char *ended_path; /* where the script leaves its status */
	const char **hosts;	/* of each task; NULL: not said yet */
	struct job_output output;
	struct job_verdict verdict;
	struct job_result result;
	struct scheduler_failure failures[FAILURES_MAX];
	size_t failure_count;
	uint64_t began_usec, asked_usec, answered_usec;
	uint64_t spoiled_usec; /* since when it can only wait in vain; 0: it may begin */
	const char *said;      /* what the person was told of its state */
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
	/* a job that is started again may get other nodes */
	if (task < s->record->ranks && cluster_host_word(host))
		s->hosts[task] = arena_strdup(s->arena, host);
}

static void scheduled_print(struct scheduled *s, int task, int rank, bool is_error, char *text)
{
	char label[16] = "t0";
	const char *host = task < 0 ? s->record->scheduler : scheduled_host(s, task);

	if (rank >= 0 && rank < s->record->ranks)
		snprintf(label, sizeof(label), "%d", rank);
	job_output_add(&s->output,
		       &(struct job_event){.kind = JOB_EVENT_OUTPUT,
					   .label = label,
					   .text = text,
					   .length = strlen(text),
					   .is_error = is_error,
					   .is_whole = true},
		       host);
	job_verdict_feed(&s->verdict, host, *label == 't' ? -1 : rank, text);
}

/* Seconds, then a fraction of as many digits as its writer likes. */
static int scheduled_compare_stamps(const char *a, const char *b)
{
	int first = strncmp(a, b, strlen("2026-11-25T12:00:00"));
	size_t digits_a, digits_b;

	if (first || strlen(a) < 20 || strlen(b) < 20)
		return first ? first : strcmp(a, b);
	a += strlen("2026-11-25T12:00:00.");
	b += strlen("2026-11-25T12:00:00.");
	digits_a = strspn(a, "0123456789");
	digits_b = strspn(b, "0123456789");
	first = strncmp(a, b, digits_a < digits_b ? digits_a : digits_b);
	return first ? first : (int)digits_a - (int)digits_b;
}

/* Whether a line is none that was read before. */
static bool scheduled_is_new(struct scheduled *s, int task, const char *stamp)
{
	int ranks = s->record->ranks;
	char *last = s->stamps[task >= 0 && task < ranks ? task : ranks].text;

	if (!*stamp || strlen(stamp) >= STAMP_BYTES)
		return true;
	if (*last && scheduled_compare_stamps(stamp, last) <= 0)
		return false;
	memcpy(last, stamp, strlen(stamp) + 1);
	return true;
}

/* The last node may have fewer ranks. */
static int scheduled_per_node(const struct scheduled *s)
{
	int nodes = s->record->hosts > 0 ? s->record->hosts : 1;

	return (s->record->ranks + nodes - 1) / nodes;
}

static void scheduled_take_line(struct scheduled *s, int kind, const char *line)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct scheduler_line l = {
		.of = {.task = -1, .host = ""}, .rank = -1, .text = line, .stamp = ""};
	int task, rank;

	if (!s->scheduler->read(s->record, s->roles, kind, line, &arena, &l) ||
	    !scheduled_is_new(s, l.of.task, l.stamp))
		return;
	if (l.kind == SCHEDULER_PLACED) {
		scheduled_place(s, l.of.task, l.of.host);
		return;
	}
	if (l.kind == SCHEDULER_FAILED && cluster_host_word(l.of.host) &&
	    s->failure_count < FAILURES_MAX) {
		s->failures[s->failure_count] = l.of;
		s->failures[s->failure_count++].host = arena_strdup(s->arena, l.of.host);
	}
	task = l.kind == SCHEDULER_TEXT ? l.of.task : -1;
	rank = !s->starts_nodes ? task : -1;
	if (l.rank >= 0 && !(l.is_rank_of_node && task < 0))
		rank = l.rank + (l.is_rank_of_node ? task * scheduled_per_node(s) : 0);
	scheduled_print(s, task, rank, l.is_error, arena_strdup(&arena, l.text));
}

/* Reads what is new in a file. Whether there was anything. */
static bool scheduled_read(struct scheduled *s, int kind)
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

	for (int kind = 0; kind < s->raw_count; kind++)
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
	for (int kind = 0; kind < s->raw_count; kind++)
		if (s->raw[kind].line.length) {
			scheduled_take_line(s, kind, s->raw[kind].line.text);
			str_clear(&s->raw[kind].line);
		}
	job_output_flush(&s->output);
}

/* --- output that has to be fetched ------------------------------------------------------------ */

/* The oldest of the last lines of all tasks; "" while one has printed nothing. */
static const char *scheduled_since(const struct scheduled *s)
{
	const char *oldest = s->stamps[0].text;
	int count = s->starts_nodes ? s->record->hosts : s->record->ranks;

	for (int i = 1; i < count && i < s->record->ranks; i++)
		if (scheduled_compare_stamps(s->stamps[i].text, oldest) < 0)
			oldest = s->stamps[i].text;
	return oldest;
}

static const char *scheduled_fetched(const struct scheduled *s)
{
	return scheduled_path(s, s->scheduler->raw[0]);
}

/* Fetches all that has been printed. What cannot be had any more is no failure of the job. */
static int scheduled_fetch(struct scheduled *s, struct error *err)
{
	const char *const *words, *said;
	struct error failed = {0};

	if (!s->scheduler->output)
		return 0;
	stream_stop(&s->stream);
	scheduled_read_all(s);
	words = s->scheduler->output(s->record, false, scheduled_since(s), s->arena, err);
	if (!words)
		return -1;
	if (stream_once(words, scheduled_fetched(s), OUTPUT_SECONDS, s->arena, &said, &failed) < 0)
		log_debug("%s: %s", s->record->name, failed.text);
	else if (*said)
		log_debug("%s: %s", s->record->name, said);
	scheduled_read_all(s);
	return 0;
}

/* What runs on is followed by one command, which knows those that had begun when it was started. */
static int scheduled_keep_fetching(struct scheduled *s, int printing, struct error *err)
{
	const char *const *words;
	bool is_first = s->printing < 0;

	if (!s->scheduler->output || s->only_looks || !printing ||
	    (printing == s->printing && stream_runs(&s->stream)))
		return 0;
	s->printing = printing;
	if (is_first)
		return scheduled_fetch(s, err);
	stream_stop(&s->stream);
	scheduled_read_all(s);
	words = s->scheduler->output(s->record, true, scheduled_since(s), s->arena, err);
	return words ? stream_start(&s->stream, words, scheduled_fetched(s), err) : -1;
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

/* The ranks that the scheduler named, the first one first. */
static void scheduled_judge_ranks(struct scheduled *s)
{
	for (size_t i = 0; i < s->failure_count; i++) {
		const struct scheduler_failure *f = &s->failures[i];

		if (!s->starts_nodes && f->task >= 0 && f->task < s->record->ranks)
			job_verdict_fail_rank(&s->verdict, f->status, f->task, f->host);
		else
			job_verdict_fail(&s->verdict, f->status, -1, f->host,
					 arena_printf(s->arena, "%s on %s ended with status %d",
						      s->record->launcher, f->host, f->status));
	}
}

static const char *scheduled_title(const struct scheduled *s)
{
	return arena_printf(s->arena, "%s job %s", s->scheduler->title, s->record->id);
}

/* The status of an end that the scheduler tells, or has forgotten. */
static int scheduled_judge_end(struct scheduled *s, const struct scheduler_state *state)
{
	int status;

	if (state->phase != SCHEDULER_GONE) {
		if (*state->story)
			job_verdict_fail(&s->verdict, state->status, -1, "",
					 arena_strdup(s->arena, state->story));
		return state->status;
	}
	status = scheduled_left_status(s);
	if (status < 0)
		job_verdict_fail(
			&s->verdict, 1, -1, "",
			arena_printf(s->arena,
				     "%s no longer knows job %s, and it left no word of its end",
				     s->scheduler->title, s->record->id));
	return status;
}

static void scheduled_judge(struct scheduled *s, const struct scheduler_state *state)
{
	struct fleet nobody = {.arena = s->arena};
	int status;

	if (state->is_cancelled) {
		s->result = (struct job_result){
			.status = ERROR_INTERRUPTED,
			.rank = -1,
			.host = "",
			.is_interrupted = true,
			.reason = arena_printf(s->arena, "%s was cancelled", scheduled_title(s))};
		return;
	}
	for (size_t i = 0; i < state->failure_count && s->failure_count < FAILURES_MAX; i++)
		if (cluster_host_word(state->failures[i].host)) {
			s->failures[s->failure_count] = state->failures[i];
			s->failures[s->failure_count++].host =
				arena_strdup(s->arena, state->failures[i].host);
		}
	status = scheduled_judge_end(s, state);
	if (status)
		scheduled_judge_ranks(s);
	if (status > 0 && !s->result.status)
		job_verdict_fail(&s->verdict, status, -1, "",
				 arena_printf(s->arena, "%s ended with status %d",
					      scheduled_title(s), status));
	job_verdict_explain(&s->verdict, &nobody, true);
}

static int scheduled_conclude(struct scheduled *s, const struct scheduler_state *state,
			      struct error *err)
{
	struct job_record *record = s->record;
	char now[24];

	if (state->phase != SCHEDULER_GONE && scheduled_fetch(s, err) < 0)
		return -1;
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

static void scheduled_say_waits(struct scheduled *s, const struct scheduler_state *state)
{
	const char *what = arena_printf(
		s->arena, "%s waits%s%s%s%s%s", scheduled_title(s), *state->reason ? " (" : "",
		state->reason, *state->reason ? ")" : "", *state->means ? ": " : "", state->means);

	if (!state->is_hopeless) {
		s->hopeless = "";
		if (*state->reason)
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

/* It would never begin, and hold what it has until somebody looks. */
static int scheduled_give_up(struct scheduled *s, const struct scheduler_state *state,
			     struct error *err)
{
	const struct scheduler_state end = {
		.phase = SCHEDULER_ENDED,
		.status = 1,
		.story = arena_printf(s->arena, "%s could never begin, and was ended: %s%s%s",
				      scheduled_title(s), state->reason, *state->means ? "; " : "",
				      state->means)};

	if (s->scheduler->cancel(s->record, err) < 0)
		return -1;
	return scheduled_conclude(s, &end, err);
}

static int scheduled_note(struct scheduled *s, const char *state, struct error *err)
{
	if (strcmp(s->record->state, state) == 0)
		return 0;
	s->record->state = state;
	return job_record_write(s->record, err);
}

/* Takes the scheduler's answer. */
static int scheduled_hear(struct scheduled *s, const struct scheduler_state *state, bool *ended,
			  struct error *err)
{
	int ranks = s->record->ranks;

	switch (state->phase) {
	case SCHEDULER_WAITS:
		s->failure_count = 0; /* those of a run that is begun again */
		if (!state->patience_s)
			s->spoiled_usec = 0;
		else if (!s->spoiled_usec)
			s->spoiled_usec = s->asked_usec;
		else if (!s->only_looks &&
			 s->asked_usec - s->spoiled_usec > (uint64_t)state->patience_s * 1000000) {
			*ended = true;
			return scheduled_give_up(s, state, err);
		}
		scheduled_say_waits(s, state);
		return scheduled_note(s, "waiting", err);
	case SCHEDULER_RUNS:
		if (strcmp(s->record->state, "running") != 0)
			scheduled_tell(s, arena_printf(s->arena,
						       "%s runs: %d rank%s on %s by %s; logs in %s",
						       scheduled_title(s), ranks,
						       ranks == 1 ? "" : "s", state->nodes,
						       s->record->launcher, s->record->folder));
		return scheduled_note(s, "running", err);
	case SCHEDULER_GONE:
	case SCHEDULER_ENDED:
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
	struct scheduler_state state = {0};
	struct error silent = {0};
	uint64_t now = clock_usec();

	*ended = false;
	scheduled_read_all(s);
	if (!scheduled_is_due(s, now))
		return 0;
	s->asked_usec = now;
	if (s->scheduler->ask(s->record, &arena, &state, &silent) == 0) {
		s->answered_usec = now;
		if (scheduled_hear(s, &state, ended, err) < 0)
			return -1;
		return *ended ? 0 : scheduled_keep_fetching(s, state.printing, err);
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

static int scheduled_find(const struct job_record *record, const struct scheduler **scheduler,
			  struct error *err)
{
	const struct exporter *exporter;

	if (exporter_find(record->scheduler, &exporter, err) < 0 || !exporter->scheduler)
		return error_set(err, ERROR_USAGE, "%s/job.json: no scheduler is called '%s'",
				 record->folder, record->scheduler);
	*scheduler = exporter->scheduler;
	return 0;
}

int scheduled_open(struct job_record *record, int lock, bool shows, struct arena *arena,
		   struct scheduled **scheduled, struct error *err)
{
	struct scheduled *s = ARENA_NEW(arena, struct scheduled);
	const struct scheduler *scheduler;

	*scheduled = NULL;
	if (scheduled_find(record, &scheduler, err) < 0)
		return -1;
	if (record->ranks < 1 || record->ranks > SCHEDULER_RANKS_MAX)
		return error_set(err, ERROR_USAGE, "%s/job.json: %d ranks cannot be",
				 record->folder, record->ranks);
	*s = (struct scheduled){.record = record,
				.arena = arena,
				.lock = lock,
				.shows = shows,
				.scheduler = scheduler,
				.roles = scheduler->roles ? scheduler->roles(record, arena) : "",
				.printing = -1,
				.stamps =
					ARENA_ARRAY(arena, (size_t)record->ranks + 1, struct stamp),
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
	s->starts_nodes = scheduler->starts_nodes(record);
	s->ended_path = scheduled_path(s, "ended");
	for (; s->raw_count < SCHEDULER_RAW_MAX && scheduler->raw[s->raw_count]; s->raw_count++) {
		s->raw[s->raw_count].path = scheduled_path(s, scheduler->raw[s->raw_count]);
		str_init(&s->raw[s->raw_count].line);
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
	stream_stop(&s->stream);
	job_output_close(&s->output);
	for (int kind = 0; kind < s->raw_count; kind++)
		str_release(&s->raw[kind].line);
	fd_close(&s->lock);
}

int scheduled_cancel(const struct job_record *record, struct error *err)
{
	const struct scheduler *scheduler;

	return scheduled_find(record, &scheduler, err) < 0 ? -1 : scheduler->cancel(record, err);
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
	if (s)
		s->only_looks = true;
	rc = s ? scheduled_step(s, &ended, err) : 0;
	scheduled_close(s);
	return rc;
}
