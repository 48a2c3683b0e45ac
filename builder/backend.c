/* SPDX-License-Identifier: MIT */
#include "builder/backend.h"

#include "core/str.h"

#include <string.h>

#define X(name) extern const struct backend backend_##name;
#include "backend.list"
#undef X

const struct backend *const backends[] = {
#define X(name) &backend_##name,
#include "backend.list"
#undef X
	NULL};

static bool try(const struct backend *b, const struct build_target *target, struct arena *arena,
		const struct backend **backend, struct str *reasons)
{
	const char *why = "";

	if (b->available(b, target, arena, &why)) {
		*backend = b;
		return true;
	}
	str_addf(reasons, "%s%s: %s", reasons->length ? "; " : "", b->name, why);
	return false;
}

int backend_find(const char *name, const struct build_target *target, struct arena *arena,
		 const struct backend **backend, struct error *err)
{
	_cleanup_(str_release) struct str reasons = STR_INIT;
	bool any = strcmp(name, "auto") == 0;

	for (int rank = 0; rank <= BACKEND_RANK_MAX; rank++)
		for (const struct backend *const *b = backends; *b; b++) {
			if ((*b)->rank != rank ||
			    (any ? *target->docker_host && !(*b)->uses_docker_host
				 : strcmp(name, (*b)->name) != 0))
				continue;
			if (try(*b, target, arena, backend, &reasons))
				return 0;
		}
	if (!reasons.length) {
		for (const struct backend *const *b = backends; *b; b++)
			str_addf(&reasons, " %s", (*b)->name);
		return error_set(
			err, ERROR_USAGE,
			"build.engine: there is no build engine '%s'; known engines: auto%s", name,
			reasons.text);
	}
	return error_set(err, ERROR_FAILED, "no engine %s%s can build an image: %s",
			 target->on ? "of " : "here", target->on ? target->on->name : "",
			 reasons.text);
}
