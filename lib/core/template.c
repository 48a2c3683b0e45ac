/* SPDX-License-Identifier: MIT */
#include "core/template.h"

#include <string.h>

static const char *template_find(const struct template_value *values, const char *name,
				 size_t length)
{
	for (; values->name; values++)
		if (strncmp(values->name, name, length) == 0 && !values->name[length])
			return values->value;
	return NULL;
}

int template_expand(const char *file, int first_line, const char *text,
		    const struct template_value *values, struct str *out, struct error *err)
{
	int line = first_line;

	for (const char *p = text; *p; p++) {
		const char *end, *value;

		if (starts_with(p, "$${")) {
			str_add(out, "${");
			p += 2;
			continue;
		}
		if (!starts_with(p, "${")) {
			line += *p == '\n';
			str_add_char(out, *p);
			continue;
		}
		end = strchr(p, '}');
		if (!end)
			return error_set(err, ERROR_USAGE, "%s:%d: '${' without '}'", file, line);
		value = template_find(values, p + 2, (size_t)(end - p - 2));
		if (!value)
			return error_set(err, ERROR_USAGE, "%s:%d: nothing is known as '%.*s'",
					 file, line, (int)(end - p - 2), p + 2);
		str_add(out, value);
		p = end;
	}
	return 0;
}
