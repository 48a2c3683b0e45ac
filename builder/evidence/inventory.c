/* SPDX-License-Identifier: MIT */
#include "builder/evidence/inventory.h"

#include "core/file.h"
#include "core/json.h"
#include "oci/budget.h"
#include "oci/layer/reader.h"
#include "oci/layer/whiteout.h"
#include "oci/layout.h"

#include <stdlib.h>
#include <string.h>

#define STATUS_PATH "var/lib/dpkg/status"
#define RPM_PATH "usr/share/ringup/rpm-packages" /* lines: name, [epoch:]version, architecture */
#define STATUS_BYTES_MAX (32 * MIB)
#define DIST_INFO ".dist-info"

/* --- one layer: {"status": TEXT, "rpm": TEXT, "python": [PATH...], "gone": [PATH...]} --- */

static int inventory_read_list(struct layer_reader *reader, struct archive_entry *entry,
			       const char *name, cJSON *layer, struct error *err)
{
	int64_t size = archive_entry_size(entry);
	_cleanup_(free_pointer) char *text = NULL;
	const void *bytes;
	uint64_t offset;
	size_t length;

	if (size <= 0 || (uint64_t)size > STATUS_BYTES_MAX)
		return 0;
	text = xmalloc((size_t)size + 1);
	memset(text, 0, (size_t)size + 1);
	for (;;) {
		if (layer_reader_data(reader, &bytes, &length, &offset, err) < 0)
			return -1;
		if (!length)
			break;
		if (offset + length > (uint64_t)size)
			return error_set(err, ERROR_FAILED, "%s is longer than its entry says",
					 name);
		memcpy(text + offset, bytes, length);
	}
	cJSON_DeleteItemFromObjectCaseSensitive(layer, name);
	cJSON_AddStringToObject(layer, name, text);
	return 0;
}

static void add_path(cJSON *layer, const char *list, const char *path, size_t length)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	cJSON *item = cJSON_CreateString(arena_strndup(&arena, path, length));

	cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(layer, list), item);
}

static int look_at(struct layer_reader *reader, struct archive_entry *entry, cJSON *layer,
		   struct error *err)
{
	char path[PATH_PLAIN_BYTES], target[PATH_PLAIN_BYTES];
	enum whiteout kind;
	const char *mark;

	if (layer_entry_path(entry, path, err) < 0 || whiteout_find(path, &kind, target, err) < 0)
		return -1;
	if (strcmp(path, STATUS_PATH) == 0)
		return inventory_read_list(reader, entry, "status", layer, err);
	if (strcmp(path, RPM_PATH) == 0)
		return inventory_read_list(reader, entry, "rpm", layer, err);
	if (kind != WHITEOUT_NONE) {
		add_path(layer, "gone", path, strlen(path));
		return 0;
	}
	/* each such folder has one file of that name */
	mark = strstr(path, DIST_INFO "/METADATA");
	if (mark && !mark[strlen(DIST_INFO "/METADATA")])
		add_path(layer, "python", path, (size_t)(mark - path) + strlen(DIST_INFO));
	return 0;
}

static int inventory_scan_all(struct layer_reader *reader, cJSON *layer, struct error *err)
{
	struct archive_entry *entry;

	for (;;) {
		if (layer_reader_next(reader, &entry, err) < 0)
			return -1;
		if (!entry)
			return 0;
		if (look_at(reader, entry, layer, err) < 0)
			return -1;
	}
}

static int scan_layer(const char *path, struct budget *budget, cJSON *layer, struct error *err)
{
	_cleanup_(layer_reader_close) struct layer_reader *reader = NULL;

	cJSON_AddArrayToObject(layer, "python");
	cJSON_AddArrayToObject(layer, "gone");
	if (layer_reader_open(path, NULL, budget, NULL, &reader, err) < 0)
		return -1;
	return inventory_scan_all(reader, layer, err) < 0 ? layer_reader_wrap(reader, err) : 0;
}

static int read_layer(const char *layout, const struct descriptor *blob, const char *cache_folder,
		      struct budget *budget, cJSON **layer, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *kept = cache_folder ? arena_printf(&arena, "%s/%s.json", cache_folder,
						       blob->digest + strlen("sha256:"))
					: NULL;
	char path[LAYOUT_PATH_BYTES];
	struct error none = {0};

	if (kept && file_exists(kept) && json_read(kept, layer, &none) == 0)
		return 0;
	*layer = json_document();
	if (layout_blob_path(layout, blob->digest, path, err) < 0 ||
	    scan_layer(path, budget, *layer, err) < 0)
		return -1;
	if (!kept)
		return 0;
	return folder_make(cache_folder, 0700, err) < 0 ? -1 : json_write(kept, *layer, 0600, err);
}

/* --- all of them --- */

static void add_item(struct inventory *inventory, struct arena *arena, struct inventory_item item)
{
	struct inventory_item *old = inventory->list;

	if (inventory->count == inventory->capacity) {
		inventory->capacity = inventory->capacity ? 2 * inventory->capacity : 256;
		inventory->list = ARENA_ARRAY(arena, inventory->capacity, struct inventory_item);
		if (old)
			memcpy(inventory->list, old, inventory->count * sizeof(*old));
	}
	inventory->list[inventory->count++] = item;
}

/* The value of a field of one paragraph, or "". */
static const char *inventory_field(const char *paragraph, size_t length, const char *name,
				   struct arena *arena)
{
	const char *end = paragraph + length;

	for (const char *line = paragraph; line < end; line += strcspn(line, "\n") + 1)
		if (starts_with(line, name)) {
			line += strlen(name);
			return arena_strndup(arena, line, strcspn(line, "\n"));
		}
	return "";
}

static void add_debian(struct inventory *inventory, const char *status, struct arena *arena)
{
	while (*status) {
		const char *end = strstr(status, "\n\n");
		size_t length = end ? (size_t)(end - status) + 1 : strlen(status);
		struct inventory_item item = {
			.kind = INVENTORY_DEBIAN,
			.name = inventory_field(status, length, "Package: ", arena),
			.version = inventory_field(status, length, "Version: ", arena),
			.architecture = inventory_field(status, length, "Architecture: ", arena),
		};

		if (*item.name &&
		    ends_with(inventory_field(status, length, "Status: ", arena), " installed"))
			add_item(inventory, arena, item);
		status += length + (end != NULL);
	}
}

/* The keys that rpm trusts stand among its packages, without an architecture. */
static void add_rpm(struct inventory *inventory, const char *list, struct arena *arena)
{
	while (*list) {
		size_t name = strcspn(list, " \n"), length = strcspn(list, "\n");
		const char *version = list + name + (list[name] == ' ');
		size_t end = strcspn(version, " \n");
		const char *architecture = version + end + (version[end] == ' ');
		struct inventory_item item = {
			.kind = INVENTORY_RPM,
			.name = arena_strndup(arena, list, name),
			.version = arena_strndup(arena, version, end),
			.architecture =
				arena_strndup(arena, architecture, strcspn(architecture, "\n")),
		};

		if (*item.name && *item.architecture && strcmp(item.architecture, "(none)") != 0)
			add_item(inventory, arena, item);
		list += length + (list[length] == '\n');
	}
}

/* ".../NAME-VERSION.dist-info" */
static void add_python(struct inventory *inventory, const char *path, struct arena *arena)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dash = strchr(name, '-');

	if (dash)
		add_item(inventory, arena,
			 (struct inventory_item){
				 .kind = INVENTORY_PYTHON,
				 .name = arena_strndup(arena, name, (size_t)(dash - name)),
				 .version = arena_strndup(arena, dash + 1,
							  strlen(dash + 1) - strlen(DIST_INFO)),
				 .architecture = ""});
}

/* Whether a later layer took the path, or a folder above it, away. */
static bool inventory_is_gone(cJSON *const *layers, size_t count, size_t index, const char *path)
{
	for (size_t i = index + 1; i < count; i++) {
		const cJSON *item;

		cJSON_ArrayForEach (item, json_member(layers[i], "gone")) {
			const char *mark = strstr(item->valuestring, WHITEOUT_PREFIX);
			size_t folder = (size_t)(mark - item->valuestring), length;
			const char *name = mark + strlen(WHITEOUT_PREFIX);

			if (strncmp(path, item->valuestring, folder) != 0)
				continue;
			length = strlen(name);
			if (strcmp(mark, WHITEOUT_OPAQUE_NAME) == 0 ||
			    (strncmp(path + folder, name, length) == 0 &&
			     (path[folder + length] == '/' || !path[folder + length])))
				return true;
		}
	}
	return false;
}

/* A list as the last layer that has it has it, or "". */
static const char *last_list(cJSON *const *layers, size_t count, const char *name)
{
	for (size_t i = count; i-- > 0;)
		if (cJSON_IsString(json_member(layers[i], name)))
			return json_member(layers[i], name)->valuestring;
	return "";
}

static void inventory_merge(cJSON *const *layers, size_t count, struct arena *arena,
			    struct inventory *inventory)
{
	const cJSON *item;

	add_debian(inventory, last_list(layers, count, "status"), arena);
	add_rpm(inventory, last_list(layers, count, "rpm"), arena);
	for (size_t i = 0; i < count; i++)
		cJSON_ArrayForEach (item, json_member(layers[i], "python"))
			if (cJSON_IsString(item) &&
			    !inventory_is_gone(layers, count, i, item->valuestring))
				add_python(inventory, item->valuestring, arena);
}

static int compare_items(const void *left, const void *right)
{
	const struct inventory_item *a = left, *b = right;
	int order = (int)a->kind - (int)b->kind;

	order = order ? order : strcmp(a->name, b->name);
	order = order ? order : strcmp(a->architecture, b->architecture);
	return order ? order : strcmp(a->version, b->version);
}

static void sort(struct inventory *inventory)
{
	size_t kept = 0;

	if (!inventory->count)
		return;
	qsort(inventory->list, inventory->count, sizeof(*inventory->list), compare_items);
	for (size_t i = 0; i < inventory->count; i++)
		if (!kept || compare_items(&inventory->list[kept - 1], &inventory->list[i]) != 0)
			inventory->list[kept++] = inventory->list[i];
	inventory->count = kept;
}

int inventory_read(const char *layout, const struct descriptor *descriptor,
		   const char *cache_folder, const struct budget_limits *limits,
		   struct arena *arena, struct inventory *inventory, struct error *err)
{
	struct manifest manifest;
	struct budget budget;
	cJSON **layers;
	const char *text;
	int rc = 0;

	*inventory = (struct inventory){0};
	budget_init(&budget, limits, NULL);
	if (layout_read(layout, descriptor, MANIFEST_BYTES_MAX, arena, &text, err) < 0 ||
	    manifest_parse(text, descriptor->size_bytes, layout, arena, &manifest, err) < 0)
		return -1;
	layers = ARENA_ARRAY(arena, manifest.layer_count + 1, cJSON *);
	for (size_t i = 0; rc == 0 && i < manifest.layer_count; i++)
		rc = read_layer(layout, &manifest.layers[i], cache_folder, &budget, &layers[i],
				err);
	if (rc == 0)
		inventory_merge(layers, manifest.layer_count, arena, inventory);
	for (size_t i = 0; i < manifest.layer_count; i++)
		cJSON_Delete(layers[i]);
	sort(inventory);
	return rc;
}
