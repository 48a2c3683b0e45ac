/* SPDX-License-Identifier: MIT */
/* Private key files, whoever wrote them: what is said of one is whole, and the same each time. */
#include "tests/fuzz/fuzz.h"

#include "deployer/ssh/keys/private_key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *path = fuzz_file(data, size);
	struct private_key first, second;

	private_key_look(path, &arena, &first);
	private_key_look(path, &arena, &second);
	fuzz_check(first.state == second.state && first.encrypted == second.encrypted);
	fuzz_check(strcmp(first.type, second.type) == 0);
	fuzz_check(first.state >= PRIVATE_KEY_EXPOSED || !*first.type);
	private_key_is_for_libssh2(first.type);
	return 0;
}
