/* SPDX-License-Identifier: MIT */
/*
 * opt.h - command-line options as rows: parsing and help come from one table.
 *
 * Each row says where in the command's options struct its value goes. "--name VALUE",
 * "--name=VALUE",
 * "-n VALUE", "-nVALUE" and "--" are understood; options and arguments may be mixed.
 */
#ifndef CORE_OPT_H
#define CORE_OPT_H

#include "core/arena.h"
#include "core/error.h"
#include "core/words.h"

#include <stdio.h>

enum opt_kind {
	OPT_FLAG,  /* bool */
	OPT_TEXT,  /* const char * */
	OPT_INT,   /* int, 0 or more */
	OPT_COUNT, /* int, 1 or more: 0 is that it is not given */
	OPT_LIST,  /* struct words: may be given more than once */
	OPT_LIST_BUT, /* the same, and each word gets a '!' before it: it shares the list of another option */
};

struct opt {
	char letter;	      /* 0: none */
	const char *name;     /* long name without dashes; NULL ends the array */
	const char *argument; /* name of the value in help; NULL for flags */
	const char *help;
	enum opt_kind kind;
	size_t offset; /* offsetof(struct ..., member) */
};

#define OPT_END                                  \
	{                                        \
		0, NULL, NULL, NULL, OPT_FLAG, 0 \
	}

/*
 * Parses `words` (without the command's name) into `values` by the rows. Words that are not options
 * go to `arguments`. "--" ends the options, and with `stop_at_argument` the first argument does: *used is
 * the number of words before those that nobody has looked at. Errors are ERROR_USAGE and name the nearest
 * known option.
 */
int opt_parse(const struct opt *rows, const char *const *words, bool stop_at_argument, void *values,
	      struct words *arguments, size_t *used, struct error *err);

/*
 * Adds words that give the same options again: texts, numbers, lists and flags, each in the order of the rows. Rows of the names in
 * `but` are left out.
 */
void opt_words(const struct opt *rows, const void *values, const char *const *but,
	       struct words *out);

/* Prints the rows as an aligned list. */
void opt_help(const struct opt *rows, FILE *out);

#endif
