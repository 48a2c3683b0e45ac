/* SPDX-License-Identifier: MIT */
#include "core/json.h"

#include "core/file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void json_free(cJSON **json)
{
	cJSON_Delete(*json);
	*json = NULL;
}

int json_parse(const char *text, size_t length, const char *what, cJSON **json, struct error *err)
{
	/* cJSON before 1.7.18 reads a byte behind the end of some texts: CVE-2023-53154 */
	_cleanup_(free_pointer) char *copy = xmalloc(length + 1);
	const char *end = copy;
	int line = 1;

	if (length)
		memcpy(copy, text, length);
	copy[length] = '\0';
	*json = strlen(copy) == length ? cJSON_ParseWithLengthOpts(copy, length, &end, false)
				       : NULL;
	while (*json && *end && strchr(" \t\r\n", *end))
		end++;
	if (*json && !*end)
		return 0;
	for (const char *p = copy; p < end; p++)
		line += *p == '\n';
	json_free(json);
	return error_set(err, ERROR_FAILED, "%s is not valid JSON (line %d)", what, line);
}

int json_read(const char *path, cJSON **json, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	char *text;
	size_t length;

	if (file_read(path, FILE_CEILING_BYTES, &arena, &text, &length, err) < 0)
		return -1;
	return json_parse(text, length, path, json, err);
}

int json_write(const char *path, const cJSON *json, mode_t mode, struct error *err)
{
	_cleanup_(free_pointer) char *text = cJSON_Print(json);
	_cleanup_(str_release) struct str line = STR_INIT;

	if (!text)
		oom();
	str_add(&line, text);
	str_add_char(&line, '\n');
	return file_write(path, line.text, line.length, mode, err);
}

void json_print(FILE *out, const cJSON *json)
{
	_cleanup_(free_pointer) char *text = cJSON_Print(json);

	if (!text)
		oom();
	fprintf(out, "%s\n", text);
}

const cJSON *json_member(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

bool json_names_once(const cJSON *object, const char *const *names)
{
	for (; *names; names++) {
		const cJSON *item;
		int count = 0;

		cJSON_ArrayForEach (item, object)
			count += item->string && strcmp(item->string, *names) == 0;
		if (count > 1)
			return false;
	}
	return true;
}

const char *json_text(const cJSON *object, const char *name, struct arena *arena)
{
	const cJSON *member = json_member(object, name);

	return cJSON_IsString(member) ? arena_strdup(arena, member->valuestring) : NULL;
}

double json_number(const cJSON *object, const char *name, double otherwise)
{
	const cJSON *member = json_member(object, name);

	return cJSON_IsNumber(member) ? member->valuedouble : otherwise;
}

int json_int(const cJSON *object, const char *name, int otherwise)
{
	double number = json_number(object, name, otherwise);

	if (!(number > INT_MIN))
		return INT_MIN;
	return number < INT_MAX ? (int)number : INT_MAX;
}

bool json_bool(const cJSON *object, const char *name, bool otherwise)
{
	const cJSON *member = json_member(object, name);

	return cJSON_IsBool(member) ? cJSON_IsTrue(member) : otherwise;
}

cJSON *json_document(void)
{
	cJSON *json = cJSON_CreateObject();

	if (!json)
		oom();
	cJSON_AddNumberToObject(json, "schema", 1);
	return json;
}

void json_add_text(cJSON *object, const char *name, const char *text)
{
	if (text && *text)
		cJSON_AddStringToObject(object, name, text);
}
