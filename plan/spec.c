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

int spec_hash(struct spec *spec, struct error *err)
{
	_cleanup_(digest_release) struct digest digest = {0};
	char one[DIGEST_TEXT_BYTES], mode[16];

	digest_init(&digest);
	add_instructions(&digest, spec->dockerfile);
	add_text(&digest, spec->base_name);
	if (*spec->base_script) {
		if (digest_of_file(spec->base_script, one, err) < 0)
			return -1;
		add_text(&digest, one);
	}
	for (size_t i = 0; i < spec->file_count; i++) {
		const struct spec_file *file = &spec->files[i];

		if (!file->source)
			digest_of(file->text, file->text_bytes, one);
		else if (digest_of_file(file->source, one, err) < 0)
			return -1;
		snprintf(mode, sizeof(mode), "%o", (unsigned int)file->mode);
		add_text(&digest, file->path);
		add_text(&digest, mode);
		add_text(&digest, one);
	}
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
