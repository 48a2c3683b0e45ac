/* SPDX-License-Identifier: MIT */
#include "options_row.h"

#include <stdio.h>
#include <string.h>

#define HELP_BYTES 1024
#define HELP_COLUMN 24	 /* where the help texts begin */
#define HELP_COLUMNS 104 /* where they end */

void options_list(const struct row *row, char text[NAMES_BYTES])
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; row->names(i) && used < NAMES_BYTES; i++) {
		const char *joint = i == 0 ? "" : row->names(i + 1) ? ", " : " or ";

		used += (size_t)snprintf(text + used, NAMES_BYTES - used, "%s%s", joint,
					 row->names(i));
	}
}

/* What a row says in the help. */
static void options_describe(const struct row *row, char text[HELP_BYTES])
{
	const char *gap = row->names ? strstr(row->help, "%s") : NULL;
	char names[NAMES_BYTES] = "";
	int before = gap ? (int)(gap - row->help) : (int)strlen(row->help);

	if (gap)
		options_list(row, names);
	if (row->kind == ROW_ZERO) {
		snprintf(text, HELP_BYTES, "of nccl-tests, and 0 here: %s", row->wanted);
		return;
	}
	snprintf(text, HELP_BYTES, "%.*s%s%s%s%s%s", before, row->help, names, gap ? gap + 2 : "",
		 row->standard ? " (default " : "", row->standard ? row->standard : "",
		 row->standard ? ")" : "");
}

/* Prints @text, of which each line begins at HELP_COLUMN; @column is where the first one stands. */
static void options_wrap(int column, const char *text)
{
	bool first = true;

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (first || column + 1 + length > HELP_COLUMNS) {
			printf("%s%*s", first ? "" : "\n",
			       first ? HELP_COLUMN - column : HELP_COLUMN, "");
			column = HELP_COLUMN;
		} else {
			putchar(' ');
			column++;
		}
		printf("%.*s", length, text);
		column += length;
		text += length + (text[length] == ' ');
		first = false;
	}
	putchar('\n');
}

/* One option as one writes it; returns how many columns that takes. */
static int options_show(const struct row *row)
{
	int column = row->letter ? printf("-%c, ", row->letter) : 0;

	return column + printf("--%s%s%s", row->name, row->argument ? " " : "",
			       row->argument ? row->argument : "");
}

void options_help(void)
{
	char text[HELP_BYTES];

	fputs("usage: allreduce [--procs K] [--rank R --world N --root HOST:PORT] [OPTION...]\n"
	      "\n"
	      "All-reduce and other collectives among N ranks: speed, correctness, and who is to blame.\n"
	      "\n",
	      stdout);
	for (int i = 0; options_row_at(i); i++) {
		int column = printf("  ");

		for (; !options_row_at(i)->help; i++)
			column += options_show(options_row_at(i)) + printf(" ");
		column += options_show(options_row_at(i));
		options_describe(options_row_at(i), text);
		options_wrap(column, text);
	}
	fputs("\n"
	      "Called all_reduce_perf, all_gather_perf, ... it is that program of nccl-tests: -b 32M -e 32M -i 1M -w 1 -a 1 and\n"
	      "--backend nccl are the defaults then.\n"
	      "\n"
	      "Ranks on several hosts share a secret in $RINGUP_SECRET or in the file $RINGUP_SECRET_FILE. The time\n"
	      "of a size is the average over the iterations of the slowest rank's time; GB are 1e9 bytes; sizes and\n"
	      "busbw are those of nccl-tests.\n"
	      "\n"
	      "exit status: 0 pass, 1 usage, 2 wrong data, 3 below --min-busbw or --min-percent, 4 timeout, 5 GPU, driver or NCCL\n"
	      "unusable, 6 versions differ, 7 peer lost, 8 slow host or link\n",
	      stdout);
}
