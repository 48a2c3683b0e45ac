/* SPDX-License-Identifier: MIT */
#include "plan/spec.h"

#include "core/file.h"
#include "core/pool.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void add_text(struct digest *digest, const char *text)
{
	digest_add(digest, text, strlen(text) + 1);
}

/* Adds the Dockerfile without its comments, so that a changed comment causes no new build. */
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

/* Many small files take long, so several threads read them, HASH_BATCH files at a time. */
#define HASH_BATCH 64

struct hashing {
	struct spec *spec;
	struct error *errors; /* one for each batch */
};

/* Reads the time first, so that the build notices a file that changes during hashing. */
static int hash_source(struct spec_file *file, struct error *err)
{
	struct stat st;

	if (stat(file->source, &st) < 0)
		return error_errno(err, "cannot read %s", file->source);
	file->changed_ns = file_changed_ns(&st);
	return digest_of_file(file->source, file->digest, err);
}

static int hash_file(struct spec_file *file, struct error *err)
{
	file->digest[0] = '\0';
	if (file->kind != SPEC_FILE)
		return 0;
	if (file->source)
		return hash_source(file, err);
	digest_of(file->text, file->size_bytes, file->digest);
	return 0;
}

static void hash_batch(void *arg, size_t index)
{
	struct hashing *hashing = arg;
	size_t end = (index + 1) * HASH_BATCH;

	if (end > hashing->spec->file_count)
		end = hashing->spec->file_count;
	for (size_t i = index * HASH_BATCH; i < end; i++)
		if (hash_file(&hashing->spec->files[i], &hashing->errors[index]) < 0)
			return;
}

static int hash_files(struct spec *spec, struct error *err)
{
	size_t batches = (spec->file_count + HASH_BATCH - 1) / HASH_BATCH;
	_cleanup_(free_pointer) struct error *errors = xmalloc((batches + 1) * sizeof(*errors));
	struct hashing hashing = {spec, errors};

	for (size_t i = 0; i < batches; i++)
		errors[i] = (struct error){0};
	pool_each(batches, pool_cores(), hash_batch, &hashing);
	for (size_t i = 0; i < batches; i++)
		if (errors[i].kind) {
			*err = errors[i];
			return -1;
		}
	return 0;
}

static void add_file(struct digest *digest, const struct spec_file *file)
{
	char about[32];

	snprintf(about, sizeof(about), "%d %o", file->kind, (unsigned int)file->mode);
	add_text(digest, file->path);
	add_text(digest, about);
	add_text(digest, file->link ? file->link : "");
	add_text(digest, file->digest);
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
	if (hash_files(spec, err) < 0)
		return -1;
	for (size_t i = 0; i < spec->file_count; i++)
		add_file(&digest, &spec->files[i]);
	digest_finish(&digest, spec->hash);
	return 0;
}

const char *spec_hash_tag(const char *hash, struct arena *arena)
{
	return arena_strndup(arena, hash + strlen("sha256:"), 12);
}

const char *spec_tag(const struct spec *spec, struct arena *arena)
{
	return spec_hash_tag(spec->hash, arena);
}

const char *spec_hash_both(const struct spec *first, const struct spec *second, struct arena *arena)
{
	const char *text = arena_printf(arena, "%s %s", first->hash, second->hash);
	char *hash = ARENA_ARRAY(arena, DIGEST_TEXT_BYTES, char);

	digest_of(text, strlen(text), hash);
	return hash;
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
