/* SPDX-License-Identifier: MIT */
#include "core/progress_total.h"

#include "core/clock.h"

#include <stdatomic.h>

#define RATE_SECONDS_MIN 0.05 /* a rate over less time is meaningless */

static atomic_int_fast64_t counts[PROGRESS_COUNTS];
static atomic_uint_fast64_t begun_usec, moving_usec; /* 0: not */

const char *progress_count_name(enum progress_count what)
{
	static const char *const names[PROGRESS_COUNTS] = {
		[PROGRESS_TODO] = "bytes_total",      [PROGRESS_DONE] = "bytes_done",
		[PROGRESS_MOUNTED] = "bytes_mounted", [PROGRESS_THERE] = "bytes_there",
		[PROGRESS_CACHED] = "bytes_cached",   [PROGRESS_RESUMED] = "bytes_resumed",
		[PROGRESS_RETRIES] = "retries",
	};

	return names[what];
}

void progress_add(enum progress_count what, int64_t amount)
{
	uint_fast64_t none = 0;

	atomic_fetch_add(&counts[what], amount);
	if (what == PROGRESS_DONE && amount > 0)
		atomic_compare_exchange_strong(&moving_usec, &none, clock_usec());
}

bool progress_total_now(struct progress_total *total)
{
	uint64_t begun = atomic_load(&begun_usec), moving = atomic_load(&moving_usec);
	double seconds = moving ? clock_seconds_since(moving) : 0;

	*total = (struct progress_total){.seconds_left = -1};
	if (!begun)
		return false;
	for (size_t i = 0; i < PROGRESS_COUNTS; i++) {
		int64_t count = atomic_load(&counts[i]);

		total->counts[i] = count > 0 ? (uint64_t)count : 0;
	}
	total->seconds = clock_seconds_since(begun);
	if (seconds < RATE_SECONDS_MIN)
		seconds = RATE_SECONDS_MIN;
	total->bytes_per_s = (double)total->counts[PROGRESS_DONE] / seconds;
	if (total->counts[PROGRESS_DONE] >= total->counts[PROGRESS_TODO])
		total->seconds_left = 0;
	else if (total->bytes_per_s > 0)
		total->seconds_left =
			(double)(total->counts[PROGRESS_TODO] - total->counts[PROGRESS_DONE]) /
			total->bytes_per_s;
	return true;
}

static void add_saved(const struct progress_total *total, struct str *line)
{
	static const struct {
		enum progress_count what;
		const char *words;
	} rows[] = {
		{PROGRESS_MOUNTED, "mounted"},
		{PROGRESS_THERE, "there already"},
		{PROGRESS_CACHED, "not packed again"},
		{PROGRESS_RESUMED, "from an earlier run"},
	};
	char bytes[32];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (total->counts[rows[i].what])
			str_addf(line, ", %s %s", format_bytes(bytes, total->counts[rows[i].what]),
				 rows[i].words);
	if (total->counts[PROGRESS_RETRIES])
		str_addf(line, ", %llu tried again",
			 (unsigned long long)total->counts[PROGRESS_RETRIES]);
}

void progress_total_text(const struct progress_total *total, bool at_end, struct str *line)
{
	char done[32], todo[32], rate[32];

	str_addf(line, "%s of %s", format_bytes(done, total->counts[PROGRESS_DONE]),
		 format_bytes(todo, total->counts[PROGRESS_TODO]));
	if (at_end)
		str_addf(line, " in %.1f s", total->seconds);
	if (total->bytes_per_s > 0)
		str_addf(line, ", %s/s", format_bytes(rate, (uint64_t)total->bytes_per_s));
	if (!at_end && total->seconds_left > 0)
		str_addf(line, ", %.0f s left", total->seconds_left);
	add_saved(total, line);
}

void progress_total_begin(void)
{
	for (size_t i = 0; i < PROGRESS_COUNTS; i++)
		atomic_store(&counts[i], 0);
	atomic_store(&moving_usec, 0);
	atomic_store(&begun_usec, clock_usec());
}

bool progress_total_stop(struct progress_total *total)
{
	bool is_shown = progress_total_now(total);

	atomic_store(&begun_usec, 0);
	return is_shown;
}
