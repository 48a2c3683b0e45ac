/* SPDX-License-Identifier: MIT */
#include "builder/native/image_config.h"

#include "core/words.h"
#include "oci/normalise.h"

#include <stdio.h>
#include <string.h>

cJSON *image_config_new(const char *architecture)
{
	cJSON *config = cJSON_CreateObject(), *rootfs;

	cJSON_AddStringToObject(config, "created", "");
	cJSON_AddStringToObject(config, "architecture", architecture);
	cJSON_AddStringToObject(config, "os", "linux");
	cJSON_AddObjectToObject(config, "config");
	rootfs = cJSON_AddObjectToObject(config, "rootfs");
	cJSON_AddStringToObject(rootfs, "type", "layers");
	cJSON_AddArrayToObject(rootfs, "diff_ids");
	cJSON_AddArrayToObject(config, "history");
	return config;
}

/* The member, made when missing or of another type. */
static cJSON *object_of(cJSON *parent, const char *name, bool is_list)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(parent, name);

	if (item && (is_list ? cJSON_IsArray(item) : cJSON_IsObject(item)))
		return item;
	cJSON_DeleteItemFromObjectCaseSensitive(parent, name);
	return is_list ? cJSON_AddArrayToObject(parent, name)
		       : cJSON_AddObjectToObject(parent, name);
}

static cJSON *settings(cJSON *config)
{
	return object_of(config, "config", false);
}

static const cJSON *setting(const cJSON *config, const char *name)
{
	return json_member(json_member(config, "config"), name);
}

static void image_config_set(cJSON *object, const char *name, cJSON *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(object, name);
	cJSON_AddItemToObject(object, name, value);
}

int image_config_parse(const char *text, size_t length, const char *what, cJSON **config,
		       struct error *err)
{
	if (json_parse(text, length, what, config, err) < 0)
		return -1;
	if (!cJSON_IsObject(*config) ||
	    !cJSON_IsArray(json_member(json_member(*config, "rootfs"), "diff_ids")))
		return error_set(err, ERROR_FAILED, "%s is not an image's config", what);
	return 0;
}

static const char *env_value(const cJSON *item, const char *name)
{
	size_t length = strlen(name);

	if (!cJSON_IsString(item) || strncmp(item->valuestring, name, length) != 0 ||
	    item->valuestring[length] != '=')
		return NULL;
	return item->valuestring + length + 1;
}

const char *image_config_env(const cJSON *config, const char *name)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, setting(config, "Env")) {
		const char *value = env_value(item, name);

		if (value)
			return value;
	}
	return NULL;
}

void image_config_set_env(cJSON *config, const char *name, const char *value)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	cJSON *list = object_of(settings(config), "Env", true);
	cJSON *pair = cJSON_CreateString(arena_printf(&arena, "%s=%s", name, value));

	for (int i = 0; i < cJSON_GetArraySize(list); i++)
		if (env_value(cJSON_GetArrayItem(list, i), name)) {
			cJSON_ReplaceItemInArray(list, i, pair);
			return;
		}
	cJSON_AddItemToArray(list, pair);
}

static const char *const *strings(const cJSON *list, struct arena *arena)
{
	struct words words = WORDS_INIT(arena);
	const cJSON *item;

	cJSON_ArrayForEach (item, list)
		if (cJSON_IsString(item))
			words_add(&words, item->valuestring);
	return words.list;
}

const char *const *image_config_env_list(const cJSON *config, struct arena *arena)
{
	const char *const *list = strings(setting(config, "Env"), arena);

	return list ? list : ARENA_ARRAY(arena, 1, const char *);
}

const char *image_config_text(const cJSON *config, const char *name)
{
	const cJSON *item = setting(config, name);

	return cJSON_IsString(item) ? item->valuestring : "";
}

void image_config_set_text(cJSON *config, const char *name, const char *value)
{
	image_config_set(settings(config), name, cJSON_CreateString(value));
}

const char *const *image_config_list(const cJSON *config, const char *name, struct arena *arena)
{
	return strings(setting(config, name), arena);
}

void image_config_set_list(cJSON *config, const char *name, const char *const *words)
{
	cJSON *list = cJSON_CreateArray();

	for (; *words; words++)
		cJSON_AddItemToArray(list, cJSON_CreateString(*words));
	image_config_set(settings(config), name, list);
}

void image_config_drop(cJSON *config, const char *name)
{
	cJSON_DeleteItemFromObjectCaseSensitive(settings(config), name);
}

void image_config_add_key(cJSON *config, const char *name, const char *key)
{
	image_config_set(object_of(settings(config), name, false), key, cJSON_CreateObject());
}

void image_config_set_label(cJSON *config, const char *name, const char *value)
{
	image_config_set(object_of(settings(config), "Labels", false), name,
			 cJSON_CreateString(value));
}

static void image_config_add_one(cJSON *config, const char *created_by, bool has_layer,
				 int64_t created_s)
{
	cJSON *entry = cJSON_CreateObject();
	char created[40];

	config_time(created_s, created);
	cJSON_AddStringToObject(entry, "created", created);
	cJSON_AddStringToObject(entry, "created_by", created_by);
	if (!has_layer)
		cJSON_AddTrueToObject(entry, "empty_layer");
	cJSON_AddItemToArray(object_of(config, "history", true), entry);
}

void image_config_add_history(cJSON *config, const char *created_by, size_t layers,
			      int64_t created_s)
{
	image_config_add_one(config, created_by, layers > 0, created_s);
	for (size_t i = 1; i < layers; i++)
		image_config_add_one(config, created_by, true, created_s);
}

void image_config_add_diff_id(cJSON *config, const char *diff_id)
{
	cJSON *rootfs = object_of(config, "rootfs", false);

	cJSON_AddItemToArray(object_of(rootfs, "diff_ids", true), cJSON_CreateString(diff_id));
}

const char *image_config_write(cJSON *config, int64_t created_s, struct arena *arena)
{
	_cleanup_(free_pointer) char *text = NULL;

	config_normalise(config, created_s);
	/* an image without layers has an empty list of them */
	object_of(object_of(config, "rootfs", false), "diff_ids", true);
	text = cJSON_PrintUnformatted(config);
	if (!text)
		oom();
	return arena_strdup(arena, text);
}
