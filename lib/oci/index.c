/* SPDX-License-Identifier: MIT */
#include "oci/index.h"

#include "core/json.h"
#include "core/str.h"
#include "oci/layout.h"

#include <stdio.h>
#include <string.h>

static int parse_entry(const cJSON *item, const char *what, struct arena *arena,
		       struct index_entry *entry, struct error *err)
{
	const cJSON *platform = json_member(item, "platform");

	if (descriptor_parse(item, what, &entry->descriptor, err) < 0)
		return -1;
	entry->os = json_text(platform, "os", arena);
	entry->architecture = json_text(platform, "architecture", arena);
	entry->variant = json_text(platform, "variant", arena);
	entry->artifact_type = json_text(item, "artifactType", arena);
	if (!entry->os)
		entry->os = "";
	if (!entry->architecture)
		entry->architecture = "";
	if (!entry->variant)
		entry->variant = "";
	if (!entry->artifact_type)
		entry->artifact_type = "";
	return 0;
}

int index_parse(const char *bytes, size_t length, const char *what, struct arena *arena,
		struct index *index, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const cJSON *type, *list, *item;
	int count;

	*index = (struct index){.count = 0};
	if (length > MANIFEST_BYTES_MAX)
		return error_set(err, ERROR_FAILED, "%s is larger than 4 MiB", what);
	if (json_parse(bytes, length, what, &json, err) < 0)
		return -1;
	list = json_member(json, "manifests");
	type = json_member(json, "mediaType");
	if (json_number(json, "schemaVersion", 0) != 2 || !cJSON_IsArray(list) ||
	    (cJSON_IsString(type) && !media_is_index(type->valuestring)))
		return error_set(
			err, ERROR_FAILED,
			"%s is not an index of images; push the images again with a current tool",
			what);
	/* as containerd and Docker: CVE-2021-41190 */
	if (json_member(json, "config") || json_member(json, "layers") ||
	    !json_names_once(json, WORDS("mediaType", "manifests")))
		return error_set(
			err, ERROR_FAILED,
			"%s is an index and a manifest at once, or says something twice; push the images again with a current tool",
			what);
	snprintf(index->media_type, sizeof(index->media_type), "%s",
		 cJSON_IsString(type) ? type->valuestring : MEDIA_OCI_INDEX);
	count = cJSON_GetArraySize(list);
	if (count > INDEX_ENTRIES_MAX)
		return error_set(err, ERROR_FAILED, "%s has %d entries; %d is the most", what,
				 count, INDEX_ENTRIES_MAX);
	index->entries = ARENA_ARRAY(arena, (size_t)count + 1, struct index_entry);
	cJSON_ArrayForEach (item, list) {
		if (parse_entry(item, what, arena, &index->entries[index->count++], err) < 0)
			return -1;
	}
	return 0;
}

int platform_check(const char *platform, struct error *err)
{
	const char *slash = strchr(platform, '/'), *second = slash ? strchr(slash + 1, '/') : NULL;

	if (!slash || slash == platform || !slash[1] || slash[1] == '/' ||
	    strlen(platform) >= PLATFORM_TEXT_BYTES ||
	    (second && (!second[1] || strchr(second + 1, '/'))))
		return error_set(
			err, ERROR_USAGE,
			"'%.80s' is not a platform; write OS/ARCH, as in linux/amd64 or linux/arm64",
			platform);
	return 0;
}

bool platform_fits(const char *platform, const char *os, const char *architecture,
		   const char *variant)
{
	size_t os_length = strlen(os), arch_length = strlen(architecture);
	const char *rest = platform;

	if (!os_length || strncmp(rest, os, os_length) != 0 || rest[os_length] != '/')
		return false;
	rest += os_length + 1;
	if (!arch_length || strncmp(rest, architecture, arch_length) != 0)
		return false;
	rest += arch_length;
	return !*rest || (*rest == '/' && strcmp(rest + 1, variant) == 0);
}

int platform_check_config(const char *platform, const char *config, size_t length,
			  struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	const char *os, *architecture, *variant;
	struct error ignored;

	json_parse(config, length, "config", &json, &ignored);
	os = json_text(json, "os", &arena);
	architecture = json_text(json, "architecture", &arena);
	variant = json_text(json, "variant", &arena);
	if (!os || !architecture || !*os ||
	    platform_fits(platform, os, architecture, variant ? variant : ""))
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"the image is for %.60s/%.60s, not for %s; leave out --platform to have it all the same",
		os, architecture, platform);
}

static void list_platforms(const struct index *index, struct str *out)
{
	for (size_t i = 0; i < index->count; i++) {
		const struct index_entry *e = &index->entries[i];

		if (!*e->os || strcmp(e->os, "unknown") == 0)
			continue;
		str_addf(out, "%s%s/%s%s%s", out->length ? ", " : "", e->os, e->architecture,
			 *e->variant ? "/" : "", e->variant);
	}
}

int index_choose(const struct index *index, const char *platform, const char *what,
		 const struct index_entry **entry, struct error *err)
{
	_cleanup_(str_release) struct str there = STR_INIT;

	if (!platform)
		platform = PLATFORM_DEFAULT;
	for (size_t i = 0; i < index->count; i++) {
		const struct index_entry *e = &index->entries[i];

		if (platform_fits(platform, e->os, e->architecture, e->variant)) {
			*entry = e;
			return 0;
		}
	}
	list_platforms(index, &there);
	str_one_line(&there, 400);
	return error_set(err, ERROR_FAILED,
			 "%s has no image for %s; it has %s. Choose one of these with --platform",
			 what, platform,
			 there.length ? there.text : "none that names its platform");
}

int index_put(const char *layout, const struct index_entry *entries, size_t count,
	      struct descriptor *index, struct error *err)
{
	_cleanup_(json_free) cJSON *json = cJSON_CreateObject();
	_cleanup_(free_pointer) char *text = NULL;
	cJSON *list;

	cJSON_AddNumberToObject(json, "schemaVersion", 2);
	cJSON_AddStringToObject(json, "mediaType", MEDIA_OCI_INDEX);
	list = cJSON_AddArrayToObject(json, "manifests");
	for (size_t i = 0; i < count; i++) {
		cJSON *item = descriptor_json(&entries[i].descriptor);
		cJSON *platform = cJSON_AddObjectToObject(item, "platform");

		cJSON_AddStringToObject(platform, "architecture", entries[i].architecture);
		cJSON_AddStringToObject(platform, "os", entries[i].os);
		cJSON_AddItemToArray(list, item);
	}
	text = cJSON_PrintUnformatted(json);
	return layout_put(layout, text, strlen(text), MEDIA_OCI_INDEX, index, err);
}
