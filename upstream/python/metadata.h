/* SPDX-License-Identifier: MIT */
/*
 * metadata.h - the METADATA file of a Python package: what it needs.
 *
 * Source: PyPA specifications, "Core metadata": headers as in mail, `Requires-Dist: NAME (==V) ; MARKER`.
 */
#ifndef UPSTREAM_PYTHON_METADATA_H
#define UPSTREAM_PYTHON_METADATA_H

#include "core/arena.h"
#include "core/error.h"

/* One Requires-Dist. */
struct metadata_need {
	const char *name;    /* normalised: "nvidia-cudnn-cu12" */
	const char *clauses; /* "==9.26.0.51" or "<10.0,>=9.3.0.75", without blanks; "" for any */
	const char *marker;  /* "" for always */
};

struct metadata {
	const char *name;    /* normalised */
	const char *version; /* without its local part ("+cu126") */
	size_t count;
	struct metadata_need *needs;
};

/* `what` names the file in errors. Other headers, and everything behind the first empty line, are skipped. */
int metadata_parse(const char *text, size_t length, const char *what, struct arena *arena,
		   struct metadata *metadata, struct error *err);

/*
 * The need of the package with this name that holds on Linux of x86_64 with the extra, or NULL. An
 * extra of "" is for those that hold without one.
 */
const struct metadata_need *metadata_need(const struct metadata *metadata, const char *name,
					  const char *extra);

/* The version of the clause "==V" or "==V.*" in the arena, or "" when the clauses fix none. */
const char *metadata_pin(const struct metadata_need *need, struct arena *arena);
/* The version of the clause ">=V", or of the pin, or "". */
const char *metadata_least(const struct metadata_need *need, struct arena *arena);

/*
 * A name of letters, digits, '.', '-' and '_' in its normal form (PEP 503): small, with '-' for each
 * run of the others. NULL when it is not such a name, or too long.
 */
const char *package_name(const char *text, size_t length, struct arena *arena);

/* Whether it is the version of a release: numbers with dots between, nothing else (no rc, dev, local). */
bool package_is_release(const char *version);

#endif
