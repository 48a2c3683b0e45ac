/* SPDX-License-Identifier: MIT */
#include "plan/pinned.h"

#include "core/digest.h"

#include <ctype.h>
#include <string.h>

/* Sources: Debian Policy 5.6.12, and rpm's tag EVR. */
#define VERSION_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_~^:"

const char *pin_find(const struct pin_list *pins, const char *name)
{
	for (size_t i = 0; i < pins->count; i++)
		if (strcmp(pins->list[i].name, name) == 0)
			return pins->list[i].value;
	return NULL;
}

bool pin_is_version(const char *text)
{
	size_t epoch = strspn(text, "0123456789");

	if (epoch && text[epoch] == ':')
		text += epoch + 1;
	return isalnum((unsigned char)*text) && strspn(text, VERSION_CHARACTERS) == strlen(text);
}

/* As clock_iso8601 writes it. */
static bool is_time(const char *text)
{
	static const char form[] = "0000-00-00T00:00:00Z";

	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
			return false;
	return true;
}

static void add_list(cJSON *json, const char *name, const struct pin_list *pins)
{
	cJSON *list = cJSON_AddObjectToObject(json, name);

	for (size_t i = 0; i < pins->count; i++)
		cJSON_AddStringToObject(list, pins->list[i].name, pins->list[i].value);
}

cJSON *pinned_to_json(const struct pinned *pinned)
{
	cJSON *json;

	if (!pinned->at)
		return NULL;
	json = cJSON_CreateObject();
	cJSON_AddStringToObject(json, "at", pinned->at);
	add_list(json, "packages", &pinned->packages);
	add_list(json, "images", &pinned->images);
	return json;
}

static int pinned_read_list(const cJSON *json, bool (*is_right)(const char *value),
			    struct arena *arena, struct pin_list *pins, struct error *err)
{
	const cJSON *item;

	if (json && !cJSON_IsObject(json))
		return error_set(err, ERROR_USAGE, "what is pinned must be names with texts");
	pins->list = ARENA_ARRAY(arena, (size_t)cJSON_GetArraySize(json) + 1, struct pin);
	cJSON_ArrayForEach (item, json) {
		struct pin *pin = &pins->list[pins->count];

		if (!cJSON_IsString(item) || !item->string || pins->count == PINNED_MAX)
			return error_set(err, ERROR_USAGE,
					 "what is pinned must be names with texts, %d at most",
					 PINNED_MAX);
		*pin = (struct pin){arena_strdup(arena, item->string),
				    arena_strdup(arena, item->valuestring)};
		if ((*pin->value && !is_right(pin->value)) || pin_find(pins, pin->name))
			return error_set(err, ERROR_USAGE,
					 "'%s' is pinned to '%s', which cannot be", pin->name,
					 pin->value);
		pins->count++;
	}
	return 0;
}

int pinned_from_json(const cJSON *json, struct arena *arena, struct pinned *pinned,
		     struct error *err)
{
	*pinned = (struct pinned){.at = json ? json_text(json, "at", arena) : NULL};
	if (!json)
		return 0;
	if (!pinned->at || !is_time(pinned->at))
		return error_set(err, ERROR_USAGE, "what is pinned has no time");
	if (pinned_read_list(json_member(json, "packages"), pin_is_version, arena,
			     &pinned->packages, err) < 0 ||
	    pinned_read_list(json_member(json, "images"), digest_is_valid, arena, &pinned->images,
			     err) < 0)
		return -1;
	return 0;
}
