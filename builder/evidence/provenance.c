/* SPDX-License-Identifier: MIT */
#include "builder/evidence/attest.h"

#include "builder/recipe/pinning.h"
#include "core/str.h"

#include <string.h>

#define STATEMENT_TYPE "https://in-toto.io/Statement/v1"
#define PREDICATE_TYPE "https://slsa.dev/provenance/v1"
#define BUILD_TYPE "urn:ringup:build:v1"

static cJSON *digest_object(const char *sha256)
{
	cJSON *digest = cJSON_CreateObject();

	cJSON_AddStringToObject(digest, "sha256",
				starts_with(sha256, "sha256:") ? sha256 + strlen("sha256:")
							       : sha256);
	return digest;
}

static void add_material(cJSON *list, const char *uri, const char *sha256)
{
	cJSON *item = cJSON_CreateObject();

	cJSON_AddStringToObject(item, "uri", uri);
	if (*sha256)
		cJSON_AddItemToObject(item, "digest", digest_object(sha256));
	cJSON_AddItemToArray(list, item);
}

/* The images that were pinned beside the base: of CUDA's toolkit. */
static void add_images(cJSON *list, const struct attest_input *input, struct arena *arena)
{
	const struct pinned *pinned = &input->plan->pinned;

	for (size_t i = 0; i < pinned->images.count; i++) {
		const struct pin *pin = &pinned->images.list[i];
		const char *image = pinning_image(pin->name, pinned, arena);

		if (*pin->value && strcmp(image, input->spec->base_name) != 0 &&
		    strstr(input->spec->dockerfile, image))
			add_material(list, image, pin->value);
	}
}

/* The base, the downloads, and the files of the context. */
static void add_materials(cJSON *definition, const struct attest_input *input, struct arena *arena)
{
	cJSON *list = cJSON_AddArrayToObject(definition, "resolvedDependencies");
	const struct spec *spec = input->spec;

	add_material(list, spec->base_name,
		     spec->base_digest && *spec->base_digest ? spec->base_digest : "");
	add_images(list, input, arena);
	for (size_t i = 0; i < input->plan->count; i++)
		if (*input->plan->choices[i].download)
			add_material(list, input->plan->choices[i].download,
				     input->plan->choices[i].sha256);
	for (size_t i = 0; i < spec->file_count; i++)
		if (*spec->files[i].digest)
			add_material(list, arena_printf(arena, "file:%s", spec->files[i].path),
				     spec->files[i].digest);
}

static void add_definition(cJSON *predicate, const struct attest_input *input, struct arena *arena)
{
	cJSON *definition = cJSON_AddObjectToObject(predicate, "buildDefinition"), *object, *list;

	cJSON_AddStringToObject(definition, "buildType", BUILD_TYPE);
	object = cJSON_AddObjectToObject(definition, "externalParameters");
	cJSON_AddStringToObject(object, "accelerator", input->plan->accelerator);
	list = cJSON_AddArrayToObject(object, "stack");
	for (size_t i = 0; i < input->plan->request_count; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(input->plan->requests[i]));
	cJSON_AddStringToObject(object, "dockerfile", input->spec->dockerfile);
	object = cJSON_AddObjectToObject(definition, "internalParameters");
	json_add_text(object, "catalog", input->plan->revision);
	cJSON_AddStringToObject(object, "recipe", input->spec->hash);
	add_materials(definition, input, arena);
}

const char *provenance_write(const struct attest_input *input, struct arena *arena)
{
	_cleanup_(json_free) cJSON *statement = cJSON_CreateObject();
	_cleanup_(free_pointer) char *text = NULL;
	cJSON *subject = cJSON_CreateObject(), *predicate, *object;

	cJSON_AddStringToObject(statement, "_type", STATEMENT_TYPE);
	cJSON_AddStringToObject(subject, "name", input->name);
	cJSON_AddItemToObject(subject, "digest", digest_object(input->manifest->digest));
	cJSON_AddItemToArray(cJSON_AddArrayToObject(statement, "subject"), subject);
	cJSON_AddStringToObject(statement, "predicateType", PREDICATE_TYPE);
	predicate = cJSON_AddObjectToObject(statement, "predicate");
	add_definition(predicate, input, arena);
	object = cJSON_AddObjectToObject(predicate, "runDetails");
	object = cJSON_AddObjectToObject(object, "builder");
	cJSON_AddStringToObject(object, "id", "urn:ringup:builder:" RINGUP_VERSION);
	text = cJSON_PrintUnformatted(statement);
	if (!text)
		oom();
	return arena_strdup(arena, text);
}
