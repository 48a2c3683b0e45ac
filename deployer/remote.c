/* SPDX-License-Identifier: MIT */
#include "deployer/remote.h"

#include "core/file.h"
#include "core/str.h"

#include <string.h>

#define SCRIPT_CEILING_BYTES (32 * KIB) /* the whole command goes in one SSH packet */

/* The script without its comment lines, which the host does not need. */
static const char *without_comments(const char *text, struct arena *arena)
{
	_cleanup_(str_release) struct str kept = STR_INIT;

	while (*text) {
		size_t length = strcspn(text, "\n");
		size_t blank = strspn(text, " \t");

		length += text[length] == '\n';
		if (text[blank] != '#' && text[blank] != '\n')
			str_add_bytes(&kept, text, length);
		text += length;
	}
	return arena_strdup(arena, kept.text);
}

int remote_script(const char *name, const char *const *arguments, struct words *words,
		  struct error *err)
{
	const char *path;
	char *text;

	if (share_path(words->arena, arena_printf(words->arena, "deployer/remote/%s.sh", name),
		       &path, err) < 0 ||
	    file_read(path, SCRIPT_CEILING_BYTES, words->arena, &text, NULL, err) < 0)
		return -1;
	words_add_all(words, WORDS("sh", "-c", without_comments(text, words->arena), name));
	words_add_all(words, arguments);
	return 0;
}

static int remote_add_folder(const char *relative, struct arena *arena, struct str *out,
			     struct error *err)
{
	const char *folder, **names;
	char *text;

	if (share_path(arena, relative, &folder, err) < 0 ||
	    folder_list(folder, ".sh", arena, &names, err) < 0)
		return -1;
	for (; *names; names++) {
		if (file_read(arena_printf(arena, "%s/%s", folder, *names), SCRIPT_CEILING_BYTES,
			      arena, &text, NULL, err) < 0)
			return -1;
		str_add(out, without_comments(text, arena));
	}
	return 0;
}

int remote_sections(const char *name, bool details, const char *const *arguments,
		    struct words *words, const char **input, struct error *err)
{
	_cleanup_(str_release) struct str script = STR_INIT;
	struct arena *arena = words->arena;

	/* the shell reads the whole group before it runs any of it, and no program eats the rest */
	str_add(&script, "{\n");
	if (remote_add_folder(arena_printf(arena, "deployer/remote/%s", name), arena, &script,
			      err) < 0 ||
	    (details && remote_add_folder(arena_printf(arena, "deployer/remote/%s/details", name),
					  arena, &script, err) < 0))
		return -1;
	str_add(&script, "} </dev/null\nexit 0\n");
	*input = arena_strdup(arena, script.text);
	words_add_all(words, WORDS("sh", "-s", "--"));
	words_add_all(words, arguments);
	return 0;
}

const char *remote_value(const char *text, const char *key, struct arena *arena)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, length) == 0 && line[length] == '=')
			return arena_strndup(arena, line + length + 1,
					     strcspn(line + length + 1, "\n"));
	}
	return "";
}
