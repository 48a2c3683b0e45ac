/* SPDX-License-Identifier: MIT */
/*
 * A job's output: whatever it is, it costs a bounded amount, what comes back can be shown on a terminal,
 * and it is the same whether lines come one at a time or together. The table itself is read from the same
 * bytes: what it accepts is fed with them.
 */
#include "tests/fuzz/fuzz.h"

#include "core/foreign.h"
#include "deployer/diagnosis/diagnosis.h"

static void check_shown(const char *text)
{
	_cleanup_(free_pointer) char *copy = xmalloc(strlen(text) + 1);

	memcpy(copy, text, strlen(text) + 1);
	fuzz_check(strcmp(foreign_clean_line(copy), text) == 0);
}

static size_t check_best(const struct diagnosing *job, struct diagnosis best[DIAGNOSIS_BEST])
{
	size_t count = diagnosing_best(job, best);

	fuzz_check(count <= DIAGNOSIS_BEST);
	for (size_t i = 0; i < count; i++) {
		fuzz_check(*best[i].id && strlen(best[i].line) <= 300);
		check_shown(best[i].line);
		check_shown(best[i].host);
	}
	return count;
}

static void feed_lines(struct diagnosing *job, const char *text, size_t size)
{
	for (const char *end = text + size, *stop; text < end; text = stop + 1) {
		stop = memchr(text, '\n', (size_t)(end - text));
		stop = stop ? stop : end;
		diagnosing_feed(job, "h\033", 1, text, (size_t)(stop - text));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena kept = ARENA_INIT;
	static const struct diagnoses *table;
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct diagnosis together[DIAGNOSIS_BEST], apart[DIAGNOSIS_BEST];
	_cleanup_(free_pointer) char *text = fuzz_text(data, size), *bytes = xmalloc(size + 1);
	const struct diagnoses *own;
	struct error err = {0};
	struct diagnosing *job, *other;
	int rc;

	if (!table) {
		setenv("RINGUP_SHARE", ".", 1); /* it is started in the source tree */
		fuzz_check(diagnoses_load(&kept, &table, &err) == 0);
	}
	if (size)
		memcpy(bytes, data, size);
	job = diagnosing_new(table, &arena);
	other = diagnosing_new(table, &arena);
	diagnosing_feed(job, "h\033", 1, bytes, size);
	feed_lines(other, bytes, size);
	fuzz_check(check_best(job, together) == check_best(other, apart));
	for (size_t i = 0; i < diagnosing_best(job, together); i++)
		fuzz_check(strcmp(together[i].id, apart[i].id) == 0 &&
			   strcmp(together[i].cause, apart[i].cause) == 0);
	diagnosing_status(job, NULL, 0, size ? data[0] : 0);
	rc = diagnoses_parse("t", text, size, &arena, &own, &err);
	fuzz_check_error(rc, &err);
	if (rc < 0)
		return 0;
	job = diagnosing_new(own, &arena);
	diagnosing_feed(job, NULL, 0, bytes, size);
	check_best(job, together);
	return 0;
}
