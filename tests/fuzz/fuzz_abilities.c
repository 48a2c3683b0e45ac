/* SPDX-License-Identifier: MIT */
/* What an engine allows, as a host says it: it comes from a machine that we do not control. */
#include "tests/fuzz/fuzz.h"

#include "deployer/engine/engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const limits[] = {"memlock=-1", "nofile=1:2", "odd", NULL};
	static const char *const devices[] = {"/dev/infiniband", NULL};
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	struct container_wish wish = container_wish_empty;
	struct words left_out = WORDS_INIT(&arena);
	struct abilities can;

	abilities_parse(text, &arena, &can);
	fuzz_check(!*can.trust_folder || can.trust_folder[0] == '/');
	fuzz_check(can.last_capability >= 0 && can.last_capability < 64);
	wish.limits = limits;
	wish.devices = devices;
	wish.memory = wish.cpus = "1";
	wish.privileged = true;
	wish.can = &can;
	abilities_trim(&can, &wish, &left_out);
	fuzz_check(left_out.count % 2 == 0 && wish.limits);
	for (const struct engine *const *e = engines; *e; e++) {
		struct words out = WORDS_INIT(&arena);

		if ((*e)->run)
			(*e)->run(&wish, &out);
	}
	return 0;
}
