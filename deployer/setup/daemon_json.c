/* SPDX-License-Identifier: MIT */
#include "deployer/setup/daemon_json.h"

#include "deployer/remote.h"

#include <stdlib.h>
#include <string.h>

struct merge {
	struct arena *arena;
	const char *flags;
	struct words *added, *kept;
};

/*
 * What a key of daemon.json hangs on. Sources: docs.docker.com, "dockerd": a setting that is a flag of dockerd and a key
 * of the file keeps dockerd from starting ("Configure multiple"), and "Configuration reload behavior" lists what SIGHUP
 * takes over; each logging driver refuses options that are not its own (docs.docker.com, "Configure logging drivers");
 * moby, daemon/config: "graph" and "data-root" exclude each other.
 */
static const struct daemon_key {
	const char *key, *flag;
	const char *other; /* a key that decides whether this one may stand there; NULL: none */
	const char
		*values[3]; /* the values of `other` that allow it; none: `other` must be absent */
	bool reloads;
} daemon_keys[] = {
	{"log-driver", "log-driver", NULL, {NULL}, false},
	{"log-opts", "log-opt", "log-driver", {"json-file", "local", NULL}, false},
	{"data-root", "data-root", "graph", {NULL}, false},
	{"registry-mirrors", "registry-mirror", NULL, {NULL}, true},
	{"insecure-registries", "insecure-registry", NULL, {NULL}, true},
};

static const struct daemon_key *daemon_key_of(const char *key)
{
	size_t length = strcspn(key, ".");

	for (size_t i = 0; i < ARRAY_LEN(daemon_keys); i++)
		if (strlen(daemon_keys[i].key) == length &&
		    strncmp(daemon_keys[i].key, key, length) == 0)
			return &daemon_keys[i];
	return NULL;
}

bool daemon_json_reloads(const char *key)
{
	const struct daemon_key *known = daemon_key_of(key);

	return known && known->reloads;
}

static void merge_keep(const struct merge *m, const char *key)
{
	for (size_t i = 0; i < m->kept->count; i++)
		if (strcmp(m->kept->list[i], key) == 0)
			return;
	words_add(m->kept, key);
}

/* The value of dockerd's flag; "" where it has none. */
static const char *merge_flag(const struct merge *m, const char *flag)
{
	return remote_value(m->flags, arena_printf(m->arena, "flag_%s", flag), m->arena);
}

/* Whether the map may get the key; where not, what forbids it is kept. */
static bool merge_allows(const struct merge *m, const cJSON *map, const char *name)
{
	const struct daemon_key *key = daemon_key_of(name);
	const cJSON *there;
	const char *other;

	if (!key)
		return true;
	if (*merge_flag(m, key->flag)) {
		merge_keep(m, name);
		return false;
	}
	if (!key->other)
		return true;
	there = cJSON_GetObjectItemCaseSensitive(map, key->other);
	other = cJSON_IsString(there) ? there->valuestring : merge_flag(m, key->other);
	if (!there && !*other)
		return true;
	for (size_t i = 0; key->values[i]; i++)
		if (strcmp(key->values[i], other) == 0)
			return true;
	merge_keep(m, key->other);
	return false;
}

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
			merge_keep(m, key);
		}
	}
}

/* A copy of the wanted settings without those that the file or the flags forbid. */
static cJSON *merge_choose(const struct merge *m, const cJSON *map, const cJSON *wanted)
{
	cJSON *chosen = cJSON_CreateObject();
	const cJSON *item;

	cJSON_ArrayForEach (item, wanted)
		if (merge_allows(m, map, item->string))
			cJSON_AddItemToObject(chosen, item->string, cJSON_Duplicate(item, true));
	return chosen;
}

int daemon_json_merge(const char *text, const char *flags, const cJSON *wanted, struct arena *arena,
		      const char **merged, struct words *added, struct words *kept,
		      struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL, *chosen = NULL;
	_cleanup_(free_pointer) char *printed = NULL;
	struct merge m = {arena, flags ? flags : "", added, kept};
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
	chosen = merge_choose(&m, json, wanted);
	merge_map(&m, json, chosen, "");
	if (added->count == before)
		return 0;
	printed = cJSON_Print(json);
	*merged = arena_printf(arena, "%s\n", printed);
	return 0;
}
