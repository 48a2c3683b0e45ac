/* SPDX-License-Identifier: MIT */
#include "upstream/python/metadata.h"

#include "core/str.h"
#include "upstream/limits.h"
#include "upstream/python/marker.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char name_letters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

const char *package_name(const char *text, size_t length, struct arena *arena)
{
	char name[NAME_BYTES_MAX];
	size_t out = 0;

	if (!length || length >= sizeof(name) || !isalnum((unsigned char)text[0]))
		return NULL;
	for (size_t i = 0; i < length; i++) {
		if (!text[i] || !strchr(name_letters, text[i]))
			return NULL;
		if (!strchr("._-", text[i]))
			name[out++] = (char)tolower((unsigned char)text[i]);
		else if (name[out - 1] != '-')
			name[out++] = '-';
	}
	return arena_strndup(arena, name, out);
}

bool package_is_release(const char *version)
{
	size_t length = strlen(version);

	if (!length || length >= VERSION_BYTES_MAX || strspn(version, "0123456789.") != length)
		return false;
	return version[0] != '.' && version[length - 1] != '.' && !strstr(version, "..");
}

/* --- one need ------------------------------------------------------------------------------- */

/* "(<10.0, >=9.3)" without brackets and blanks; NULL when it has other characters. */
static const char *metadata_clauses(const char *text, size_t length, struct arena *arena)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	for (size_t i = 0; i < length; i++) {
		if (strchr(" \t()", text[i]))
			continue;
		if (!isalnum((unsigned char)text[i]) && !strchr("=!<>~,.*+-_", text[i]))
			return NULL;
		str_add_char(&out, text[i]);
	}
	return out.length < NAME_BYTES_MAX ? arena_strdup(arena, out.text) : NULL;
}

/* False: it is no requirement on a package of an index, for example NAME @ URL. */
static bool metadata_read_need(const char *text, size_t length, struct arena *arena,
			       struct metadata_need *need)
{
	const char *marker = memchr(text, ';', length), *behind;
	size_t head = marker ? (size_t)(marker - text) : length, name = 0;

	while (name < head && strchr(name_letters, text[name]))
		name++;
	need->name = package_name(text, name, arena);
	behind = text + name;
	while (behind < text + head && *behind == ' ')
		behind++;
	if (behind < text + head && *behind == '[') { /* extras of the other package */
		const char *end = memchr(behind, ']', (size_t)(text + head - behind));

		if (!end)
			return false;
		behind = end + 1;
	}
	need->clauses = metadata_clauses(behind, (size_t)(text + head - behind), arena);
	need->marker = marker ? arena_strndup(arena, marker + 1, length - head - 1) : "";
	return need->name && need->clauses;
}

/* --- the file ------------------------------------------------------------------------------- */

static void metadata_header(struct metadata *metadata, const char *line, size_t length,
			    struct arena *arena)
{
	static const char need[] = "Requires-Dist:", name[] = "Name:", version[] = "Version:";
	const char *colon = memchr(line, ':', length), *value, *end = line + length;

	if (!colon)
		return;
	for (value = colon + 1; value < end && (*value == ' ' || *value == '\t'); value++)
		;
	while (end > value && (end[-1] == ' ' || end[-1] == '\r'))
		end--;
	if (strncasecmp(line, need, sizeof(need) - 1) == 0) {
		if (metadata->count < METADATA_NEEDS_MAX &&
		    metadata_read_need(value, (size_t)(end - value), arena,
				       &metadata->needs[metadata->count]))
			metadata->count++;
	} else if (strncasecmp(line, name, sizeof(name) - 1) == 0) {
		metadata->name = package_name(value, (size_t)(end - value), arena);
	} else if (strncasecmp(line, version, sizeof(version) - 1) == 0) {
		const char *local = memchr(value, '+', (size_t)(end - value));

		metadata->version =
			arena_strndup(arena, value, (size_t)((local ? local : end) - value));
	}
}

static size_t metadata_count_lines(const char *text, size_t length)
{
	size_t count = 1;

	for (size_t i = 0; i < length; i++)
		count += text[i] == '\n';
	return count < METADATA_NEEDS_MAX ? count : METADATA_NEEDS_MAX;
}

int metadata_parse(const char *text, size_t length, const char *what, struct arena *arena,
		   struct metadata *metadata, struct error *err)
{
	const char *end = text + length;

	*metadata = (struct metadata){.name = NULL};
	if (memchr(text, '\0', length))
		return error_set(err, ERROR_FAILED, "%.300s holds a NUL, which no text can hold",
				 what);
	metadata->needs =
		ARENA_ARRAY(arena, metadata_count_lines(text, length) + 1, struct metadata_need);
	for (const char *line = text, *next; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		next = stop ? stop + 1 : end;
		stop = stop ? stop : end;
		if (stop == line || *line == '\r')
			break; /* the description follows */
		if (*line != ' ' && *line != '\t')
			metadata_header(metadata, line, (size_t)(stop - line), arena);
	}
	if (!metadata->name || !metadata->version || !package_is_release(metadata->version))
		return error_set(err, ERROR_FAILED,
				 "%.300s names no package and version of a release", what);
	return 0;
}

const struct metadata_need *metadata_need(const struct metadata *metadata, const char *name,
					  const char *extra)
{
	for (size_t i = 0; i < metadata->count; i++)
		if (strcmp(metadata->needs[i].name, name) == 0 &&
		    marker_holds(metadata->needs[i].marker, extra))
			return &metadata->needs[i];
	return NULL;
}

/* The version behind the sign in one of the clauses, without ".*"; "" when there is none. */
static const char *metadata_clause(const struct metadata_need *need, const char *sign,
				   struct arena *arena)
{
	const char *at = need->clauses;
	size_t width = strlen(sign);

	while (*at) {
		size_t length = strcspn(at, ",");

		if (strncmp(at, sign, width) == 0) {
			size_t start = width + (at[width] == '=');
			char *version;

			if (start > length)
				return "";
			version = arena_strndup(arena, at + start, length - start);
			if (ends_with(version, ".*"))
				version[strlen(version) - 2] = '\0';
			return package_is_release(version) ? version : "";
		}
		at += length + (at[length] == ',');
	}
	return "";
}

const char *metadata_pin(const struct metadata_need *need, struct arena *arena)
{
	return metadata_clause(need, "==", arena);
}

const char *metadata_least(const struct metadata_need *need, struct arena *arena)
{
	const char *pin = metadata_pin(need, arena);

	return *pin ? pin : metadata_clause(need, ">=", arena);
}
