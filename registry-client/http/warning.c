/* SPDX-License-Identifier: MIT */
#include "registry-client/http/warning.h"

#include "core/log.h"
#include "core/str.h"
#include "registry-client/http/session.h"
#include "registry-client/http/url.h"

#include <string.h>

bool warning_text(const char *value, char text[static REGISTRY_TEXT_MAX])
{
	static const char begin[] = "299 - \"";
	size_t length = 0;
	const char *p;

	if (!starts_with(value, begin))
		return false;
	for (p = value + strlen(begin); *p && *p != '"'; p++) {
		if (*p == '\\' && p[1])
			p++;
		if (length + 1 < REGISTRY_TEXT_MAX)
			text[length++] = (unsigned char)*p < ' ' || *p == 127 ? ' ' : *p;
	}
	text[length] = '\0';
	return *p == '"' && length > 0;
}

static bool is_new(struct registry *registry, const char *text)
{
	for (size_t i = 0; i < registry->warning_count; i++)
		if (strcmp(registry->warnings[i], text) == 0)
			return false;
	if (registry->warning_count == WARNINGS_MAX)
		return false;
	registry->warnings[registry->warning_count++] = arena_strdup(&registry->arena, text);
	return true;
}

void warning_show(struct registry *registry, const struct exchange *x)
{
	char text[REGISTRY_TEXT_MAX];
	const char *value;

	if (!url_same_origin(registry->base, x->url.text))
		return;
	for (size_t i = 0; (value = exchange_header_at(x, "Warning", i)); i++)
		if (warning_text(value, text) && is_new(registry, text))
			log_warn("registry %s says: %s", registry->address, text);
}
