/* SPDX-License-Identifier: MIT */
#include "deployer/bench/bench_history.h"

#include "core/clock.h"
#include "core/str.h"
#include "deployer/bench/kept.h"

#include <string.h>
#include <time.h>

#define WEEK_S (7 * 24 * 3600)

/* What makes two runs one kind. */
static const char *const kind_members[] = {"backend", "collective", "type", "op",
					   "bytes",   "world",	    "ranks"};

/* The hosts of the ranks in their order, as "a*8 b*8". */
static void bench_history_ranks(const struct report *report, struct str *out)
{
	size_t same = 1;

	for (size_t i = 0; i < report->rank_count; i += same) {
		const char *host = report->ranks[i].host;

		for (same = 1; i + same < report->rank_count &&
			       strcmp(report->ranks[i + same].host, host) == 0;)
			same++;
		str_addf(out, "%s%s*%zu", i ? " " : "", host, same);
	}
}

cJSON *bench_history_record(const struct report *report, const char *now)
{
	_cleanup_(str_release) struct str ranks = STR_INIT;
	cJSON *json = json_document();
	const struct report_row *last =
		report->row_count ? &report->rows[report->row_count - 1] : NULL;

	bench_history_ranks(report, &ranks);
	cJSON_AddStringToObject(json, "time", now);
	json_add_text(json, "backend", report->backend);
	json_add_text(json, "collective", report->collective);
	json_add_text(json, "type", last ? last->type : "");
	json_add_text(json, "op", last ? last->op : "");
	cJSON_AddNumberToObject(json, "bytes", last ? last->bytes : 0);
	cJSON_AddNumberToObject(json, "world", report->world);
	cJSON_AddStringToObject(json, "ranks", ranks.length ? ranks.text : "");
	cJSON_AddNumberToObject(json, "busbw", report_peak(report));
	return json;
}

static bool bench_history_is_kin(const cJSON *a, const cJSON *b)
{
	const cJSON *time = json_member(a, "time");

	if (!cJSON_IsString(time) || json_number(a, "busbw", 0) <= 0)
		return false;
	for (size_t i = 0; i < sizeof(kind_members) / sizeof(kind_members[0]); i++)
		if (!cJSON_Compare(json_member(a, kind_members[i]), json_member(b, kind_members[i]),
				   true))
			return false;
	return true;
}

void bench_history_compare(const cJSON *documents, const cJSON *record, const char *week_ago,
			   struct arena *arena, struct bench_past *past)
{
	double last[BENCH_HISTORY_LAST];

	*past = (struct bench_past){.busbw = json_number(record, "busbw", 0)};
	for (int i = cJSON_GetArraySize(documents) - 1; i >= 0; i--) {
		const cJSON *document = cJSON_GetArrayItem(documents, i);
		const char *when;

		if (!bench_history_is_kin(document, record))
			continue;
		when = json_text(document, "time", arena);
		if (past->runs < BENCH_HISTORY_LAST) {
			last[past->runs++] = json_number(document, "busbw", 0);
			past->since = when;
		}
		if (!past->week_at && strcmp(when, week_ago) <= 0) {
			past->week_at = when;
			past->week_ago = json_number(document, "busbw", 0);
		}
	}
	if (past->runs == 0)
		return;
	past->median = kept_median(last, past->runs);
	past->slower = (past->runs >= BENCH_HISTORY_LEAST &&
			100 * past->busbw < BENCH_HISTORY_PERCENT * past->median) ||
		       100 * past->busbw < BENCH_HISTORY_PERCENT * past->week_ago;
}

static void bench_history_week_ago(char text[static 24])
{
	time_t then = time(NULL) - WEEK_S;
	struct tm parts;

	text[0] = '\0';
	if (gmtime_r(&then, &parts))
		strftime(text, 24, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

int bench_history_keep(const struct cluster *cluster, const struct report *report,
		       struct arena *arena, struct bench_past *past, struct error *err)
{
	_cleanup_(json_free) cJSON *documents = NULL, *record = NULL;
	char now[24], week_ago[24];
	struct kept kept;

	*past = (struct bench_past){0};
	clock_iso8601(now);
	bench_history_week_ago(week_ago);
	record = bench_history_record(report, now);
	if (kept_read(cluster, "bench", BENCH_HISTORY_MAX, arena, &kept, &documents, err) < 0)
		return -1;
	bench_history_compare(documents, record, week_ago, arena, past);
	if (strcmp(report->verdict, "pass") != 0 || report->row_count == 0)
		return 0;
	return kept_add(&kept, record, BENCH_HISTORY_MAX, 0, arena, err);
}

void bench_history_add_to(const struct bench_past *past, cJSON *document)
{
	cJSON *json = cJSON_AddObjectToObject(document, "history");

	cJSON_AddNumberToObject(json, "runs", (double)past->runs);
	cJSON_AddNumberToObject(json, "busbw", past->busbw);
	if (past->runs) {
		cJSON_AddNumberToObject(json, "median", past->median);
		cJSON_AddStringToObject(json, "since", past->since);
	}
	if (past->week_at) {
		cJSON_AddNumberToObject(json, "week_ago", past->week_ago);
		cJSON_AddStringToObject(json, "week_at", past->week_at);
	}
	cJSON_AddBoolToObject(json, "slower", past->slower);
}

const char *bench_history_sentence(const struct bench_past *past, struct arena *arena)
{
	_cleanup_(str_release) struct str line = STR_INIT;

	if (past->runs == 0)
		return "";
	str_addf(&line, "busbw %.3g GB/s is %.0f %% of ", past->busbw,
		 100 * past->busbw / past->median);
	if (past->runs == 1)
		str_addf(&line, "the last such run (%.3g, of %.10s)", past->median, past->since);
	else
		str_addf(&line, "the median of the last %zu such runs (%.3g, since %.10s)",
			 past->runs, past->median, past->since);
	if (past->week_at)
		str_addf(&line, " and %.0f %% of that of %.10s (%.3g)",
			 100 * past->busbw / past->week_ago, past->week_at, past->week_ago);
	return arena_strdup(arena, line.text);
}
