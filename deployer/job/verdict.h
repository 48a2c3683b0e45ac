/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - why a job failed: its first failure, and what is known of such failures.
 *
 * When one rank dies, the others fail too, since their connections break. The first failure counts. One that
 * only echoes another's end, by its last lines, gives way to a better one that comes a moment later. A rank that was killed
 * gives way to the rank that says it called MPI_Abort, since some launchers then kill all.
 */
#ifndef DEPLOYER_JOB_VERDICT_H
#define DEPLOYER_JOB_VERDICT_H

#include "deployer/diagnosis/collectives.h"
#include "deployer/diagnosis/diagnosis.h"
#include "deployer/fleet.h"

#include <stdbool.h>
#include <stdint.h>

struct job_result {
	/* The exit status: 0, or that of the rank that failed first, or 1. */
	int status;
	int rank;	    /* the one that failed first; -1: none did */
	const char *host;   /* its host, or the host that failed; "" */
	const char *reason; /* one sentence or two; "" when all is well */
	bool is_interrupted;
	/* hosts that did not say that everything of the job has ended, and that were not swept; NULL: none */
	const char *const *unswept;
};

/* Its owner keeps it; the functions below fill it. One thread at a time. */
struct job_verdict {
	struct job_result *result;
	const char *folder; /* of the ranks' logs */
	struct arena *arena;
	const struct diagnoses *failures; /* NULL: the table cannot be read; and then */
	struct diagnosing *diagnosing;	  /* NULL, too */
	struct collectives *collectives;  /* what the ranks said of theirs */
	uint64_t begin_usec;
	/* When a rank failed because another one had ended, or was killed; 0: the failure is real. */
	uint64_t echo_usec;
	int typed_rank; /* 1 + the rank at whose terminal the person is, and has seen its last lines; 0: none */
	bool is_ended_here; /* ringup ended the job: what the launcher says last is about that */
	bool is_killed; /* only the output of a rank that asked for the job's end can be a better reason, or: */
	bool kills_all; /* the launcher is MPICH's, which kills all ranks when one ends badly */
	struct job_result
		own; /* of the first rank that ended with a status of its own since; status 0: none has */
};

/* Begins with a job that is well. A table that cannot be read costs the diagnosis, not the job. */
void job_verdict_begin(struct job_verdict *verdict, struct job_result *result, const char *folder,
		       struct arena *arena);

/* Looks at output of a rank, or of a launcher (rank -1), as it comes. */
void job_verdict_feed(struct job_verdict *verdict, const char *host, int rank, const char *text);

/* Takes the failure unless an earlier one counts. Returns whether the job is over because of it. */
bool job_verdict_fail(struct job_verdict *verdict, int status, int rank, const char *host,
		      const char *reason);

/* The same for a rank that ended with this status; its last lines must be in its log. */
bool job_verdict_fail_rank(struct job_verdict *verdict, int status, int rank, const char *host);

/* Whether an echo has waited long enough for a better failure. */
bool job_verdict_is_settled(const struct job_verdict *verdict, uint64_t now_usec);

/* What fails from now on was ended by ringup. */
void job_verdict_close(struct job_verdict *verdict);

/*
 * Adds to the reason the last lines of the rank that failed (of the launcher's log when none did and
 * `with_launcher`), and what is known of such failures, also by the kernels of the fleet's hosts.
 */
void job_verdict_explain(struct job_verdict *verdict, struct fleet *fleet, bool with_launcher);

#endif
