/* SPDX-License-Identifier: MIT */
#include "oci/history.h"

#include "core/arena.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "|2": the number of arguments; 0 when the word has another form. */
static long argument_count(const char *word)
{
	char *end;
	long count;

	if (word[0] != '|' || !isdigit((unsigned char)word[1]))
		return 0;
	count = strtol(word + 1, &end, 10);
	return (*end == ' ' || *end == '\0') && count > 0 && count < 10000 ? count : 0;
}

/* Whether the text begins with NAME= of a shell variable. */
static bool history_is_assignment(const char *text)
{
	size_t length =
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return length > 0 && !isdigit((unsigned char)text[0]) && text[length] == '=';
}

static bool is_named(const char *text, const char *const *names)
{
	for (; *names; names++) {
		size_t length = strlen(*names);

		if (strncmp(text, *names, length) == 0 && text[length] == '=')
			return true;
	}
	return false;
}

/*
 * Where the command begins. Values are not quoted and may hold spaces, so after `count` assignments
 * the first word that is a path or a bracket is taken for it; NULL when there is none.
 */
static const char *history_find_command(const char *text, long count, const char *const *names,
					bool *named)
{
	const char *shell = strstr(text, " /bin/sh -c ");

	for (const char *p = strchr(text, ' '); p; p = strchr(p, ' ')) {
		p++;
		if (history_is_assignment(p) && count > 0) {
			count--;
			*named = *named || is_named(p, names);
		} else if (count <= 0 && shell && p <= shell + 1) {
			return shell + 1;
		} else if (count <= 0 && (*p == '/' || *p == '[')) {
			return p;
		}
	}
	return NULL;
}

bool history_redact_text(const char *created_by, const char *const *names, struct str *out)
{
	const char *text = created_by, *command;
	bool named = false;
	long count;

	if (starts_with(text, "RUN "))
		text += 4;
	count = argument_count(text);
	if (!count)
		return false;
	command = history_find_command(text, count, names, &named);
	if (!named)
		return false;
	str_add_bytes(out, created_by, (size_t)(text - created_by));
	str_add(out, command ? command : "");
	return true;
}

static bool redact_entry(cJSON *entry, const char *const *names)
{
	cJSON *text = cJSON_GetObjectItemCaseSensitive(entry, "created_by");
	_cleanup_(str_release) struct str out = STR_INIT;

	if (!cJSON_IsString(text) || !history_redact_text(text->valuestring, names, &out))
		return false;
	if (!cJSON_ReplaceItemInObjectCaseSensitive(entry, "created_by",
						    cJSON_CreateString(out.text)))
		oom();
	return true;
}

/* ["|1", "NAME=value", "/bin/sh", "-c", ...] */
static bool redact_command(cJSON *words, const char *const *names)
{
	const cJSON *first = cJSON_GetArrayItem(words, 0);
	long count = cJSON_IsString(first) ? argument_count(first->valuestring) : 0;
	bool named = false;

	if (!count || cJSON_GetArraySize(words) <= count)
		return false;
	for (int i = 1; i <= (int)count; i++) {
		const cJSON *word = cJSON_GetArrayItem(words, i);

		named = named || (cJSON_IsString(word) && is_named(word->valuestring, names));
	}
	if (!named)
		return false;
	for (long i = 0; i <= count; i++)
		cJSON_DeleteItemFromArray(words, 0);
	return true;
}

bool history_redact(cJSON *config, const char *const *names)
{
	cJSON *entry, *command;
	bool changed = false;

	if (!names || !*names)
		return false;
	cJSON_ArrayForEach (entry, cJSON_GetObjectItemCaseSensitive(config, "history")) {
		changed = redact_entry(entry, names) || changed;
	}
	command = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(config, "container_config"), "Cmd");
	return redact_command(command, names) || changed;
}
