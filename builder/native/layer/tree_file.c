/* SPDX-License-Identifier: MIT */
#include "builder/native/layer/tree_file.h"

#include "core/json.h"

#include <stdio.h>

#define TEXTS 3 /* of an entry */

int tree_save(const struct tree *tree, const char *path, struct error *err)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *list = cJSON_AddArrayToObject(json, "entries");
	char numbers[160];

	for (size_t i = 0; i < tree->count; i++) {
		const struct tree_entry *e = &tree->list[i];

		snprintf(numbers, sizeof(numbers), "%d %o %u %u %lld %llu %llu %d", e->type,
			 (unsigned)e->mode, (unsigned)e->uid, (unsigned)e->gid,
			 (long long)e->mtime_s, (unsigned long long)e->size_bytes,
			 (unsigned long long)e->device, e->opaque);
		cJSON_AddItemToArray(list, cJSON_CreateString(numbers));
		cJSON_AddItemToArray(list, cJSON_CreateString(e->path));
		cJSON_AddItemToArray(list, cJSON_CreateString(e->link ? e->link : ""));
	}
	return json_write(path, json, 0600, err);
}

static bool tree_file_parse(const char *numbers, struct tree_entry *e)
{
	unsigned long long size, device;
	unsigned type, mode, uid, gid, opaque;
	long long mtime;

	if (sscanf(numbers, "%u %o %u %u %lld %llu %llu %u", &type, &mode, &uid, &gid, &mtime,
		   &size, &device, &opaque) != 8 ||
	    type > TREE_WHITEOUT)
		return false;
	*e = (struct tree_entry){.type = (enum tree_type)type,
				 .mode = mode,
				 .uid = uid,
				 .gid = gid,
				 .mtime_s = mtime,
				 .size_bytes = size,
				 .device = device,
				 .opaque = opaque != 0};
	return true;
}

bool tree_load(struct tree *tree, const char *path, struct arena *arena)
{
	_cleanup_(json_free) cJSON *json = NULL;
	struct error ignored = {0};
	const cJSON *item, *list;
	size_t texts = 0;

	if (json_read(path, &json, &ignored) < 0)
		return false;
	list = json_member(json, "entries");
	tree->count = 0;
	tree->list =
		ARENA_ARRAY(arena, (size_t)cJSON_GetArraySize(list) / TEXTS + 1, struct tree_entry);
	cJSON_ArrayForEach (item, list) {
		struct tree_entry *e = &tree->list[tree->count];

		if (!cJSON_IsString(item))
			return false;
		if (texts == 0 && !tree_file_parse(item->valuestring, e))
			return false;
		if (texts == 1)
			e->path = arena_strdup(arena, item->valuestring);
		if (texts == 2 && *item->valuestring)
			e->link = arena_strdup(arena, item->valuestring);
		texts = (texts + 1) % TEXTS;
		tree->count += texts == 0;
	}
	return cJSON_IsArray(list) && texts == 0;
}
