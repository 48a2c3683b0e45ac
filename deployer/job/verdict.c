/* SPDX-License-Identifier: MIT */
#include "deployer/job/verdict.h"

#include "core/clock.h"
#include "core/foreign.h"
#include "core/log.h"
#include "deployer/diagnosis/kernel_log.h"
#include "deployer/job/console/output.h"

#include <signal.h>
#include <string.h>

/* The rank that broke a connection may end so long after who noticed it. mpirun kills after 1 s. */
#define ECHO_USEC 800000
#define TAIL_LINES 8
#define LAST_LINES 60 /* what a rank said before them and went on was not its end */
#define EXCEPTION_BYTES 300
#define MPICH_KILLS "BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES" /* mpiexec.hydra */
#define KERNEL_LOG_MORE_S 2 /* the hosts' clocks and the log's own seconds */

void job_verdict_begin(struct job_verdict *verdict, struct job_result *result, const char *folder,
		       struct arena *arena)
{
	struct error err = {0};

	*result = (struct job_result){.rank = -1, .host = "", .reason = ""};
	*verdict = (struct job_verdict){
		.result = result, .folder = folder, .arena = arena, .begin_usec = clock_usec()};
	verdict->collectives = collectives_new(arena);
	if (diagnoses_load(arena, &verdict->failures, &err) < 0)
		log_warn("%s", err.text);
	else
		verdict->diagnosing = diagnosing_new(verdict->failures, arena);
}

void job_verdict_feed(struct job_verdict *verdict, const char *host, int rank, const char *text)
{
	if (rank < 0 && strstr(text, MPICH_KILLS))
		verdict->kills_all = true;
	if (verdict->diagnosing)
		diagnosing_feed(verdict->diagnosing, host, rank, text, strlen(text));
	collectives_feed(verdict->collectives, host, rank, text);
}

bool job_verdict_fail(struct job_verdict *verdict, int status, int rank, const char *host,
		      const char *reason)
{
	if (verdict->result->status && (!verdict->echo_usec || verdict->is_killed))
		return false;
	verdict->echo_usec = 0;
	*verdict->result =
		(struct job_result){.status = status, .rank = rank, .host = host, .reason = reason};
	return true;
}

/* Whether the rank failed because a connection to another one broke, by its last lines. */
static bool verdict_is_echo(const struct job_verdict *verdict, int rank)
{
	return verdict->failures &&
	       diagnoses_is_echo(verdict->failures,
				 job_output_tail(verdict->folder, rank, TAIL_LINES, verdict->arena),
				 verdict->arena);
}

bool job_verdict_fail_rank(struct job_verdict *verdict, int status, int rank, const char *host)
{
	struct arena *arena = verdict->arena;
	bool is_echo = verdict_is_echo(verdict, rank);
	/* a program may also end with 255 or 200 by itself */
	const char *signal_name = status > 128 ? sigdescr_np(status - 128) : NULL;

	if (verdict->diagnosing)
		diagnosing_status(verdict->diagnosing, host, rank, status);
	if (verdict->is_killed && !verdict->own.status && !is_echo && status < 128)
		verdict->own = (struct job_result){
			.status = status,
			.rank = rank,
			.host = host,
			.reason = arena_printf(arena, "rank %d on %s ended with status %d", rank,
					       host, status)};
	/* SIGTERM is how a launcher ends the others */
	if (verdict->result->status && (is_echo || status == 128 + SIGTERM))
		return false;
	if (!job_verdict_fail(
		    verdict, status, rank, host,
		    signal_name ? arena_printf(arena, "rank %d on %s was ended by signal %d (%s)",
					       rank, host, status - 128, signal_name)
				: arena_printf(arena, "rank %d on %s ended with status %d", rank,
					       host, status)))
		return false;
	/* its launcher may have killed it, for what another rank's output is about to say */
	verdict->is_killed = !is_echo && status == 128 + SIGKILL;
	if (is_echo || verdict->is_killed)
		verdict->echo_usec = clock_usec();
	return !verdict->echo_usec;
}

bool job_verdict_is_settled(const struct job_verdict *verdict, uint64_t now_usec)
{
	return verdict->echo_usec && now_usec - verdict->echo_usec > ECHO_USEC;
}

void job_verdict_close(struct job_verdict *verdict)
{
	verdict->echo_usec = 0;
}

/*
 * MPICH's launcher kills every rank when one ends badly or calls MPI_Abort, that one included, and any of them may
 * be seen first. A rank that was killed gives way to the one that asked for it, or that ended with a status of its own.
 */
static void verdict_blame_abort(struct job_verdict *verdict)
{
	struct job_result *result = verdict->result;
	struct diagnosis said;

	if (result->rank < 0 || result->status != 128 + SIGKILL)
		return;
	if (verdict->kills_all && verdict->own.status)
		*result = verdict->own;
	if (verdict->own.status || !diagnosing_abort(verdict->diagnosing, &said))
		return;
	result->rank = said.rank;
	result->host = said.host;
	result->reason =
		arena_printf(verdict->arena, "rank %d on %s ended the job", said.rank, said.host);
}

static void verdict_add_tail(struct job_verdict *verdict)
{
	struct job_result *result = verdict->result;
	const char *tail =
		job_output_tail(verdict->folder, result->rank, TAIL_LINES, verdict->arena);

	if (*tail)
		result->reason = arena_printf(verdict->arena, "%s; its last lines:\n%s",
					      result->reason, tail);
}

/* The exception that begins at `line`. Where it has its message on the next line, that one belongs to it. */
static const char *verdict_exception_at(const char *line, struct arena *arena)
{
	size_t length = strcspn(line, "\n");
	const char *rest = line + length + strspn(line + length, " \n");

	while (length && line[length - 1] == ' ')
		length--;
	if (line[length - 1] != ':')
		rest = "";
	return foreign_clean_line(arena_printf(arena, "%.*s%s%.*s", (int)length, line,
					       *rest ? " " : "", (int)strcspn(rest, "\n"), rest));
}

/*
 * The exception of the traceback at `traceback`: the first line behind its frames, which are indented. What stands before the
 * traceback ("[rank0]: ") stands before its lines, too. "" when the text ends before it.
 */
static const char *verdict_exception_of(const char *text, const char *traceback,
					struct arena *arena)
{
	const char *line = traceback, *prefix;
	size_t length;

	while (line > text && line[-1] != '\n')
		line--;
	prefix = line;
	length = (size_t)(traceback - prefix);
	while ((line = strchr(line, '\n'))) {
		line++;
		if (strncmp(line, prefix, length) == 0)
			line += length;
		if (*line && !strchr(" \t\n", *line))
			return verdict_exception_at(line, arena);
	}
	return "";
}

/* The last exception of the text that says more than that another rank ended (torchrun's ChildFailedError); or "". */
static const char *verdict_exception(const struct job_verdict *verdict, const char *text)
{
	static const char traceback[] = "Traceback (most recent call last):";
	const char *last = "";

	for (const char *at = text; (at = strstr(at, traceback)); at += strlen(traceback)) {
		const char *exception = verdict_exception_of(text, at, verdict->arena);

		if (*exception && !diagnoses_is_echo(verdict->failures, exception, verdict->arena))
			last = exception;
	}
	return last;
}

/*
 * Where all that is known is old or weak, what the rank that failed ended with comes first. Python ends with 1 by an exception,
 * and one that the table knows is there already.
 */
static bool verdict_add_exception(struct job_verdict *verdict, const struct diagnosis *best,
				  const char *last_lines)
{
	struct job_result *result = verdict->result;
	const char *exception;

	if (!last_lines || !(best->is_old || (best->is_weak && result->status == 1)))
		return false;
	exception = verdict_exception(verdict, last_lines);
	if (!*exception ||
	    (!best->is_old && diagnoses_knows(verdict->failures, exception, verdict->arena)))
		return false;
	result->reason = arena_printf(
		verdict->arena,
		"%s\nlikely cause (rank %d on %s): an exception that nothing caught: %.*s.\n  its traceback is in rank-%d.log",
		result->reason, result->rank, result->host, EXCEPTION_BYTES, exception,
		result->rank);
	return true;
}

static void verdict_add_diagnosis(struct job_verdict *verdict, struct fleet *fleet)
{
	struct diagnosis best[DIAGNOSIS_BEST];
	struct job_result *result = verdict->result;
	char *last = result->rank < 0 ? NULL
				      : job_output_last(verdict->folder, result->rank, LAST_LINES,
							verdict->arena);
	bool knows_first, has_exception;
	size_t count;

	kernel_log_read(fleet,
			(int)((clock_usec() - verdict->begin_usec) / 1000000) + KERNEL_LOG_MORE_S,
			verdict->folder, verdict->diagnosing);
	/* that another rank ended is no news where the named one failed by itself */
	knows_first = result->rank >= 0 && !verdict_is_echo(verdict, result->rank);
	if (last)
		diagnosing_end(verdict->diagnosing, result->rank, last);
	count = diagnosing_best(verdict->diagnosing, best);
	has_exception = count && verdict_add_exception(verdict, &best[0], last);
	for (size_t i = 0; i < count; i++) {
		const char *who = best[i].rank < 0 ? best[i].host
						   : arena_printf(verdict->arena, "rank %d on %s",
								  best[i].rank, best[i].host);

		if ((knows_first || has_exception) &&
		    diagnoses_is_echo(verdict->failures, best[i].line, verdict->arena))
			continue;
		result->reason =
			arena_printf(verdict->arena, "%s\n%s (%s): %s.\n  %s", result->reason,
				     !i && !has_exception ? "likely cause"
				     : best[i].is_old	  ? "earlier"
							  : "also",
				     who, best[i].cause, best[i].fix);
	}
}

/* NCCL's watchdog speaks on a rank that waited. */
static void verdict_add_behind(struct job_verdict *verdict)
{
	struct job_result *result = verdict->result;
	const char *behind = collectives_behind(verdict->collectives, verdict->arena);

	if (*behind)
		result->reason = arena_printf(verdict->arena, "%s\n%s.", result->reason, behind);
}

void job_verdict_explain(struct job_verdict *verdict, struct fleet *fleet, bool with_launcher)
{
	const struct job_result *result = verdict->result;

	if (!result->status || result->is_interrupted)
		return;
	if (verdict->diagnosing)
		verdict_blame_abort(verdict);
	if ((result->rank >= 0 && result->rank + 1 != verdict->typed_rank) ||
	    (result->rank < 0 && with_launcher && !verdict->is_ended_here))
		verdict_add_tail(verdict);
	if (verdict->diagnosing)
		verdict_add_diagnosis(verdict, fleet);
	verdict_add_behind(verdict);
}
