/* SPDX-License-Identifier: MIT */
#include "oci/archive/archive.h"

#include "core/file.h"
#include "core/log.h"
#include "core/str.h"
#include "oci/archive/members.h"
#include "oci/history.h"
#include "oci/known.h"
#include "oci/layer/stream.h"
#include "oci/layout.h"
#include "oci/limits.h"
#include "oci/normalise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
 * The config follows the layers, and may name one by another algorithm than the one that it was
 * hashed by: then its plain bytes are read once more, from its blob.
 */
static int hash_again(const struct part *layer, const char *folder, const char *like,
		      char diff_id[static DIGEST_TEXT_BYTES], struct error *err)
{
	_cleanup_(stream_close) struct stream *stream = NULL;
	char path[LAYOUT_PATH_BYTES];

	if (layout_blob_path(folder, layer->blob.digest, path, err) < 0 ||
	    stream_open(path, like, NULL, &stream, err) < 0)
		return -1;
	return stream_finish(stream, diff_id, err);
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

/* Puts the config in byte by byte as it was, unless something must be taken out. */
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

static int archive_choose(struct part *parts, const char *name, cJSON **list, const cJSON **image,
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

static int archive_image(struct part *parts, const char *layout_folder,
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

int archive_import(int fd, const char *layout_folder, const struct archive_options *options,
		   struct arena *arena, struct descriptor *manifest, struct error *err)
{
	static const struct archive_options none;
	_cleanup_(arena_release) struct arena scratch = ARENA_INIT;
	struct archive_walk walk = {.fd = fd, .folder = layout_folder};
	struct part *parts;
	int rc;

	(void)arena;
	walk.options = options ? options : &none;
	if (layout_init(layout_folder, err) < 0)
		return -1;
	rc = archive_walk(&walk, &scratch, &parts, err);
	if (rc == 0)
		rc = archive_image(parts, layout_folder, walk.options, &scratch, manifest, err);
	return rc < 0 && err->kind != ERROR_INTERRUPTED
		       ? error_wrap(err, "%s",
				    walk.options->label ? walk.options->label : "the archive")
		       : rc;
}

/* --- without reading the layers that are known --------------------------------------------- */

/* Whether it is a file that is not compressed as a whole: then it costs nothing to skip layers. */
static bool can_seek(int fd)
{
	char head[8];
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       packing_of(head, sizeof(head)) == PACKING_NONE;
}

int archive_name(int fd, const char *label, struct arena *arena, const char **name,
		 struct error *err)
{
	_cleanup_(arena_release) struct arena scratch = ARENA_INIT;
	_cleanup_(json_free) cJSON *list = NULL;
	const struct archive_options options = {.label = label};
	const struct archive_walk walk = {.kind = WALK_LOOK, .fd = fd, .options = &options};
	const cJSON *image, *tag;
	struct part *parts;

	if (archive_walk(&walk, &scratch, &parts, err) < 0 ||
	    archive_choose(parts, NULL, &list, &image, err) < 0)
		return err->kind == ERROR_INTERRUPTED ? -1 : error_wrap(err, "%s", label);
	tag = cJSON_GetArrayItem(json_member(image, "RepoTags"), 0);
	*name = cJSON_IsString(tag) ? arena_strdup(arena, tag->valuestring) : "";
	return 0;
}

bool archive_recall(int fd, const char *layout_folder, const struct archive_options *options,
		    struct arena *arena, const struct part **layers, struct descriptor *manifest)
{
	const struct archive_walk walk = {
		.kind = WALK_LOOK, .fd = fd, .folder = layout_folder, .options = options};
	struct part *parts;
	struct error why = {0};

	if (!options->known_folder || options->normalise || !can_seek(fd) ||
	    lseek(fd, 0, SEEK_SET) < 0)
		return false;
	if (layout_init(layout_folder, &why) < 0 || archive_walk(&walk, arena, &parts, &why) < 0 ||
	    archive_image(parts, layout_folder, options, arena, manifest, &why) < 0) {
		log_debug("%s is read whole: %s", options->label, why.text);
		lseek(fd, 0, SEEK_SET);
		return false;
	}
	log_debug("%s: all layers are known; none is read", options->label);
	*layers = parts;
	return true;
}

/* The member that holds the blob; NULL: none does. */
static const char *archive_recall_member_of(const struct part *layers,
					    const struct descriptor *blob)
{
	for (; layers; layers = layers->next)
		if (layers->kind == PART_LAYER && strcmp(layers->blob.digest, blob->digest) == 0)
			return layers->name;
	return NULL;
}

/* What came out of the archive, against what was known of it. */
static int archive_recall_compare(const struct part *layers, const struct part *packed,
				  const char *label, bool *same, struct error *err)
{
	*same = true;
	for (; packed; packed = packed->next) {
		const struct part *known = layers;

		if (packed->kind != PART_LAYER || packed->is_unread)
			continue;
		while (known &&
		       (known->kind != PART_LAYER || strcmp(known->name, packed->name) != 0))
			known = known->next;
		if (!known || strcmp(known->diff_id, packed->diff_id) != 0)
			return error_set(
				err, ERROR_FAILED,
				"%s: layer %s is %s, but the config says %s: the archive is damaged; save it again",
				label, packed->name, packed->diff_id,
				known ? known->diff_id : "nothing");
		*same = *same && strcmp(known->blob.digest, packed->blob.digest) == 0;
	}
	return 0;
}

int archive_pack(int fd, const char *layout_folder, const struct archive_options *options,
		 const struct part *layers, const struct descriptor *const *blobs, size_t count,
		 bool *same, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char **names = ARENA_ARRAY(&arena, count + 1, const char *);
	const struct archive_walk walk = {.kind = WALK_SOME,
					  .names = names,
					  .fd = fd,
					  .folder = layout_folder,
					  .options = options};
	struct part *packed;

	for (size_t i = 0; i < count; i++) {
		names[i] = archive_recall_member_of(layers, blobs[i]);
		if (!names[i])
			return error_set(err, ERROR_FAILED, "%s holds no layer that is %s",
					 options->label, blobs[i]->digest);
	}
	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_errno(err, "cannot read %s", options->label);
	if (archive_walk(&walk, &arena, &packed, err) < 0)
		return err->kind == ERROR_INTERRUPTED ? -1 : error_wrap(err, "%s", options->label);
	return archive_recall_compare(layers, packed, options->label, same, err);
}
