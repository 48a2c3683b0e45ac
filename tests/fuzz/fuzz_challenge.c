/* SPDX-License-Identifier: MIT */
/* WWW-Authenticate headers of a registry. */
#include "tests/fuzz/fuzz.h"

#include "registry-client/login/challenge.h"

#define CHALLENGES_MAX 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	struct challenge list[CHALLENGES_MAX];
	size_t count = 0, length = 0;

	challenge_parse(text, &arena, list, CHALLENGES_MAX, &count);
	fuzz_check(count <= CHALLENGES_MAX);
	for (size_t i = 0; i < count; i++) {
		const struct challenge *c = &list[i];

		fuzz_check(c->scheme && c->scheme[0]);
		length += strlen(c->scheme);
		length += c->realm ? strlen(c->realm) : 0;
		length += c->service ? strlen(c->service) : 0;
		length += c->scope ? strlen(c->scope) : 0;
		length += c->error ? strlen(c->error) : 0;
	}
	fuzz_check(length <= strlen(text));
	return 0;
}
