/* SPDX-License-Identifier: MIT */
/* Whose a cluster is, as a host says it: it comes from a machine that we do not control. */
#include "tests/fuzz/fuzz.h"

#include "core/foreign.h"
#include "deployer/records/owner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	struct owner owner, again;

	owner_parse(text, "owner_", &arena, &owner);
	fuzz_check(!*owner.id || strlen(owner.id) == OWNER_ID_LENGTH);
	fuzz_check(!strchr(owner.user, '\n') && !strchr(owner.user, '\033'));
	fuzz_check(strlen(owner.folder) <= 300 * 4);
	owner_parse(owner_text(&owner, &arena), "", &arena, &again);
	fuzz_check(strcmp(again.id, owner.id) == 0);
	fuzz_check(strcmp(again.folder, owner.folder) == 0);
	return 0;
}
