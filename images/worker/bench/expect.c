/* SPDX-License-Identifier: MIT */
#include "bench/expect.h"
#include "bench/bench.h"

#include <stdio.h>

int expect_check(const struct expect *expect, struct failure *err)
{
	if (expect->min_percent > 0 && expect->busbw <= 0)
		return failure_set(err, STATUS_USAGE, -1, "",
				   "--min-percent is a share of --expect GB/s: give that too");
	return 0;
}

static double peak(const struct report *report)
{
	double most = 0;

	for (size_t i = 0; i < report->count; i++)
		if (report->results[i].busbw > most)
			most = report->results[i].busbw;
	return most;
}

static double percent(const struct expect *expect, const struct report *report)
{
	return 100 * peak(report) / expect->busbw;
}

void expect_judge(const struct expect *expect, struct report *report)
{
	if (report->failure.status == STATUS_PASS && expect->min_percent > 0 &&
	    percent(expect, report) < expect->min_percent)
		failure_set(
			&report->failure, STATUS_BELOW, -1, "",
			"busbw %.3f GB/s is %.1f %% of the %.3f expected, below --min-percent %g",
			peak(report), percent(expect, report), expect->busbw, expect->min_percent);
}

void expect_print_json(const struct expect *expect, const struct report *report)
{
	if (expect->busbw > 0)
		printf("{\"busbw\": %.6f, \"peak\": %.6f, \"percent\": %.3f, \"because\": \"--expect\", \"source\": \"\"}",
		       expect->busbw, peak(report), percent(expect, report));
	else
		printf("null");
}

void expect_show(const struct expect *expect, const struct report *report)
{
	if (expect->busbw > 0 && report->count > 0)
		printf("#\n# busbw %.2f GB/s of %.2f expected (%.1f %%)\n", peak(report),
		       expect->busbw, percent(expect, report));
}
