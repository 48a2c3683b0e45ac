/* SPDX-License-Identifier: MIT */
/* facts.json as --facts reads it: numbers that become integers can. */
#include "tests/fuzz/fuzz.h"

#include "plan/facts.h"
#include "resolver/links/link_notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	struct words notes = WORDS_INIT(&arena);
	struct error err = {0};
	const cJSON *item;

	if (json_read_input(fuzz_file(data, size), &json, &err) < 0) {
		fuzz_check(err.kind == ERROR_USAGE);
		return 0;
	}
	cJSON_ArrayForEach (item, json_member(json, "hosts")) {
		struct facts facts;
		int rc = facts_from_json(item, &arena, &facts, &err);

		fuzz_check_error(rc, &err);
		if (rc < 0)
			return 0;
		fuzz_check(facts.memory_bytes >= 0 && facts.memory_bytes <= 0x1p53);
		fuzz_check(facts.disk_free_bytes >= 0 && facts.disk_free_bytes <= 0x1p53);
		fuzz_check(facts.cpus >= 0 && facts.interface_mbit >= 0);
		link_notes(NULL, &facts, &notes);
	}
	return 0;
}
