/* SPDX-License-Identifier: MIT */
/* The documents that we read back: the worker's report, facts, and plans. */
#include "tests/fuzz/fuzz.h"

#include "plan/facts.h"
#include "plan/report.h"
#include "resolver/resolve.h"

/* What ringup puts into the document can be read back, and putting it in twice changes nothing.
 * (Compared as text: cJSON_Compare calls no document with two members of one name equal to itself.)
 */
static void try_report(cJSON *json, struct arena *arena)
{
	_cleanup_(free_pointer) char *first = NULL, *second = NULL;
	struct report report, again;
	struct error err = {0};
	int rc = report_from_json(json, arena, &report, &err);

	fuzz_check_error(rc, &err);
	if (rc < 0)
		return;
	report_hosts(&report);
	report_complete(&report, json);
	first = cJSON_PrintUnformatted(json);
	fuzz_check(report_from_json(json, arena, &again, &err) == 0);
	report_complete(&again, json);
	second = cJSON_PrintUnformatted(json);
	fuzz_check(strcmp(first, second) == 0);
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
	try_plan(json, &arena);
	try_facts(json, &arena);
	try_report(json, &arena);
	return 0;
}
