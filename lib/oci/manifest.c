/* SPDX-License-Identifier: MIT */
#include "oci/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_EXACT 9007199254740992.0 /* 2^53: what a JSON number holds exactly */

static int manifest_bad(const char *what, const char *why, struct error *err)
{
	return error_set(err, ERROR_FAILED, "%s %s", what, why);
}

int descriptor_parse(const cJSON *json, const char *what, struct descriptor *descriptor,
		     struct error *err)
{
	const cJSON *type = json_member(json, "mediaType"), *digest = json_member(json, "digest");
	double size = json_number(json, "size", -1);

	*descriptor = (struct descriptor){0};
	if (!json_names_once(json, WORDS("mediaType", "digest", "size")))
		return manifest_bad(what, "has a descriptor that says something twice", err);
	if (!cJSON_IsString(type) || strlen(type->valuestring) >= MEDIA_TYPE_BYTES)
		return manifest_bad(what, "has a descriptor without a mediaType", err);
	if (!cJSON_IsString(digest) || !digest_is_valid(digest->valuestring))
		return manifest_bad(what, "has a descriptor without a sha256 or sha512 digest",
				    err);
	if (!(size >= 0 && size <= SIZE_MAX_EXACT) || size != (double)(uint64_t)size)
		return manifest_bad(what, "has a descriptor without a size", err);
	snprintf(descriptor->media_type, sizeof(descriptor->media_type), "%s", type->valuestring);
	snprintf(descriptor->digest, sizeof(descriptor->digest), "%s", digest->valuestring);
	descriptor->size_bytes = (uint64_t)size;
	return 0;
}

int descriptor_check(const struct descriptor *descriptor, const char *bytes, size_t length,
		     const char *what, struct error *err)
{
	char digest[DIGEST_TEXT_BYTES];

	if (length != descriptor->size_bytes)
		return error_set(
			err, ERROR_FAILED,
			"%s has %zu bytes, and what names it says %llu: one of them is damaged or forged; push the image again",
			what, length, (unsigned long long)descriptor->size_bytes);
	digest_of_as(bytes, length, descriptor->digest, digest);
	if (strcmp(digest, descriptor->digest) == 0)
		return 0;
	return error_set(err, ERROR_FAILED,
			 "%s has the digest %s: it is damaged; push the image again", what, digest);
}

int blob_check_size(const struct descriptor *blob, struct error *err)
{
	if (blob->size_bytes <= BLOB_BYTES_MAX)
		return 0;
	return error_set(err, ERROR_FAILED,
			 "blob %s is said to have %llu bytes; %llu TiB is the most", blob->digest,
			 (unsigned long long)blob->size_bytes, BLOB_BYTES_MAX / TIB);
}

int blob_same_size(const struct descriptor *known, const struct descriptor *other,
		   struct error *err)
{
	if (known->size_bytes == other->size_bytes)
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"blob %s is named with two different sizes; push the image again with a current tool",
		known->digest);
}

bool media_is_index(const char *media_type)
{
	return strcmp(media_type, MEDIA_OCI_INDEX) == 0 ||
	       strcmp(media_type, MEDIA_DOCKER_INDEX) == 0;
}

bool media_is_manifest(const char *media_type)
{
	return strcmp(media_type, MEDIA_OCI_MANIFEST) == 0 ||
	       strcmp(media_type, MEDIA_DOCKER_MANIFEST) == 0;
}

const char *manifest_media_type(const cJSON *json)
{
	const cJSON *type = json_member(json, "mediaType");

	if (cJSON_IsString(type))
		return media_is_index(type->valuestring) || media_is_manifest(type->valuestring)
			       ? type->valuestring
			       : NULL;
	if (json_number(json, "schemaVersion", 0) != 2)
		return NULL;
	if (cJSON_IsArray(json_member(json, "manifests")))
		return MEDIA_OCI_INDEX;
	return cJSON_IsArray(json_member(json, "layers")) ? MEDIA_OCI_MANIFEST : NULL;
}

cJSON *descriptor_json(const struct descriptor *descriptor)
{
	cJSON *json = cJSON_CreateObject();
	char size[32];

	cJSON_AddStringToObject(json, "mediaType", descriptor->media_type);
	cJSON_AddStringToObject(json, "digest", descriptor->digest);
	/* cJSON writes numbers of 16 digits with an exponent; Go's readers refuse that. */
	snprintf(size, sizeof(size), "%llu", (unsigned long long)descriptor->size_bytes);
	cJSON_AddRawToObject(json, "size", size);
	return json;
}

static int parse_layers(const cJSON *list, const char *what, struct arena *arena,
			struct manifest *manifest, struct error *err)
{
	const cJSON *item;
	int count = cJSON_GetArraySize(list);

	if (count > LAYERS_MAX)
		return error_set(err, ERROR_FAILED, "%s has %d layers; %d is the most", what, count,
				 LAYERS_MAX);
	manifest->layers = ARENA_ARRAY(arena, (size_t)count + 1, struct descriptor);
	cJSON_ArrayForEach (item, list) {
		if (descriptor_parse(item, what, &manifest->layers[manifest->layer_count++], err) <
		    0)
			return -1;
	}
	return 0;
}

static int check_kind(const cJSON *json, const char *what, struct error *err)
{
	if (!cJSON_IsObject(json) || json_number(json, "schemaVersion", 0) != 2)
		return manifest_bad(
			what,
			"is not an image manifest of schema version 2; push the image again with a current tool",
			err);
	if (json_member(json, "manifests"))
		return manifest_bad(
			what,
			"is an index of several platforms where one image is wanted; name the image of one platform by its digest",
			err);
	if (!json_names_once(json, WORDS("mediaType", "config", "layers")))
		return manifest_bad(what, "says something twice", err);
	if (!cJSON_IsArray(json_member(json, "layers")))
		return manifest_bad(what, "has no layers", err);
	return 0;
}

int manifest_parse(const char *bytes, size_t length, const char *what, struct arena *arena,
		   struct manifest *manifest, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const cJSON *type;

	*manifest = (struct manifest){0};
	if (length > MANIFEST_BYTES_MAX)
		return manifest_bad(what, "is larger than 4 MiB", err);
	if (json_parse(bytes, length, what, &json, err) < 0 || check_kind(json, what, err) < 0)
		return -1;
	type = json_member(json, "mediaType");
	if (cJSON_IsString(type) && !media_is_manifest(type->valuestring))
		return manifest_bad(what, "has a mediaType that is not an image manifest's", err);
	snprintf(manifest->media_type, sizeof(manifest->media_type), "%s",
		 cJSON_IsString(type) ? type->valuestring : MEDIA_OCI_MANIFEST);
	if (descriptor_parse(json_member(json, "config"), what, &manifest->config, err) < 0)
		return -1;
	return parse_layers(json_member(json, "layers"), what, arena, manifest, err);
}

const char *manifest_write(const struct manifest *manifest, struct arena *arena)
{
	_cleanup_(json_free) cJSON *json = cJSON_CreateObject();
	_cleanup_(free_pointer) char *text = NULL;
	cJSON *layers;

	cJSON_AddNumberToObject(json, "schemaVersion", 2);
	cJSON_AddStringToObject(json, "mediaType", manifest->media_type);
	cJSON_AddItemToObject(json, "config", descriptor_json(&manifest->config));
	layers = cJSON_AddArrayToObject(json, "layers");
	for (size_t i = 0; i < manifest->layer_count; i++)
		cJSON_AddItemToArray(layers, descriptor_json(&manifest->layers[i]));
	text = cJSON_PrintUnformatted(json);
	if (!text)
		oom();
	return arena_strdup(arena, text);
}
