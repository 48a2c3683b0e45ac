/* SPDX-License-Identifier: MIT */
/* Range and Content-Range headers: what is accepted can be counted with, and written again. */
#include "tests/fuzz/fuzz.h"

#include "registry-client/range.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	struct content_range range, again;
	int64_t bytes = range_of_session(text);
	char written[96], total[32] = "*";

	fuzz_check(bytes >= -1 && bytes != 1);
	if (bytes > 1) {
		snprintf(written, sizeof(written), "0-%lld", (long long)bytes - 1);
		fuzz_check(range_of_session(written) == bytes);
	}
	if (!range_of_content(text, &range))
		return 0;
	fuzz_check(range.from <= range.to && range.to < INT64_MAX);
	fuzz_check(range.total == -1 || range.total > (int64_t)range.to);
	if (range.total >= 0)
		snprintf(total, sizeof(total), "%lld", (long long)range.total);
	snprintf(written, sizeof(written), "bytes %llu-%llu/%s", (unsigned long long)range.from,
		 (unsigned long long)range.to, total);
	fuzz_check(range_of_content(written, &again));
	fuzz_check(again.from == range.from && again.to == range.to && again.total == range.total);
	return 0;
}
