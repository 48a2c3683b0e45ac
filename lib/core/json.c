/* SPDX-License-Identifier: MIT */
#include "core/json.h"

#include "core/file.h"
#include "core/foreign.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void json_free(cJSON **json)
{
	cJSON_Delete(*json);
	*json = NULL;
}

/* The first "\\u0000" in the text, or NULL. A backslash before it may be quoted itself. */
static const char *json_nul(const char *text, size_t length)
{
	const char *end = text + length;

	for (const char *p = text; (p = memchr(p, '\\', (size_t)(end - p))); p += 2) {
		if (end - p >= 6 && memcmp(p, "\\u0000", 6) == 0)
			return p;
		if (end - p < 2)
			break;
	}
	return NULL;
}

static int json_refuse(const char *text, const char *at, const char *what, const char *why,
		       struct error *err)
{
	int line = 1;

	for (const char *p = text; p < at; p++)
		line += *p == '\n';
	return error_set(err, ERROR_FAILED, "%s %s (line %d)", what, why, line);
}

int json_parse(const char *text, size_t length, const char *what, cJSON **json, struct error *err)
{
	/* cJSON before 1.7.18 reads a byte behind the end of some texts: CVE-2023-53154 */
	_cleanup_(free_pointer) char *copy = xmalloc(length + 1);
	const char *end = copy, *nul;

	if (length)
		memcpy(copy, text, length);
	copy[length] = '\0';
	*json = NULL;
	nul = memchr(copy, '\0', length);
	if (!nul) {
		foreign_make_utf8(copy);
		*json = cJSON_ParseWithLengthOpts(copy, length, &end, false);
		nul = json_nul(copy, length);
	}
	while (*json && *end && strchr(" \t\r\n", *end))
		end++;
	if (*json && !*end && !nul)
		return 0;
	if (!*json || *end)
		nul = memchr(copy, '\0', length);
	json_free(json);
	return nul ? json_refuse(copy, nul, what, "holds a NUL, which no text can hold", err)
		   : json_refuse(copy, end, what, "is not valid JSON", err);
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

int json_read_input(const char *path, cJSON **json, struct error *err)
{
	return json_read(path, json, err) < 0 ? error_of_input(err) : 0;
}

static int json_by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *json_twice(const cJSON *object, struct arena *arena)
{
	size_t count = 0;
	const char **names;
	const cJSON *item;

	if (!cJSON_IsObject(object))
		return NULL;
	names = ARENA_ARRAY(arena, (size_t)cJSON_GetArraySize(object) + 1, const char *);
	cJSON_ArrayForEach (item, object)
		names[count++] = item->string;
	qsort(names, count, sizeof(*names), json_by_name);
	for (size_t i = 1; i < count; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			return names[i];
	return NULL;
}

int json_write(const char *path, const cJSON *json, mode_t mode, struct error *err)
{
	_cleanup_(free_pointer) char *text = cJSON_Print(json);
	_cleanup_(str_release) struct str line = {0};

	if (!text)
		oom();
	str_init_ceiling(&line, SIZE_MAX);
	foreign_add_json(&line, text);
	str_add_char(&line, '\n');
	return file_write(path, line.text, line.length, mode, err);
}

static bool json_printed;

bool json_was_printed(void)
{
	return json_printed;
}

void json_print(FILE *out, const cJSON *json)
{
	_cleanup_(free_pointer) char *text = cJSON_Print(json);
	_cleanup_(str_release) struct str line = {0};

	if (!text)
		oom();
	str_init_ceiling(&line, SIZE_MAX);
	foreign_add_json(&line, text);
	fprintf(out, "%s\n", line.text);
	json_printed |= out == stdout;
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

double json_measure(const cJSON *object, const char *name)
{
	double number = json_number(object, name, 0);

	return isfinite(number) && number > 0 ? number : 0;
}

const char *json_line(const cJSON *object, const char *name, size_t most, struct arena *arena)
{
	const cJSON *member = json_member(object, name);

	if (!cJSON_IsString(member))
		return "";
	return foreign_clean_line(
		arena_strndup(arena, member->valuestring, strnlen(member->valuestring, most)));
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
