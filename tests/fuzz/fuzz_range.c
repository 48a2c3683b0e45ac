/* SPDX-License-Identifier: MIT */
/*
 * Range, Content-Range, OCI-Chunk-Min-Length and Retry-After headers: what is accepted can be counted
 * with, and written again.
 */
#include "tests/fuzz/fuzz.h"

#include "registry-client/limits.h"
#include "registry-client/http/range.h"
#include "registry-client/http/retry.h"

#include <stdio.h>

static void try_chunk_min(const char *text)
{
	uint64_t bytes, again;
	char written[32];

	if (!range_of_chunk_min(text, &bytes)) {
		fuzz_check(bytes == 0);
		return;
	}
	snprintf(written, sizeof(written), "%llu", (unsigned long long)bytes);
	fuzz_check(range_of_chunk_min(written, &again) && again == bytes);
}

static void try_retry_after(const char *text)
{
	uint64_t usec = 0;

	if (retry_after_usec(text, 1700000000, &usec))
		fuzz_check(usec <= RETRY_AFTER_SECONDS_MAX * 1000000ULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	struct content_range range, again;
	int64_t bytes = range_of_session(text);
	char written[96], total[32] = "*";

	try_chunk_min(text);
	try_retry_after(text);
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
