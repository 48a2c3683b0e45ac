/* SPDX-License-Identifier: MIT */
/*
 * version.h - comparing versions, and the requirement words of the command line.
 *
 * A version alternates numbers and text, with dots between parts ("4.1.4", "2.5.6-1",
 * "ubuntu20.04"). Numbers compare as numbers and text as text. A missing number counts as 0, so
 * 12.1 equals 12.1.0.
 */
#ifndef PLAN_VERSION_H
#define PLAN_VERSION_H

#include "core/arena.h"
#include "core/error.h"

/* Below 0, 0 or above 0, as strcmp. */
int version_compare(const char *a, const char *b);

enum version_operator {
	VERSION_EQ,
	VERSION_NE,
	VERSION_GE,
	VERSION_GT,
	VERSION_LE,
	VERSION_LT,
	VERSION_COMPATIBLE
};

struct version_clause {
	enum version_operator operator;
	const char *version; /* for == and != it may end in ".*" */
};

/*
 * One REQ: `name`, or a name with clauses: ==1.2, ==1.2.*, >=1,<2, !=1.3, ~=1.4 (>= 1.4, == 1.*).
 * Source of the grammar: PEP 440, "Version specifiers"; requests support only this part.
 */
struct requirement {
	const char *name;
	const char *text; /* as it was written */
	size_t clause_count;
	struct version_clause *clauses;
};

/* ERROR_USAGE when the text is not a requirement. Does not check the name. */
int requirement_parse(const char *text, struct arena *arena, struct requirement *req,
		      struct error *err);

/* Whether the version passes every clause. */
bool requirement_admits(const struct requirement *req, const char *version);

/*
 * The same, but `==V` and `!=V` mean the whole series V: ==12.1 admits 12.1.1, ==2.5.6 admits
 * 2.5.6-1, ==470 admits 470.57.02. People mean this for everything except Python packages.
 */
bool requirement_admits_series(const struct requirement *req, const char *version);

/* Whether `version` is the series itself, or begins with all of its parts. */
bool version_in_series(const char *version, const char *series);

/*
 * A requirement cell of the catalog (docs/catalog.md). Clauses are joined by ';', and all of them
 * must hold. Alternatives are joined by '|', and one of them must hold. Without any alternative it
 * admits everything.
 */
struct needs {
	const char *text; /* as the cell has it */
	size_t count;
	struct requirement *alternatives; /* without names */
};

/* ERROR_USAGE when the text is not a requirement cell. */
int needs_parse(const char *text, struct arena *arena, struct needs *needs, struct error *err);

bool needs_admit(const struct needs *needs, const char *version);

#endif
