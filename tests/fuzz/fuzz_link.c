/* SPDX-License-Identifier: MIT */
/* Link headers: what is found lies inside of the value and holds no '>'. */
#include "tests/fuzz/fuzz.h"

#include "registry-client/http/link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	size_t length = 0;
	const char *target = link_target(text, "next", &length);

	if (!target)
		return 0;
	fuzz_check(target > text && target + length < text + strlen(text));
	fuzz_check(target[-1] == '<' && target[length] == '>');
	fuzz_check(!memchr(target, '>', length));
	return 0;
}
