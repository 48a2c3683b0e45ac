/* SPDX-License-Identifier: MIT */
#include "plan/spec.h"

#include <stdio.h>
#include <string.h>

static void add_text(struct digest *digest, const char *text)
{
	digest_add(digest, text, strlen(text) + 1);
}

/* The Dockerfile without its comments: a sentence that is worded anew builds nothing anew. */
static void add_instructions(struct digest *digest, const char *dockerfile)
{
	while (*dockerfile) {
		size_t length = strcspn(dockerfile, "\n");

		length += dockerfile[length] == '\n';
		if (*dockerfile != '#')
			digest_add(digest, dockerfile, length);
		dockerfile += length;
	}
	add_text(digest, "");
}

struct spec_file *spec_add_file(struct spec *spec, struct arena *arena)
{
	if (spec->file_count == SPEC_FILES_MAX)
		return NULL;
	if (spec->file_count == spec->file_capacity) {
		struct spec_file *old = spec->files;

		spec->file_capacity = spec->file_capacity ? 2 * spec->file_capacity : 64;
		spec->files = ARENA_ARRAY(arena, spec->file_capacity, struct spec_file);
		if (old)
			memcpy(spec->files, old, spec->file_count * sizeof(*old));
	}
	return &spec->files[spec->file_count++];
}

/* Sets the file's digest and adds it all to that of the spec. */
static int add_file(struct digest *digest, struct spec_file *file, struct error *err)
{
	char about[32];

	file->digest[0] = '\0';
	if (file->kind == SPEC_FILE && !file->source)
		digest_of(file->text, file->size_bytes, file->digest);
	else if (file->kind == SPEC_FILE && digest_of_file(file->source, file->digest, err) < 0)
		return -1;
	snprintf(about, sizeof(about), "%d %o", file->kind, (unsigned int)file->mode);
	add_text(digest, file->path);
	add_text(digest, about);
	add_text(digest, file->link ? file->link : "");
	add_text(digest, file->digest);
	return 0;
}

int spec_hash(struct spec *spec, struct error *err)
{
	_cleanup_(digest_release) struct digest digest = {0};
	char one[DIGEST_TEXT_BYTES];

	digest_init(&digest);
	add_instructions(&digest, spec->dockerfile);
	add_text(&digest, spec->base_name);
	if (spec->base_digest)
		add_text(&digest, spec->base_digest);
	if (*spec->base_script) {
		if (digest_of_file(spec->base_script, one, err) < 0)
			return -1;
		add_text(&digest, one);
	}
	for (size_t i = 0; i < spec->file_count; i++)
		if (add_file(&digest, &spec->files[i], err) < 0)
			return -1;
	digest_finish(&digest, spec->hash);
	return 0;
}

const char *spec_tag(const struct spec *spec, struct arena *arena)
{
	return arena_strndup(arena, spec->hash + strlen("sha256:"), 12);
}

cJSON *spec_to_json(const struct spec *spec)
{
	cJSON *json = json_document(), *files;

	cJSON_AddStringToObject(json, "hash", spec->hash);
	cJSON_AddStringToObject(json, "base", spec->base_name);
	cJSON_AddStringToObject(json, "os", spec->os);
	cJSON_AddStringToObject(json, "dockerfile", spec->dockerfile);
	files = cJSON_AddArrayToObject(json, "files");
	for (size_t i = 0; i < spec->file_count; i++)
		cJSON_AddItemToArray(files, cJSON_CreateString(spec->files[i].path));
	return json;
}
