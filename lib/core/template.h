/* SPDX-License-Identifier: MIT */
/*
 * template.h - text with ${name} in it.
 *
 * "$${" stands for a literal "${". Other dollar signs are left alone, so shell text passes through.
 */
#ifndef CORE_TEMPLATE_H
#define CORE_TEMPLATE_H

#include "core/error.h"
#include "core/str.h"

struct template_value {
	const char *name, *value; /* an array ends with name NULL */
};

/* Adds the expanded text. A name without a value is ERROR_USAGE, with `file` and the line. */
int template_expand(const char *file, int first_line, const char *text,
		    const struct template_value *values, struct str *out, struct error *err);

#endif
