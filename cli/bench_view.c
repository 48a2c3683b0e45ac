/* SPDX-License-Identifier: MIT */
#include "cli/bench_view.h"

#include "core/foreign.h"
#include "core/term.h"
#include "core/words.h"

#include <stdio.h>

#define PAIRS_SHOWN 16 /* ranks; a wider matrix fits on no terminal */

/* The same size's row in place, which follows the one out of place; or NULL. */
static const struct report_row *partner(const struct report *report, size_t index)
{
	for (size_t i = index + 1; i < report->row_count; i++)
		if (report->rows[i].inplace && report->rows[i].bytes == report->rows[index].bytes)
			return &report->rows[i];
	return NULL;
}

/* A placement's four cells; "-" for one that was not run. */
static void put_cells(const char **cells, const struct report_row *row, struct arena *a)
{
	cells[0] = row ? arena_printf(a, "%.1f", row->usec) : "-";
	cells[1] = row ? arena_printf(a, "%.3f", row->algbw) : "-";
	cells[2] = row ? arena_printf(a, "%.3f", row->busbw) : "-";
	cells[3] = row ? arena_printf(a, "%.0f", row->wrong) : "-";
}

/* nccl-tests' columns: each size once, out of place and in place beside each other. */
static void print_sizes(const struct report *report, struct arena *a)
{
	struct term_table table;

	if (!report->row_count)
		return;
	term_table_init(&table, a,
			WORDS(">SIZE (B)", "TYPE", "OP", ">OUT: TIME (us)", ">ALGBW",
			      ">BUSBW (GB/s)", ">WRONG", ">IN: TIME (us)", ">ALGBW",
			      ">BUSBW (GB/s)", ">WRONG"));
	for (size_t i = 0; i < report->row_count; i++) {
		const struct report_row *out = &report->rows[i], *in = partner(report, i);
		const char *cells[12] = {arena_printf(a, "%.0f", out->bytes), out->type, out->op};

		if (out->inplace)
			continue;
		put_cells(&cells[3], out, a);
		put_cells(&cells[7], in, a);
		term_table_row(&table, cells);
	}
	term_table_print(&table, stdout);
}

/* GB/s each way between every two ranks. */
static void bench_view_print_matrix(const struct report_pairs *pairs)
{
	size_t world = (size_t)pairs->world;

	if (world > PAIRS_SHOWN)
		return;
	for (size_t a = 0; a < world; a++) {
		say("%3zu", a);
		for (size_t b = 0; b < world; b++) {
			double usec = pairs->usec[a * world + b];

			if (usec > 0)
				say(" %6.2f", pairs->bytes / usec / 1000);
			else
				say("      -");
		}
		say("\n");
	}
}

static void bench_view_print_pairs(const struct report_pairs *pairs)
{
	if (!pairs->world)
		return;
	say("pairs: %d sweeps in %.1f s, %.0f bytes each way; GB/s each way%s\n", pairs->sweeps,
	    pairs->seconds, pairs->bytes, pairs->world > PAIRS_SHOWN ? " are in --json" : ":");
	bench_view_print_matrix(pairs);
	for (size_t i = 0; i < pairs->finding_count; i++)
		say("%s\n", pairs->findings[i]);
	if (pairs->left_out >= 0)
		say("all ranks exchange with both neighbours in %.0f us, without rank %d in %.0f us\n",
		    pairs->all_usec, pairs->left_out, pairs->without_usec);
	if (pairs->unjudged)
		say("nobody is judged: there were fewer sweeps than that takes\n");
	else if (pairs->unsure > 0)
		say("%d times look slow but came only by chance: the machines are too busy to tell; try again\n",
		    pairs->unsure);
	if (pairs->world < 3)
		say("two ranks are one pair: there is nothing to compare it with\n");
	else if (!pairs->finding_count && !pairs->unjudged)
		say("no rank and no link is slow\n");
}

static void bench_view_print_sgd(const struct report_sgd *sgd, struct arena *a)
{
	struct term_table table;

	if (!sgd->run_count)
		return;
	say("sgd: %d steps of %d handwritten digits; weights %s on every rank after 'sum'\n",
	    sgd->steps, sgd->batch, sgd->weights);
	term_table_init(&table, a,
			WORDS("WAY", ">LEARNERS", ">STEPS/S", ">EFFICIENCY", ">COMMUNICATION",
			      ">LOSS", ">TEST RIGHT"));
	for (size_t i = 0; i < sgd->run_count; i++) {
		const struct report_run *run = &sgd->runs[i];

		term_table_row(&table, WORDS(run->name, arena_printf(a, "%d", run->learners),
					     arena_printf(a, "%.1f", run->steps_per_second),
					     arena_printf(a, "%.1f %%", 100 * run->efficiency),
					     arena_printf(a, "%.1f %%", 100 * run->communication),
					     arena_printf(a, "%.5f", run->loss),
					     arena_printf(a, "%.1f %%", 100 * run->right)));
	}
	term_table_print(&table, stdout);
}

/* Digits behind the point, so that three of the number's own are seen. */
static int digits(double number)
{
	return number < 1 ? 3 : number < 10 ? 2 : 1;
}

static void print_expected(const struct report *report)
{
	const struct report_expected *expected = &report->expected;
	double peak = report_peak(report);

	if (!report->row_count || !expected->because)
		return;
	say("busbw %.*f GB/s", digits(peak), peak);
	if (expected->busbw > 0)
		say(" of %.*f expected (%.0f %%): %s\n", digits(expected->busbw), expected->busbw,
		    expected->percent, expected->because);
	else
		say("; no expectation: %s\n", expected->because);
}

/* What was measured: that of rank 0, which all ranks have (the worker compares them). */
static void bench_view_print_library(const struct report *report)
{
	if (*report->library_file)
		say("%s from %s\n", report->library, report->library_file);
}

void bench_print(const struct report *report, struct arena *arena)
{
	bench_view_print_library(report);
	print_sizes(report, arena);
	bench_view_print_pairs(&report->pairs);
	bench_view_print_sgd(&report->sgd, arena);
	print_expected(report);
}
