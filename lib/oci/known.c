/* SPDX-License-Identifier: MIT */
#include "oci/known.h"

#include "core/file.h"
#include "core/log.h"
#include "oci/layout.h"
#include "oci/limits.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *known_path_of(const char *folder, const char *key, struct arena *arena)
{
	return arena_printf(arena, "%s/%s", folder, strchr(key, ':') + 1);
}

void known_put(const char *folder, const char *key, const struct known *known)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = cJSON_CreateObject();
	_cleanup_(free_pointer) char *text = NULL;
	struct error err = {0};

	cJSON_AddStringToObject(json, "diff_id", known->diff_id);
	cJSON_AddItemToObject(json, "blob", descriptor_json(&known->blob));
	text = cJSON_PrintUnformatted(json);
	if (!text)
		oom();
	if (folder_make(folder, 0700, &err) < 0 ||
	    file_write(known_path_of(folder, key, &arena), text, strlen(text), 0600, &err) < 0)
		log_debug("layer %s is not noted: %s", known->diff_id, err.text);
}

/* The time says when somebody last asked for it: known_prune goes by that. */
static void used(const char *path)
{
	utimensat(AT_FDCWD, path, NULL, 0);
}

/* A layer's blob, and nothing else that a manifest may name. */
static bool is_layer(const struct descriptor *blob)
{
	return blob->size_bytes > 0 && (strcmp(blob->media_type, MEDIA_OCI_LAYER_GZIP) == 0 ||
					strcmp(blob->media_type, MEDIA_OCI_LAYER_ZSTD) == 0 ||
					strcmp(blob->media_type, MEDIA_OCI_LAYER) == 0);
}

bool known_find(const char *folder, const char *key, struct known *known)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	struct error ignored = {0};
	const char *diff_id;
	size_t length;
	char *text;

	*known = (struct known){0};
	if (!digest_is_valid(key) || file_read(known_path_of(folder, key, &arena), KNOWN_BYTES_MAX,
					       &arena, &text, &length, &ignored) < 0)
		return false;
	json = cJSON_ParseWithLength(text, length);
	diff_id = json_text(json, "diff_id", &arena);
	if (!diff_id || !digest_is_valid(diff_id) ||
	    descriptor_parse(json_member(json, "blob"), "the note", &known->blob, &ignored) < 0 ||
	    !is_layer(&known->blob))
		return false;
	snprintf(known->diff_id, sizeof(known->diff_id), "%s", diff_id);
	if (strcmp(key, diff_id) != 0 && strcmp(key, known->blob.digest) != 0)
		return false;
	used(known_path_of(folder, key, &arena));
	return true;
}

struct note_file {
	const char *path;
	time_t used;
};

static int longest_unused_first(const void *a, const void *b)
{
	time_t x = ((const struct note_file *)a)->used, y = ((const struct note_file *)b)->used;

	return (x > y) - (x < y);
}

/* HEX or HEX.json */
static bool is_note(const char *name)
{
	size_t length = strspn(name, "0123456789abcdef");

	return (length == 64 || length == 128) &&
	       (!name[length] || strcmp(name + length, ".json") == 0);
}

void known_prune(const char *folder, size_t most, int days)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	time_t oldest = time(NULL) - (time_t)days * 24 * 3600;
	struct error ignored = {0};
	struct note_file *files;
	const char **names;
	size_t count = 0, all = 0;

	if (folder_list(folder, "", &arena, &names, &ignored) < 0)
		return;
	while (names[all])
		all++;
	files = ARENA_ARRAY(&arena, all + 1, struct note_file);
	for (size_t i = 0; i < all; i++) {
		const char *path = arena_printf(&arena, "%s/%s", folder, names[i]);
		struct stat st;

		if (is_note(names[i]) && lstat(path, &st) == 0 && S_ISREG(st.st_mode))
			files[count++] = (struct note_file){path, st.st_mtime};
	}
	qsort(files, count, sizeof(*files), longest_unused_first);
	for (size_t i = 0; i < count; i++)
		if (count - i > most || files[i].used < oldest)
			unlink(files[i].path);
}

void known_put_config(const char *folder, const void *bytes, size_t length)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	char digest[DIGEST_TEXT_BYTES];
	struct error err = {0};
	const char *path;

	digest_of(bytes, length, digest);
	path = arena_printf(&arena, "%s.json", known_path_of(folder, digest, &arena));
	if (length > KNOWN_CONFIG_BYTES_MAX || file_exists(path))
		return;
	if (folder_make(folder, 0700, &err) < 0 || file_write(path, bytes, length, 0600, &err) < 0)
		log_debug("config %s is not kept: %s", digest, err.text);
}

/* The layers that the config names, from the notes. */
static bool find_layers(const char *folder, const cJSON *config, struct arena *arena,
			struct manifest *manifest)
{
	const cJSON *list = json_member(json_member(config, "rootfs"), "diff_ids"), *item;
	int count = cJSON_GetArraySize(list);
	struct known known;

	if (count < 1 || count > LAYERS_MAX)
		return false;
	manifest->layers = ARENA_ARRAY(arena, (size_t)count, struct descriptor);
	cJSON_ArrayForEach (item, list) {
		if (!cJSON_IsString(item) || !known_find(folder, item->valuestring, &known) ||
		    strcmp(known.diff_id, item->valuestring) != 0)
			return false;
		manifest->layers[manifest->layer_count++] = known.blob;
	}
	return true;
}

bool known_image(const char *folder, const char *config_digest, const char *layout_folder,
		 struct arena *arena, struct descriptor *manifest)
{
	_cleanup_(json_free) cJSON *config = NULL;
	struct manifest made = {.media_type = MEDIA_OCI_MANIFEST};
	char digest[DIGEST_TEXT_BYTES];
	struct error ignored = {0};
	const char *written;
	size_t length;
	char *text;

	if (!digest_is_valid(config_digest) ||
	    file_read(arena_printf(arena, "%s.json", known_path_of(folder, config_digest, arena)),
		      KNOWN_CONFIG_BYTES_MAX, arena, &text, &length, &ignored) < 0)
		return false;
	digest_of(text, length, digest);
	config = cJSON_ParseWithLength(text, length);
	used(arena_printf(arena, "%s.json", known_path_of(folder, config_digest, arena)));
	if (strcmp(digest, config_digest) != 0 || !find_layers(folder, config, arena, &made))
		return false;
	written = layout_init(layout_folder, &ignored) < 0 ||
				  layout_put(layout_folder, text, length, MEDIA_OCI_CONFIG,
					     &made.config, &ignored) < 0
			  ? NULL
			  : manifest_write(&made, arena);
	return written && layout_put(layout_folder, written, strlen(written), MEDIA_OCI_MANIFEST,
				     manifest, &ignored) == 0;
}
