/* SPDX-License-Identifier: MIT */
#include "plan/report.h"

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

int report_from_json(const cJSON *json, struct arena *arena, struct report *report,
		     struct error *err)
{
	const cJSON *ranks = json_member(json, "ranks"), *item;

	*report = (struct report){
		.verdict = json_text(json, "verdict", arena),
		.reason = text_or(json, "reason", "", arena),
		.backend = text_or(json, "backend", "", arena),
		.launcher = text_or(json, "launcher", "", arena),
		.world = json_int(json, "world", 0),
	};
	if (!report->verdict)
		return error_set(err, ERROR_FAILED, "the worker's report has no verdict");
	read_rows(json_member(json, "results"), arena, report);
	report->ranks =
		ARENA_ARRAY(arena, (size_t)cJSON_GetArraySize(ranks) + 1, struct report_rank);
	cJSON_ArrayForEach (item, ranks) {
		report->ranks[report->rank_count++] = (struct report_rank){
			.rank = json_int(item, "rank", -1),
			.host = text_or(item, "host", "", arena),
		};
	}
	return 0;
}

cJSON *report_to_json(const struct report *report)
{
	cJSON *json = json_document(), *list;

	cJSON_AddStringToObject(json, "verdict", report->verdict);
	cJSON_AddStringToObject(json, "reason", report->reason);
	cJSON_AddStringToObject(json, "backend", report->backend);
	cJSON_AddStringToObject(json, "launcher", report->launcher);
	cJSON_AddNumberToObject(json, "world", report->world);
	list = cJSON_AddArrayToObject(json, "results");
	for (size_t i = 0; i < report->row_count; i++) {
		const struct report_row *row = &report->rows[i];
		cJSON *item = cJSON_CreateObject();

		cJSON_AddNumberToObject(item, "bytes", row->bytes);
		cJSON_AddStringToObject(item, "type", row->type);
		cJSON_AddStringToObject(item, "op", row->op);
		cJSON_AddBoolToObject(item, "inplace", row->inplace);
		cJSON_AddNumberToObject(item, "usec", row->usec);
		cJSON_AddNumberToObject(item, "algbw", row->algbw);
		cJSON_AddNumberToObject(item, "busbw", row->busbw);
		cJSON_AddNumberToObject(item, "wrong", row->wrong);
		cJSON_AddItemToArray(list, item);
	}
	list = cJSON_AddArrayToObject(json, "ranks");
	for (size_t i = 0; i < report->rank_count; i++) {
		cJSON *item = cJSON_CreateObject();

		cJSON_AddNumberToObject(item, "rank", report->ranks[i].rank);
		cJSON_AddStringToObject(item, "host", report->ranks[i].host);
		cJSON_AddItemToArray(list, item);
	}
	return json;
}
