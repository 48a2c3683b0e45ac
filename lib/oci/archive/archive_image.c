/* SPDX-License-Identifier: MIT */
#include "oci/archive/archive_parts.h"

#include "core/file.h"
#include "core/str.h"
#include "oci/history.h"
#include "oci/known.h"
#include "oci/layout.h"
#include "oci/limits.h"
#include "oci/normalise.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *part_name(struct arena *arena, const char *folder, const char *name)
{
	char *words, *rest, *word, *plain;
	size_t length = 0;

	if (name[0] == '/' || strlen(name) > ARCHIVE_NAME_BYTES_MAX)
		return NULL;
	rest = words = arena_printf(arena, "%s/%s", folder ? folder : ".", name);
	plain = arena_alloc(arena, strlen(words) + 1);
	while ((word = strsep(&rest, "/"))) {
		size_t bytes = strlen(word);

		if (!bytes || strcmp(word, ".") == 0)
			continue;
		if (strcmp(word, "..") == 0) {
			if (!length)
				return NULL;
			while (length && plain[--length] != '/')
				;
			plain[length] = '\0';
			continue;
		}
		if (length)
			plain[length++] = '/';
		memcpy(plain + length, word, bytes + 1);
		length += bytes;
	}
	return plain;
}

struct part *part_find(struct part *parts, const char *name)
{
	for (int links = 0; links <= ARCHIVE_LINKS_MAX; links++) {
		struct part *part = parts;

		while (part && strcmp(part->name, name) != 0)
			part = part->next;
		if (!part || part->kind != PART_LINK)
			return part;
		name = part->target;
	}
	return NULL;
}

static bool has_tag(const cJSON *image, const char *name)
{
	const cJSON *tag;

	cJSON_ArrayForEach (tag, json_member(image, "RepoTags")) {
		if (cJSON_IsString(tag) && strcmp(tag->valuestring, name) == 0)
			return true;
	}
	return false;
}

/* The image that is meant, out of manifest.json's list. */
static int archive_image_choose(const cJSON *list, const char *name, const cJSON **image,
				struct error *err)
{
	int count = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
	const cJSON *item;

	*image = NULL;
	if (!count)
		return error_set(err, ERROR_FAILED, "its manifest.json lists no image");
	if (!name && count > 1)
		return error_set(
			err, ERROR_USAGE,
			"it holds %d images; say which one, as in docker-archive:FILE:NAME:TAG",
			count);
	cJSON_ArrayForEach (item, list) {
		if (!*image && (!name || has_tag(item, name)))
			*image = item;
	}
	if (!*image)
		return error_set(err, ERROR_USAGE, "it holds no image named %.200s", name);
	return 0;
}

/* The JSON part that manifest.json's member names. */
static struct part *named_part(struct part *parts, const cJSON *name, enum part_kind kind,
			       struct arena *arena)
{
	const char *plain = cJSON_IsString(name) ? part_name(arena, NULL, name->valuestring) : NULL;
	struct part *part = plain ? part_find(parts, plain) : NULL;

	return part && part->kind == kind ? part : NULL;
}

/* The config's name is its digest: HEX.json or blobs/sha256/HEX. */
static int archive_image_check_config(const struct part *config, struct error *err)
{
	const char *slash = strrchr(config->name, '/');
	const char *hex = slash ? slash + 1 : config->name;
	char digest[DIGEST_TEXT_BYTES];

	size_t digits = strspn(hex, "0123456789abcdef");

	digest_of_as(config->text, config->length, digits == 128 ? "sha512:" : "sha256:", digest);
	if ((digits == 64 || digits == 128) &&
	    strncmp(hex, digest + DIGEST_PREFIX_BYTES, digits) != 0)
		return error_set(
			err, ERROR_FAILED,
			"the config %s has the digest %s: the archive is damaged; save it again",
			config->name, digest);
	return 0;
}

/*
 * The config is read behind the layers, and may name one by another algorithm than the one that it
 * was hashed by: its plain bytes are read once more, out of its blob.
 */
static int hash_again(const struct part *layer, const char *folder, const char *like,
		      char diff_id[static DIGEST_TEXT_BYTES], struct error *err)
{
	_cleanup_(free_pointer) char *buffer = xmalloc(READ_BACK_BYTES);
	_cleanup_(unpack_free) struct unpack *unpack = NULL;
	_cleanup_(fd_close) int fd = -1;
	char path[LAYOUT_PATH_BYTES];
	ssize_t got;

	if (layout_blob_path(folder, layer->blob.digest, path, err) < 0)
		return -1;
	unpack = unpack_new_to(strcmp(layer->blob.media_type, MEDIA_OCI_LAYER_ZSTD) == 0
				       ? PACKING_ZSTD
				       : PACKING_GZIP,
			       like, NULL, NULL);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while ((got = fd < 0 ? -1 : read(fd, buffer, READ_BACK_BYTES)) > 0)
		if (unpack_add(unpack, buffer, (size_t)got, err) < 0)
			return -1;
	if (got < 0)
		return error_errno(err, "cannot read %s", path);
	return unpack_finish(unpack, diff_id, err);
}

static int check_layer(const struct part *layer, const cJSON *diff_id, size_t index,
		       const char *folder, struct error *err)
{
	const char *says = cJSON_IsString(diff_id) ? diff_id->valuestring : "nothing";
	bool is_as_it_was = !*layer->final_id || strcmp(layer->final_id, layer->diff_id) == 0;
	char other[DIGEST_TEXT_BYTES];
	const char *is = layer->diff_id;

	if (is_as_it_was && digest_is_valid(says) && !digest_is_like(says, is)) {
		if (hash_again(layer, folder, says, other, err) < 0)
			return -1;
		is = other;
	}
	if (strcmp(says, is) != 0)
		return error_set(
			err, ERROR_FAILED,
			"layer %zu (%s) is %s, but the config says %.140s: the archive is damaged; save it again",
			index + 1, layer->name, is, says);
	return 0;
}

/* What an earlier run noted of a layer that was not read: what it is packed as, or is already. */
static bool recall(struct part *layer, const cJSON *diff_id, const char *known_folder)
{
	static const char place[] = "blobs/sha256/";
	char key[DIGEST_TEXT_BYTES];
	struct known known;

	if (!cJSON_IsString(diff_id) || (layer->packing && !starts_with(layer->name, place)))
		return false;
	if (layer->packing)
		snprintf(key, sizeof(key), "sha256:%s", layer->name + strlen(place));
	else
		snprintf(key, sizeof(key), "%s", diff_id->valuestring);
	if (!known_find(known_folder, key, &known) ||
	    strcmp(known.diff_id, diff_id->valuestring) != 0 ||
	    (layer->packing &&
	     (strcmp(known.blob.digest, key) != 0 || known.blob.size_bytes != layer->member_bytes)))
		return false;
	memcpy(layer->diff_id, known.diff_id, sizeof(layer->diff_id));
	layer->blob = known.blob;
	layer->is_unread = false;
	return true;
}

static int take_layers(struct part *parts, const cJSON *image, const cJSON *config,
		       const char *folder, const char *known_folder, struct arena *arena,
		       struct manifest *manifest, struct error *err)
{
	const cJSON *layers = json_member(image, "Layers"), *item;
	const cJSON *diff_ids = json_member(json_member(config, "rootfs"), "diff_ids"), *diff_id;
	int count = cJSON_GetArraySize(layers);

	if (count > LAYERS_MAX)
		return error_set(err, ERROR_FAILED, "it has %d layers; %d is the most", count,
				 LAYERS_MAX);
	if (count != cJSON_GetArraySize(diff_ids))
		return error_set(
			err, ERROR_FAILED,
			"manifest.json lists %d layers, the config %d: the archive is damaged; save it again",
			count, cJSON_GetArraySize(diff_ids));
	manifest->layers = ARENA_ARRAY(arena, (size_t)count + 1, struct descriptor);
	cJSON_ArrayForEach (item, layers) {
		struct part *layer = named_part(parts, item, PART_LAYER, arena);
		size_t index = manifest->layer_count++;

		if (!layer)
			return error_set(err, ERROR_FAILED,
					 "layer %.200s is not in it; save it again",
					 cJSON_IsString(item) ? item->valuestring : "?");
		diff_id = cJSON_GetArrayItem(diff_ids, (int)index);
		if (layer->is_unread && !recall(layer, diff_id, known_folder))
			return error_set(err, ERROR_FAILED, "layer %s is not known", layer->name);
		if (check_layer(layer, diff_id, index, folder, err) < 0)
			return -1;
		manifest->layers[index] = layer->blob;
		/* a layer that was compressed already stays as it is, and so does its id */
		if (*layer->final_id && strcmp(layer->final_id, layer->diff_id) != 0)
			cJSON_SetValuestring(cJSON_GetArrayItem(diff_ids, (int)index),
					     layer->final_id);
	}
	return 0;
}

/* The config goes in byte by byte as it was, unless something had to be taken out. */
static int put_config(const struct part *part, cJSON *config, const char *folder,
		      const struct archive_options *options, struct descriptor *descriptor,
		      struct error *err)
{
	_cleanup_(free_pointer) char *text = NULL;

	bool redacted = history_redact(config, options->history_redact);

	if (options->normalise)
		config_normalise(config, options->newest_s);
	else if (!redacted)
		return layout_put(folder, part->text, part->length, MEDIA_OCI_CONFIG, descriptor,
				  err);
	text = cJSON_PrintUnformatted(config);
	if (!text)
		oom();
	return layout_put(folder, text, strlen(text), MEDIA_OCI_CONFIG, descriptor, err);
}

int archive_choose(struct part *parts, const char *name, cJSON **list, const cJSON **image,
		   struct error *err)
{
	const struct part *index = part_find(parts, "manifest.json");

	if (!index || index->kind != PART_JSON)
		return error_set(
			err, ERROR_FAILED,
			"it has no manifest.json: it is cut short, or not what docker save writes");
	if (json_parse(index->text, index->length, "its manifest.json", list, err) < 0)
		return -1;
	return archive_image_choose(*list, name, image, err);
}

int archive_image(struct part *parts, const char *layout_folder,
		  const struct archive_options *options, struct arena *arena,
		  struct descriptor *manifest, struct error *err)
{
	_cleanup_(json_free) cJSON *list = NULL;
	_cleanup_(json_free) cJSON *config = NULL;
	struct part *config_part;
	struct manifest made = {.media_type = MEDIA_OCI_MANIFEST};
	const cJSON *image;
	const char *text;

	if (archive_choose(parts, options->name, &list, &image, err) < 0)
		return -1;
	config_part = named_part(parts, json_member(image, "Config"), PART_JSON, arena);
	if (!config_part)
		return error_set(err, ERROR_FAILED,
				 "the image's config is not in it; save it again");
	if (archive_image_check_config(config_part, err) < 0 ||
	    json_parse(config_part->text, config_part->length, config_part->name, &config, err) <
		    0 ||
	    take_layers(parts, image, config, layout_folder, options->known_folder, arena, &made,
			err) < 0 ||
	    put_config(config_part, config, layout_folder, options, &made.config, err) < 0)
		return -1;
	if (options->known_folder) {
		known_put_config(options->known_folder, config_part->text, config_part->length);
		known_prune(options->known_folder, KNOWN_FILES_MAX, KNOWN_DAYS_MAX);
	}
	text = manifest_write(&made, arena);
	return layout_put(layout_folder, text, strlen(text), MEDIA_OCI_MANIFEST, manifest, err);
}
