/* SPDX-License-Identifier: MIT */
/* Conditions of findings: the text on the first line, facts of a host behind it. */
#include "tests/fuzz/fuzz.h"

#include "deployer/doctor/condition.h"
#include "deployer/remote.h"

struct fuzz_lines {
	const char *text;
	struct arena *arena;
};

static const char *fuzz_value(const void *arg, const char *name)
{
	const struct fuzz_lines *lines = arg;

	return remote_value(lines->text, name, lines->arena);
}

static bool fuzz_differs(const void *arg, const char *name)
{
	return !*fuzz_value(arg, name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	char *facts = strchr(text, '\n');
	struct fuzz_lines lines = {facts ? facts + 1 : "", &arena};
	struct condition_world world = {fuzz_value, fuzz_differs, &lines};
	struct condition *condition, *opposite;
	struct error err = {0};
	int rc;

	if (facts)
		*facts = '\0';
	rc = condition_parse(text, NULL, &arena, &condition, &err);
	fuzz_check_error(rc, &err);
	if (rc < 0)
		return 0;
	if (condition_parse(arena_printf(&arena, "not (%s)", text), NULL, &arena, &opposite,
			    &err) == 0)
		fuzz_check(condition_holds(condition, &world) != condition_holds(opposite, &world));
	return 0;
}
