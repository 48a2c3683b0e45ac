/* SPDX-License-Identifier: MIT */
#include "plan/report.h"

#include <stdlib.h>
#include <string.h>

/* The worker's own limit of --find-slow; no worker reports a larger matrix. */
#define PAIRS_WORLD_MAX 1024

static const char *text_or(const cJSON *object, const char *name, const char *otherwise,
			   struct arena *arena)
{
	const char *text = json_text(object, name, arena);

	return text ? text : otherwise;
}

static void read_rows(const cJSON *list, struct arena *arena, struct report *report)
{
	const cJSON *item;

	report->rows = ARENA_ARRAY(arena, (size_t)cJSON_GetArraySize(list) + 1, struct report_row);
	cJSON_ArrayForEach (item, list) {
		report->rows[report->row_count++] = (struct report_row){
			.bytes = json_number(item, "bytes", 0),
			.usec = json_number(item, "usec", 0),
			.algbw = json_number(item, "algbw", 0),
			.busbw = json_number(item, "busbw", 0),
			.wrong = json_number(item, "wrong", 0),
			.type = text_or(item, "type", "", arena),
			.op = text_or(item, "op", "", arena),
			.inplace = json_bool(item, "inplace", false),
		};
	}
}

static void read_ranks(const cJSON *list, struct arena *arena, struct report *report)
{
	const cJSON *item;

	report->ranks =
		ARENA_ARRAY(arena, (size_t)cJSON_GetArraySize(list) + 1, struct report_rank);
	cJSON_ArrayForEach (item, list) {
		report->ranks[report->rank_count++] = (struct report_rank){
			.rank = json_int(item, "rank", -1),
			.host = text_or(item, "host", "", arena),
		};
	}
}

/* A missing or non-numeric entry means that the pair was not measured. */
static void read_matrix(const cJSON *rows, struct arena *arena, struct report_pairs *pairs)
{
	int world = cJSON_IsArray(rows) ? cJSON_GetArraySize(rows) : 0, a = 0;
	const cJSON *row, *cell;
	double *usec;

	if (!world || world > PAIRS_WORLD_MAX)
		return;
	usec = ARENA_ARRAY(arena, (size_t)world * (size_t)world, double);
	cJSON_ArrayForEach (row, rows) {
		int b = 0;

		cJSON_ArrayForEach (cell, row) {
			if (b < world && cJSON_IsNumber(cell))
				usec[(size_t)a * (size_t)world + (size_t)b] = cell->valuedouble;
			b++;
		}
		a++;
	}
	pairs->world = world;
	pairs->usec = usec;
}

static void read_pairs(const cJSON *json, struct arena *arena, struct report_pairs *pairs)
{
	const cJSON *out = json_member(json, "leave_one_out"), *item;
	const cJSON *findings = json_member(json, "findings");

	*pairs = (struct report_pairs){
		.sweeps = json_int(json, "sweeps", 0),
		.unsure = json_int(json, "unsure", 0),
		.unjudged = cJSON_IsFalse(json_member(json, "judged")),
		.bytes = json_number(json, "bytes", 0),
		.seconds = json_number(json, "seconds", 0),
		.left_out = json_int(out, "rank", -1),
		.all_usec = json_number(out, "all_usec", 0),
		.without_usec = json_number(out, "without_usec", 0),
	};
	pairs->findings =
		ARENA_ARRAY(arena, (size_t)cJSON_GetArraySize(findings) + 1, const char *);
	cJSON_ArrayForEach (item, findings)
		pairs->findings[pairs->finding_count++] = text_or(item, "reason", "", arena);
	read_matrix(json_member(json, "usec"), arena, pairs);
}

static void read_sgd(const cJSON *json, struct arena *arena, struct report_sgd *sgd)
{
	const cJSON *runs = json_member(json, "runs"), *item;

	*sgd = (struct report_sgd){
		.steps = json_int(json, "steps", 0),
		.batch = json_int(json, "batch", 0),
		.weights = text_or(json, "weights", "", arena),
	};
	sgd->runs = ARENA_ARRAY(arena, (size_t)cJSON_GetArraySize(runs) + 1, struct report_run);
	cJSON_ArrayForEach (item, runs) {
		sgd->runs[sgd->run_count++] = (struct report_run){
			.name = text_or(item, "name", "", arena),
			.learners = json_int(item, "learners", 0),
			.steps_per_second = json_number(item, "steps_per_second", 0),
			.efficiency = json_number(item, "efficiency", 0),
			.communication = json_number(item, "communication_share", 0),
			.loss = json_number(item, "loss", 0),
			.right = json_number(item, "test_right", 0),
		};
	}
}

static void read_expected(const cJSON *json, struct arena *arena, struct report_expected *expected)
{
	if (!cJSON_IsObject(json))
		return;
	*expected = (struct report_expected){
		.busbw = json_number(json, "busbw", 0),
		.percent = json_number(json, "percent", 0),
		.because = text_or(json, "because", "", arena),
		.source = text_or(json, "source", "", arena),
	};
}

int report_from_json(const cJSON *json, struct arena *arena, struct report *report,
		     struct error *err)
{
	*report = (struct report){
		.verdict = json_text(json, "verdict", arena),
		.reason = text_or(json, "reason", "", arena),
		.backend = text_or(json, "backend", "", arena),
		.library = text_or(cJSON_GetArrayItem(json_member(json, "ranks"), 0), "library", "",
				   arena),
		.library_file = text_or(json, "library_file", "", arena),
		.collective = text_or(json, "collective", "all_reduce", arena),
		.launcher = text_or(json, "launcher", "", arena),
		.world = json_int(json, "world", 0),
	};
	if (!report->verdict)
		return error_set(err, ERROR_FAILED, "the worker's report has no verdict");
	read_rows(json_member(json, "results"), arena, report);
	read_ranks(json_member(json, "ranks"), arena, report);
	read_pairs(json_member(json, "pairs"), arena, &report->pairs);
	read_sgd(json_member(json, "sgd"), arena, &report->sgd);
	read_expected(json_member(json, "expected"), arena, &report->expected);
	return 0;
}

double report_peak(const struct report *report)
{
	double peak = 0;

	for (size_t i = 0; i < report->row_count; i++)
		if (report->rows[i].busbw > peak)
			peak = report->rows[i].busbw;
	return peak;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t report_hosts(const struct report *report)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char **names = ARENA_ARRAY(&arena, report->rank_count + 1, const char *);
	size_t count = 0;

	for (size_t i = 0; i < report->rank_count; i++)
		names[i] = report->ranks[i].host;
	qsort(names, report->rank_count, sizeof(*names), by_name);
	for (size_t i = 0; i < report->rank_count; i++)
		count += !i || strcmp(names[i], names[i - 1]) != 0;
	return count;
}

/* --- what ringup knows better ---------------------------------------------------------------- */

static void report_put(cJSON *object, const char *name, cJSON *item)
{
	if (json_member(object, name))
		cJSON_ReplaceItemInObjectCaseSensitive(object, name, item);
	else
		cJSON_AddItemToObject(object, name, item);
}

/* Adds the name of the host on which the object's `rank` ran, if there is one. */
static void put_host(const struct report *report, cJSON *object)
{
	int rank = json_int(object, "rank", -1);

	for (size_t i = 0; cJSON_IsObject(object) && rank >= 0 && i < report->rank_count; i++)
		if (report->ranks[i].rank == rank) {
			report_put(object, "host", cJSON_CreateString(report->ranks[i].host));
			return;
		}
}

static void put_hosts(const struct report *report, cJSON *document)
{
	cJSON *pairs = cJSON_GetObjectItemCaseSensitive(document, "pairs"), *item;
	size_t i = 0;

	cJSON_ArrayForEach (item, json_member(document, "ranks")) {
		if (cJSON_IsObject(item) && i < report->rank_count)
			report_put(item, "host", cJSON_CreateString(report->ranks[i].host));
		i++;
	}
	cJSON_ArrayForEach (item, json_member(pairs, "findings"))
		put_host(report, item);
	put_host(report, cJSON_GetObjectItemCaseSensitive(document, "failure"));
}

static cJSON *expected_to_json(const struct report_expected *expected)
{
	cJSON *json;

	if (!expected->because)
		return cJSON_CreateNull();
	json = cJSON_CreateObject();
	if (expected->busbw > 0) {
		cJSON_AddNumberToObject(json, "busbw", expected->busbw);
		cJSON_AddNumberToObject(json, "percent", expected->percent);
	} else {
		cJSON_AddNullToObject(json, "busbw");
		cJSON_AddNullToObject(json, "percent");
	}
	cJSON_AddStringToObject(json, "because", expected->because);
	cJSON_AddStringToObject(json, "source", expected->source);
	return json;
}

static cJSON *notes_to_json(const char *const *notes)
{
	cJSON *list = cJSON_CreateArray();

	for (; notes && *notes; notes++)
		cJSON_AddItemToArray(list, cJSON_CreateString(*notes));
	return list;
}

void report_complete(const struct report *report, cJSON *document)
{
	if (!cJSON_IsObject(document))
		return;
	report_put(document, "schema", cJSON_CreateNumber(1));
	report_put(document, "verdict", cJSON_CreateString(report->verdict));
	report_put(document, "reason", cJSON_CreateString(report->reason));
	if (*report->launcher)
		report_put(document, "launcher", cJSON_CreateString(report->launcher));
	put_hosts(report, document);
	if (!cJSON_IsObject(json_member(document, "expected"))) /* else it is the worker's own */
		report_put(document, "expected", expected_to_json(&report->expected));
	report_put(document, "notes", notes_to_json(report->notes));
}
