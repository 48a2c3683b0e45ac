/* SPDX-License-Identifier: MIT */
#include "upstream/apt.h"

#include "core/str.h"
#include "upstream/limits.h"

#include <stdio.h>
#include <string.h>

/* What is kept of one stanza. */
struct apt_stanza {
	char name[NAME_BYTES_MAX], version[VERSION_BYTES_MAX], architecture[16];
};

static void apt_copy(char *to, size_t room, const char *value, size_t length)
{
	if (length < room) /* what is too long is no package of ours */
		snprintf(to, room, "%.*s", (int)length, value);
}

static void apt_field(struct apt_stanza *s, const char *line, size_t length)
{
	const char *colon = memchr(line, ':', length), *value = colon ? colon + 1 : NULL;
	const char *end = line + length;
	size_t name = colon ? (size_t)(colon - line) : 0;

	if (!colon)
		return;
	while (value < end && *value == ' ')
		value++;
	while (end > value && (end[-1] == ' ' || end[-1] == '\r'))
		end--;
	if (name == 7 && memcmp(line, "Package", 7) == 0)
		apt_copy(s->name, sizeof(s->name), value, (size_t)(end - value));
	else if (name == 7 && memcmp(line, "Version", 7) == 0)
		apt_copy(s->version, sizeof(s->version), value, (size_t)(end - value));
	else if (name == 12 && memcmp(line, "Architecture", 12) == 0)
		apt_copy(s->architecture, sizeof(s->architecture), value, (size_t)(end - value));
}

static void apt_end_stanza(struct apt_stanza *s, struct package_list *list)
{
	if (strcmp(s->architecture, "amd64") == 0 || strcmp(s->architecture, "all") == 0)
		package_add(list, s->name, s->version);
	*s = (struct apt_stanza){.name = ""};
}

int apt_read(const char *text, size_t length, const char *what, struct package_list *list,
	     struct error *err)
{
	struct apt_stanza stanza = {.name = ""};
	const char *end = text + length;
	size_t stanzas = 0;

	for (const char *line = text, *next; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		next = stop ? stop + 1 : end;
		stop = stop ? stop : end;
		if (stop == line || (stop == line + 1 && *line == '\r')) {
			stanzas += *stanza.name != '\0';
			apt_end_stanza(&stanza, list);
		} else if (*line != ' ' && *line != '\t') {
			apt_field(&stanza, line, (size_t)(stop - line));
		}
		if (stanzas > PACKAGES_MAX)
			return error_set(err, ERROR_FAILED, "%.300s lists more than %d packages",
					 what, PACKAGES_MAX);
	}
	stanzas += *stanza.name != '\0';
	apt_end_stanza(&stanza, list);
	if (!stanzas)
		return error_set(err, ERROR_FAILED,
				 "%.300s lists no package; is it the index of an apt repository?",
				 what);
	return 0;
}
