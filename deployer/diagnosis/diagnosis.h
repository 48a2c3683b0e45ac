/* SPDX-License-Identifier: MIT */
/*
 * diagnosis.h - says why a training job died, by what its ranks and its hosts' kernels printed.
 *
 * recipes/job-failures.csv holds the known failures. Its columns:
 *
 *   id       a name of its own
 *   kind     cause:   the line names what is wrong
 *            abort:   the line's rank asked for the end of the whole job, and its launcher killed all ranks:
 *                     that they were killed is then no sign of anything
 *            sign:    the line says what gave way, but not why (NCCL's "unhandled system error")
 *            hint:    the line may name what is wrong, but programs also print it and go on. A line of a cause or sign that
 *                     calls itself a warning ("UserWarning: ") or says that it tries again is one, too
 *            echo:    the line says that another process ended, or a whole job did
 *            warning: the line also stands in the output of jobs that succeed
 *   status   exit statuses, joined by ';', as a shell counts them: 137 is signal 9. It may be empty. A cause that is known
 *            by the status alone gives way to one that a line of the same rank says, whoever said it first.
 *   pattern  what stands in the line. '*' is any text, and " | " separates alternatives. It may be
 *            empty when there is a status. Each alternative has eight bytes in a row without '*'.
 *   cause    one sentence without its full stop. $1 is the first word that the first '*' stands for;
 *            $2 that of the second. A star at the pattern's start stands for the word before the rest.
 *   fix      what to do next; the same
 *   source   a page that explains it; the recorded output is in tests/cases/job-failures/ID.txt
 *
 * A line counts for the first row that fits it, so special rows stand above general ones. A line of source
 * in a Python traceback ("    raise ...") counts for none, since the exception itself follows. Patterns
 * match bytes, capitals matter. A comma in a message is written as '*', since a cell cannot hold one.
 *
 * Output is hostile: any bytes, lines without end, text made to look like a failure. Matching takes a
 * time that grows with the length of the output and never faster, memory is bounded by the number of
 * rows, and what comes back holds nothing that a terminal obeys. A word that stands for $1 has
 * letters, digits and _./:+@%=- only, so that no command in `fix` can become another command.
 */
#ifndef DEPLOYER_DIAGNOSIS_DIAGNOSIS_H
#define DEPLOYER_DIAGNOSIS_DIAGNOSIS_H

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>

#define DIAGNOSIS_BEST 3     /* so many at most are worth a person's time */
#define DIAGNOSIS_NO_RANK -1 /* the line is a host's, of its kernel's log */

/* The table, read only: any number of threads and jobs may share it. */
struct diagnoses;

/* What one job has shown so far. One thread at a time. */
struct diagnosing;

struct diagnosis {
	const char *id, *cause, *fix, *source; /* of the row, with its words put in */
	const char *host;		       /* where it came from; "" when nobody said */
	int rank;			       /* or DIAGNOSIS_NO_RANK */
	const char *line;		       /* what fitted first, cleaned: see core/foreign.h */
	bool is_old; /* the rank went on, and does not say it in its last lines (diagnosing_end) */
	bool is_weak; /* a hint, echo or warning: an exception that nothing caught is a better answer */
};

/* Reads recipes/job-failures.csv. ERROR_USAGE with its line when a row is wrong. */
int diagnoses_load(struct arena *arena, const struct diagnoses **table, struct error *err);

/* The same of a file's text, which the table keeps and takes apart; `path` is for errors. */
int diagnoses_parse(const char *path, char *text, size_t length, struct arena *arena,
		    const struct diagnoses **table, struct error *err);

/* For one job. It and all that it finds live in the arena; the table must live as long. */
struct diagnosing *diagnosing_new(const struct diagnoses *table, struct arena *arena);

/*
 * Looks at one or more whole lines: of the rank's output as it comes, or of the host's kernel log
 * (DIAGNOSIS_NO_RANK) since the job began. The last line end may be missing; '\r' ends a line, too,
 * as progress bars have it. Colours between the words of a message do not hide it. Many lines in one call cost less
 * than one at a time. `host` may be NULL.
 */
void diagnosing_feed(struct diagnosing *job, const char *host, int rank, const char *lines,
		     size_t length);

/*
 * The rank ended with this status, 128 + N for signal N. Only for ranks that ended by themselves: not
 * for those that were ended because another one had failed.
 */
void diagnosing_status(struct diagnosing *job, const char *host, int rank, int status);

/*
 * The rank has ended, and these are the last lines of its output. What it said long before and went on is old: it may have
 * been harmless.
 */
void diagnosing_end(struct diagnosing *job, int rank, const char *last_lines);

/*
 * What most likely was the reason, first the causes, then aborts, signs, hints; within a kind in the
 * order in which they came, and what is old last. Echoes count only where there is nothing better, and warnings only where there
 * is nothing else. Returns how many there are: 0 when nothing is known.
 */
size_t diagnosing_best(const struct diagnosing *job, struct diagnosis best[static DIAGNOSIS_BEST]);

/* The first rank whose output says that it asked for the job's end. Returns whether there is one. */
bool diagnosing_abort(const struct diagnosing *job, struct diagnosis *said);

/*
 * Whether these lines, the last ones of a rank that failed, only say that another process ended: they
 * fit echoes, and no cause, abort or sign. The arena is for what is found on the way.
 */
bool diagnoses_is_echo(const struct diagnoses *table, const char *lines, struct arena *arena);

/* Whether any row fits the line. */
bool diagnoses_knows(const struct diagnoses *table, const char *line, struct arena *arena);

#endif
