/* SPDX-License-Identifier: MIT */
/* Requirements and the order of versions: two versions and a requirement, one on each line. */
#include "tests/fuzz/fuzz.h"

#include "plan/version.h"

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

/* A copy of its own, so that a read past its end is seen. */
static char *own(const char *text)
{
	return fuzz_text((const uint8_t *)text, strlen(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *all = fuzz_text(data, size), *a = NULL, *b = NULL;
	char *rest = all, *first = strsep(&rest, "\n"),
	     *second = rest ? strsep(&rest, "\n") : first;
	struct requirement req;
	struct error err = {0};
	int rc;

	a = own(first);
	b = own(second);
	fuzz_check(version_compare(a, a) == 0);
	fuzz_check(sign(version_compare(a, b)) == -sign(version_compare(b, a)));
	rc = requirement_parse(rest ? rest : first, &arena, &req, &err);
	fuzz_check_error(rc, &err);
	if (rc < 0)
		return 0;
	fuzz_check(req.name[0]);
	for (size_t i = 0; i < req.clause_count; i++)
		fuzz_check(req.clauses[i].version[0]);
	requirement_admits(&req, a);
	requirement_admits(&req, b);
	return 0;
}
