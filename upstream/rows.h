/* SPDX-License-Identifier: MIT */
/*
 * rows.h - what upstream says, against the rows of the catalog: new rows, filled cells, contradictions.
 *
 * The hand-written facts of a row are never changed. A row that the catalog lacks is new; an empty cell of a row
 * is filled; a cell that says something else is listed as a contradiction, and stays, until reviewed.csv says
 * that somebody has looked at what upstream says. Facts that no
 * upstream says are copied into a new row from the newest row of the same series that is not newer than it; the note
 * names that row. Such a row has the certainty `inferred`.
 */
#ifndef UPSTREAM_ROWS_H
#define UPSTREAM_ROWS_H

#include "resolver/catalog.h"

#include <sys/types.h>

/* What is done with a fact when the catalog has the row. */
enum fact_use {
	FACT_NEW,      /* nothing: only a new row takes it */
	FACT_FILLS,    /* it goes into an empty cell */
	FACT_COMPARED, /* the same, and a cell that says something else is a contradiction */
};

/* A cell; lists of them end with a NULL column. */
struct fact {
	const char *column, *cell;
	enum fact_use use;
};

#define FACTS_MAX 24

/* A list of facts while it is made: always ends with a NULL column. */
struct fact_list {
	struct arena *arena;
	size_t count;
	struct fact list[FACTS_MAX + 1];
};

#define FACT_LIST_INIT(a)    \
	{                    \
		.arena = (a) \
	}

/* Adds a fact. */
void fact_add(struct fact_list *facts, enum fact_use use, const char *column, const char *cell);
/* The same with a format. Nothing is added when `when` is "". */
void fact_addf(struct fact_list *facts, enum fact_use use, const char *when, const char *column,
	       const char *format, ...) _printf_(5, 6);

enum row_news {
	ROW_NEW,     /* a row that the catalog lacks */
	ROW_FILLED,  /* cells of a row that were empty */
	ROW_DIFFERS, /* upstream contradicts the row; nothing is written */
	ROW_STAMP,   /* a row that refresh keeps for itself: of updated.csv or sources.csv */
};

struct row_change {
	enum row_news news;
	const char *table, *version;
	const char *what;	  /* for people, one line */
	const char *source, *url; /* id of sources.csv; what says so */
	size_t column_count;
	const char *const *columns; /* of the table */
	const char **cells;	    /* the whole row */
	const char *path; /* of the row that is filled, and its line; NULL for a new one */
	size_t line;
};

struct rows {
	const struct catalog *catalog;
	struct arena *arena;
	const char *today; /* "2026-11-23" */
	size_t count, capacity;
	struct row_change *changes;
	size_t odd; /* offers that were left out since a cell could not stand in a table */
};

/* One row as upstream has it. Texts are borrowed and must live as long as the arena. */
struct offer {
	const char *table, *version;
	const struct fact *keys;  /* beside the version: which row it is */
	const struct fact *facts; /* cells; empty ones do not count */
	const char *const
		*copied; /* columns that a new row takes from the model, NULL-terminated; or NULL */
	const struct fact *alike; /* cells of the model; or NULL: those of `keys` */
	const char *note;	  /* of a new row, or "" */
	bool copies_note;	  /* the note of the model goes before it */
	const char *source;	  /* id of sources.csv */
	const char *url;
};

/* Compares one row with the catalog, and enters what is new. */
void rows_offer(struct rows *rows, const struct offer *offer);

/* Lists something that upstream has and that no row can be made of: a person must add it. */
void rows_look(struct rows *rows, const char *table, const char *version, const char *what,
	       const char *source, const char *url);

/* Enters a source that sources.csv lacks. */
void rows_source(struct rows *rows, const char *id, const char *title, const char *where);

/* Notes in updated.csv that the component was compared with its upstream today. */
void rows_stamp(struct rows *rows, const char *component, const char *source);

/* The row's number, or -1. */
ssize_t rows_find(const struct table *table, const char *version, const struct fact *keys);

/* The newest row that has these cells, or -1. */
ssize_t rows_newest(const struct table *table, const struct fact *cells);

/* The oldest one's version, or NULL when there is no such row. */
const char *rows_oldest(const struct table *table, const struct fact *cells);

/* How many changes are of that kind. */
size_t rows_count(const struct rows *rows, enum row_news news);

#endif
