/* SPDX-License-Identifier: MIT */
/* The table of options, of options.c, and what is made of it for people: the help. */
#ifndef WORKER_OPTIONS_ROW_H
#define WORKER_OPTIONS_ROW_H

#include "options.h"

#define NAMES_BYTES 512

enum row_kind {
	ROW_FLAG,    /* no value; stores 1 */
	ROW_INTEGER, /* a number from `low` to `high` */
	ROW_REAL,    /* a number, 0 or more; a double */
	ROW_BYTES,   /* a size such as 64K; a uint64_t */
	ROW_TEXT,    /* a char[]; one of `names`, if there are any */
	ROW_NAME,    /* one of `names`, by its number, which `number_of` finds */
	ROW_ZERO, /* nothing but 0, since more is not possible here; `wanted` has the reason, in the help, too */
	ROW_OTHER, /* what `take` makes of it */
	ROW_PRINT, /* no value; `print` is called, and then the program ends */
};

/* One option. Everything that the program knows of it stands in its row. */
struct row {
	const char *name; /* without dashes */
	char letter;	  /* 0: none */
	const char *argument;
	const char *help; /* NULL: it shares the line of the next row. %s: the names */
	const char
		*standard; /* the default, as one would write it; NULL: none, or `help` says it */
	enum row_kind kind;
	size_t offset, bytes; /* of the member of struct options */
	long low, high;
	const char *(*names)(int index); /* NULL after the last one */
	int (*number_of)(const char *text);
	int (*take)(struct options *options, const char *text); /* -1: not what is `wanted` */
	const char *wanted;
	void (*print)(void);
};

/* The row number @index, NULL after the last one. */
const struct row *options_row_at(int index);

/* The names of a row as a sentence has them: "a, b or c". */
void options_list(const struct row *row, char text[NAMES_BYTES]);

/* Prints all options. */
void options_help(void);

#endif
