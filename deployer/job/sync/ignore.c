/* SPDX-License-Identifier: MIT */
#include "deployer/job/sync/ignore.h"

#include "core/file.h"
#include "core/words.h"

#include <fnmatch.h>
#include <string.h>

#define IGNORE_CEILING_BYTES (1 * MIB)

struct ignore_rule {
	struct words parts; /* between the slashes; "**" stands for any number of folders */
	bool is_anchored;   /* else it is one part, for the last of the path */
	bool only_folders, takes_back;
};

static const char FIRST_PATTERNS[] = ".git\n__pycache__/\n";

/* What no pattern takes back, in any folder. */
static const char *const never[] = {".ringup", ".ringup-sync", NULL};

/* Cuts line ends and spaces off the end; a backslash keeps a space. */
static void ignore_trim(char *line)
{
	size_t length = strlen(line);

	while (length && (line[length - 1] == '\r' || line[length - 1] == ' ') &&
	       !(length > 1 && line[length - 2] == '\\'))
		line[--length] = '\0';
}

static void ignore_add_rule(struct ignore *ignore, const struct ignore_rule *rule)
{
	if (ignore->count == ignore->capacity) {
		size_t capacity = ignore->capacity ? ignore->capacity * 2 : 16;
		struct ignore_rule *rules =
			ARENA_ARRAY(ignore->arena, capacity, struct ignore_rule);

		if (ignore->count)
			memcpy(rules, ignore->rules, ignore->count * sizeof(*rules));
		ignore->rules = rules;
		ignore->capacity = capacity;
	}
	ignore->rules[ignore->count++] = *rule;
}

static void ignore_add_line(struct ignore *ignore, char *line)
{
	struct ignore_rule rule = {.parts = WORDS_INIT(ignore->arena)};
	size_t length;
	char *part;

	ignore_trim(line);
	if (*line == '#')
		return;
	rule.takes_back = *line == '!';
	line += rule.takes_back;
	length = strlen(line);
	rule.only_folders = length && line[length - 1] == '/';
	while (length && line[length - 1] == '/')
		line[--length] = '\0';
	rule.is_anchored = strchr(line, '/');
	while ((part = strsep(&line, "/")))
		if (*part)
			words_add(&rule.parts, part);
	if (rule.parts.count)
		ignore_add_rule(ignore, &rule);
}

void ignore_add(struct ignore *ignore, const char *text)
{
	char *lines = arena_strdup(ignore->arena, text), *line;

	while ((line = strsep(&lines, "\n")))
		ignore_add_line(ignore, line);
}

void ignore_init(struct ignore *ignore, struct arena *arena)
{
	*ignore = (struct ignore){.arena = arena};
	ignore_add(ignore, FIRST_PATTERNS);
}

int ignore_load(struct ignore *ignore, const char *folder, struct error *err)
{
	const char *path = arena_printf(ignore->arena, "%s/" IGNORE_FILE, folder);
	char *text;

	if (!file_exists(path))
		return 0;
	if (file_read(path, IGNORE_CEILING_BYTES, ignore->arena, &text, NULL, err) < 0)
		return -1;
	ignore_add(ignore, text);
	return 0;
}

static const char *ignore_next(const char *path)
{
	path += strcspn(path, "/");
	return path + (*path == '/');
}

/* Whether one part of a pattern fits the first part of the path. */
static bool ignore_fits_part(const char *pattern, const char *path)
{
	size_t length = strcspn(path, "/");
	char name[256];

	if (length >= sizeof(name))
		return false;
	memcpy(name, path, length);
	name[length] = '\0';
	return fnmatch(pattern, name, 0) == 0;
}

/* As for '*' in a name: only the last "**" is tried again, so the time is bounded. */
static bool ignore_fits_path(const char *const *part, const char *path)
{
	const char *const *after = NULL; /* the part behind the last "**" */
	const char *from = NULL;	 /* and where it was tried last */

	while (*path) {
		if (*part && strcmp(*part, "**") == 0) {
			after = ++part;
			from = path;
		} else if (*part && ignore_fits_part(*part, path)) {
			part++;
			path = ignore_next(path);
		} else if (after) {
			from = ignore_next(from);
			path = from;
			part = after;
		} else {
			return false;
		}
	}
	return !*part;
}

bool ignore_has(const struct ignore *ignore, const char *path, bool is_folder)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (const char *const *word = never; *word; word++)
		if (strcmp(name, *word) == 0)
			return true;
	for (size_t i = ignore->count; i-- > 0;) {
		const struct ignore_rule *rule = &ignore->rules[i];

		if (rule->only_folders && !is_folder)
			continue;
		if (ignore_fits_path(rule->parts.list, rule->is_anchored ? path : name))
			return !rule->takes_back;
	}
	return false;
}
