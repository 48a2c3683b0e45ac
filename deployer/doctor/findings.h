/* SPDX-License-Identifier: MIT */
/*
 * findings.h - what can be wrong with hosts: recipes/findings.csv, and what of it is so.
 *
 * Columns of the table:
 *   id         a name of its own
 *   severity   error: the cluster will not work; warning: it works badly or not for long; note: good to know
 *   scope      host: judged for each host; fleet: once, by what differs between the hosts
 *   condition  condition.h says how it is written
 *   what       one sentence without its full stop. @{NAME} is the value of a fact
 *   why        what it breaks; the same
 *   fix        what to do; the same
 *   command    for a shell of the host, as root. Only where it is safe to do without thought or can be
 *              undone, and where a second time changes nothing. It has no places.
 *   source     a page that explains it
 * A cell holds no comma, since it is CSV without quotes; a comma of a command is written as '@{comma}'.
 *
 * Names are those of facts (plan/facts_rows.c) and those of finding_names. In a fleet's row the place of a
 * fact becomes what each group of hosts says of it.
 */
#ifndef DEPLOYER_DOCTOR_FINDINGS_H
#define DEPLOYER_DOCTOR_FINDINGS_H

#include "core/words.h"
#include "core/error.h"
#include "deployer/doctor/condition.h"
#include "plan/facts.h"

enum finding_severity { FINDING_ERROR, FINDING_WARNING, FINDING_NOTE, FINDING_SEVERITIES };
extern const char *const finding_severity_names[FINDING_SEVERITIES];

struct finding_row {
	const char *id, *what, *why, *fix, *command, *source;
	enum finding_severity severity;
	bool is_fleet;
	struct condition *condition;
};

struct findings {
	size_t count;
	struct finding_row *rows;
};

/* One host as it is judged. `more` has lines NAME=VALUE beside its facts: those of finding_names. */
struct patient {
	const struct facts *facts;
	const char *more;
};

/* Something that is so, of one host or of several for which it reads the same. */
struct finding {
	const struct finding_row *row;
	const char *what, *why, *fix, *command;
	struct words hosts;
};

/* Names beside the facts, NULL-terminated, each with its meaning behind it. */
extern const char *const finding_names[][2];

/* Reads recipes/findings.csv. ERROR_USAGE with its line when a row is wrong. */
int findings_load(struct arena *arena, struct findings *findings, struct error *err);

/* The same of a file's text, which is taken apart; `path` is for errors. */
int findings_parse(const char *path, char *text, size_t length, struct arena *arena,
		   struct findings *findings, struct error *err);

/*
 * All that is so of these hosts, errors first, in the order of the table. Returns how many there are;
 * *list is in the arena.
 */
size_t findings_of(const struct findings *findings, const struct patient *patients, size_t count,
		   struct arena *arena, struct finding **list);

#endif
