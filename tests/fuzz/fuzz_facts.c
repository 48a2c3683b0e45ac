/* SPDX-License-Identifier: MIT */
/* What a host's probe prints: it comes from a machine that we do not control. */
#include "tests/fuzz/fuzz.h"

#include "plan/facts.h"
#include "resolver/links/link_notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size), *printed = NULL;
	_cleanup_(json_free) cJSON *json = NULL, *reread = NULL;
	struct words notes = WORDS_INIT(&arena);
	struct facts facts, again;
	struct error err = {0};
	const struct probe_span span = {1700000000, 1700000001};
	int rc = facts_parse("node01", text, &span, &arena, &facts, &err);

	fuzz_check_error(rc, &err);
	if (rc < 0)
		return 0;
	link_notes(NULL, &facts, &notes);
	json = facts_to_json(&facts);
	printed = cJSON_Print(json);
	fuzz_check(json_parse(printed, strlen(printed), "facts", &reread, &err) == 0);
	fuzz_check(facts_from_json(reread, &arena, &again, &err) == 0);
	fuzz_check(strcmp(again.kernel, facts.kernel) == 0);
	fuzz_check(strcmp(again.driver, facts.driver) == 0);
	fuzz_check(again.cpus == facts.cpus);
	return 0;
}
