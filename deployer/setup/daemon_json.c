/* SPDX-License-Identifier: MIT */
#include "deployer/setup/daemon_json.h"

#include <stdlib.h>
#include <string.h>

struct merge {
	struct arena *arena;
	struct words *added, *kept;
};

static void merge_list(const struct merge *m, cJSON *list, const cJSON *wanted, const char *key)
{
	const cJSON *entry, *there;

	cJSON_ArrayForEach (entry, wanted) {
		bool found = false;

		cJSON_ArrayForEach (there, list)
			found |= cJSON_Compare(there, entry, true);
		if (found)
			continue;
		cJSON_AddItemToArray(list, cJSON_Duplicate(entry, true));
		words_add(m->added, key);
	}
}

/* `prefix` is what stands before the keys of this map: "log-opts." */
static void merge_map(const struct merge *m, cJSON *map, const cJSON *wanted, const char *prefix)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, wanted) {
		const char *key = arena_printf(m->arena, "%s%s", prefix, item->string);
		cJSON *there = cJSON_GetObjectItemCaseSensitive(map, item->string);

		if (!there) {
			cJSON_AddItemToObject(map, item->string, cJSON_Duplicate(item, true));
			words_add(m->added, key);
		} else if (cJSON_IsObject(there) && cJSON_IsObject(item)) {
			merge_map(m, there, item, arena_printf(m->arena, "%s.", key));
		} else if (cJSON_IsArray(there) && cJSON_IsArray(item)) {
			merge_list(m, there, item, key);
		} else if (!cJSON_Compare(there, item, true)) {
			words_add(m->kept, key);
		}
	}
}

int daemon_json_merge(const char *text, const cJSON *wanted, struct arena *arena,
		      const char **merged, struct words *added, struct words *kept,
		      struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	_cleanup_(free_pointer) char *printed = NULL;
	struct merge m = {arena, added, kept};
	size_t before = added->count;

	*merged = NULL;
	if (!text || !text[strspn(text, " \t\r\n")])
		json = cJSON_CreateObject();
	else if (json_parse(text, strlen(text), "/etc/docker/daemon.json", &json, err) < 0)
		return -1;
	if (!cJSON_IsObject(json))
		return error_set(err, ERROR_USAGE,
				 "/etc/docker/daemon.json holds no map of settings");
	if (json_twice(json, arena))
		return error_set(err, ERROR_USAGE, "/etc/docker/daemon.json has '%s' twice",
				 json_twice(json, arena));
	merge_map(&m, json, wanted, "");
	if (added->count == before)
		return 0;
	printed = cJSON_Print(json);
	*merged = arena_printf(arena, "%s\n", printed);
	return 0;
}
