/* SPDX-License-Identifier: MIT */
/* The documents that we read back: the worker's report, facts, and plans. */
#include "tests/fuzz/fuzz.h"

#include "plan/facts.h"
#include "plan/report.h"
#include "plan/resolve.h"

static void try_report(const cJSON *json, struct arena *arena)
{
	_cleanup_(json_free) cJSON *first = NULL, *second = NULL;
	struct report report, again;
	struct error err = {0};
	int rc = report_from_json(json, arena, &report, &err);

	fuzz_check_error(rc, &err);
	if (rc < 0)
		return;
	first = report_to_json(&report);
	fuzz_check(report_from_json(first, arena, &again, &err) == 0);
	second = report_to_json(&again);
	fuzz_check(cJSON_Compare(first, second, true));
}

static void try_plan(const cJSON *json, struct arena *arena)
{
	_cleanup_(json_free) cJSON *again = NULL;
	struct plan plan;
	struct error err = {0};
	int rc = plan_from_json(json, arena, &plan, &err);

	fuzz_check_error(rc, &err);
	if (rc == 0)
		again = plan_to_json(&plan);
}

static void try_facts(const cJSON *json, struct arena *arena)
{
	_cleanup_(json_free) cJSON *again = NULL;
	struct facts facts;
	struct error err = {0};
	int rc = facts_from_json(json, arena, &facts, &err);

	fuzz_check_error(rc, &err);
	if (rc == 0)
		again = facts_to_json(&facts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	struct error err = {0};
	int rc = json_parse((const char *)data, size, "document", &json, &err);

	fuzz_check_error(rc, &err);
	if (rc < 0)
		return 0;
	try_report(json, &arena);
	try_plan(json, &arena);
	try_facts(json, &arena);
	return 0;
}
