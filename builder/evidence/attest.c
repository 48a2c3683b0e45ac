/* SPDX-License-Identifier: MIT */
#include "builder/evidence/attest.h"

#include "builder/recipe/pinning.h"
#include "core/str.h"
#include "oci/layout.h"
#include "oci/normalise.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* --- SPDX: what is in the image --------------------------------------------------------------- */

/* Identifiers hold only letters, digits, '.' and '-': SPDX 2.3, 7.2. */
static const char *identifier(struct arena *arena, const char *kind, const char *name)
{
	char *text = arena_printf(arena, "SPDXRef-%s-%s", kind, name);

	for (char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '.' && *p != '-')
			*p = '-';
	return text;
}

static cJSON *add_package(cJSON *document, struct arena *arena, const char *kind, const char *name,
			  const char *version, const char *purl)
{
	cJSON *package = cJSON_CreateObject(), *refs, *ref, *relationship;
	const char *id = identifier(arena, kind, arena_printf(arena, "%s-%s", name, version));

	cJSON_AddStringToObject(package, "SPDXID", id);
	cJSON_AddStringToObject(package, "name", name);
	json_add_text(package, "versionInfo", version);
	cJSON_AddStringToObject(package, "downloadLocation", "NOASSERTION");
	cJSON_AddBoolToObject(package, "filesAnalyzed", false);
	if (*purl) {
		refs = cJSON_AddArrayToObject(package, "externalRefs");
		ref = cJSON_CreateObject();
		cJSON_AddStringToObject(ref, "referenceCategory", "PACKAGE-MANAGER");
		cJSON_AddStringToObject(ref, "referenceType", "purl");
		cJSON_AddStringToObject(ref, "referenceLocator", purl);
		cJSON_AddItemToArray(refs, ref);
	}
	cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(document, "packages"), package);
	relationship = cJSON_CreateObject();
	cJSON_AddStringToObject(relationship, "spdxElementId", "SPDXRef-Image");
	cJSON_AddStringToObject(relationship, "relationshipType", "CONTAINS");
	cJSON_AddStringToObject(relationship, "relatedSpdxElement", id);
	cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(document, "relationships"),
			     relationship);
	return package;
}

static void sbom_add_image(cJSON *document, const struct attest_input *input, struct arena *arena)
{
	cJSON *image = cJSON_CreateObject(), *relationship = cJSON_CreateObject(), *list, *sum;

	cJSON_AddStringToObject(image, "SPDXID", "SPDXRef-Image");
	cJSON_AddStringToObject(image, "name", input->name);
	cJSON_AddStringToObject(image, "versionInfo", input->manifest->digest);
	cJSON_AddStringToObject(image, "primaryPackagePurpose", "CONTAINER");
	cJSON_AddStringToObject(image, "downloadLocation", "NOASSERTION");
	cJSON_AddBoolToObject(image, "filesAnalyzed", false);
	list = cJSON_AddArrayToObject(image, "checksums");
	sum = cJSON_CreateObject();
	cJSON_AddStringToObject(sum, "algorithm", "SHA256");
	cJSON_AddStringToObject(sum, "checksumValue", input->manifest->digest + strlen("sha256:"));
	cJSON_AddItemToArray(list, sum);
	cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(document, "packages"), image);
	cJSON_AddStringToObject(relationship, "spdxElementId", "SPDXRef-DOCUMENT");
	cJSON_AddStringToObject(relationship, "relationshipType", "DESCRIBES");
	cJSON_AddStringToObject(relationship, "relatedSpdxElement", "SPDXRef-Image");
	cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(document, "relationships"),
			     relationship);
	(void)arena;
}

/* What the plan put in without a package manager: archives, components of the base. */
static void add_choices(cJSON *document, const struct attest_input *input, struct arena *arena)
{
	for (size_t i = 0; i < input->plan->count; i++) {
		const struct choice *choice = &input->plan->choices[i];
		cJSON *package = add_package(document, arena, "Stack", choice->name,
					     choice->version, ""),
		      *sum;

		if (*choice->download) {
			cJSON_ReplaceItemInObjectCaseSensitive(
				package, "downloadLocation", cJSON_CreateString(choice->download));
		}
		if (*choice->download && *choice->sha256) {
			sum = cJSON_CreateObject();
			cJSON_AddStringToObject(sum, "algorithm", "SHA256");
			cJSON_AddStringToObject(sum, "checksumValue", choice->sha256);
			cJSON_AddItemToArray(cJSON_AddArrayToObject(package, "checksums"), sum);
		}
	}
}

/* Package-url's namespace. Of an image whose OS is not known, Debian's is taken. */
static const char *sbom_vendor(const struct attest_input *input)
{
	return *input->spec->os_vendor ? input->spec->os_vendor : "debian";
}

/* Package-url writes some characters in hex; package versions have '+', '~' and ':' of them. */
static const char *escaped(struct arena *arena, const char *text)
{
	const char *out = "";

	for (; *text; text++)
		out = strchr("+:", *text)
			      ? arena_printf(arena, "%s%%%02X", out, (unsigned char)*text)
			      : arena_printf(arena, "%s%c", out, *text);
	return out;
}

/* Package-url writes the epoch of an RPM apart from its version. */
static const char *rpm_purl(const struct attest_input *input, const struct inventory_item *item,
			    struct arena *arena)
{
	const char *colon = strchr(item->version, ':');
	const char *version = colon ? colon + 1 : item->version;

	return arena_printf(arena, "pkg:rpm/%s/%s@%s?arch=%s%s%.*s", sbom_vendor(input), item->name,
			    escaped(arena, version), item->architecture, colon ? "&epoch=" : "",
			    colon ? (int)(colon - item->version) : 0, item->version);
}

static void add_inventory(cJSON *document, const struct attest_input *input,
			  const struct inventory *inventory, struct arena *arena)
{
	for (size_t i = 0; i < inventory->count; i++) {
		const struct inventory_item *item = &inventory->list[i];
		const char *version = escaped(arena, item->version);

		switch (item->kind) {
		case INVENTORY_DEBIAN:
			add_package(document, arena, "Deb", item->name, item->version,
				    arena_printf(arena, "pkg:deb/%s/%s@%s?arch=%s",
						 sbom_vendor(input), item->name, version,
						 item->architecture));
			break;
		case INVENTORY_RPM:
			/* there may be two of one version */
			add_package(document, arena,
				    arena_printf(arena, "Rpm-%s", item->architecture), item->name,
				    item->version, rpm_purl(input, item, arena));
			break;
		case INVENTORY_PYTHON:
			add_package(document, arena, "Python", item->name, item->version,
				    arena_printf(arena, "pkg:pypi/%s@%s", item->name, version));
			break;
		}
	}
}

int sbom_write(const struct attest_input *input, struct arena *arena, const char **text,
	       struct error *err)
{
	_cleanup_(json_free) cJSON *document = cJSON_CreateObject();
	_cleanup_(free_pointer) char *printed = NULL;
	struct inventory inventory;
	char created[40];
	cJSON *info;

	if (inventory_read(input->layout, input->manifest, input->cache_folder, input->limits,
			   arena, &inventory, err) < 0)
		return -1;
	config_time(input->created_s, created);
	cJSON_AddStringToObject(document, "spdxVersion", "SPDX-2.3");
	cJSON_AddStringToObject(document, "dataLicense", "CC0-1.0");
	cJSON_AddStringToObject(document, "SPDXID", "SPDXRef-DOCUMENT");
	cJSON_AddStringToObject(document, "name", input->name);
	cJSON_AddStringToObject(document, "documentNamespace",
				arena_printf(arena, "urn:ringup:sbom:%s", input->manifest->digest));
	info = cJSON_AddObjectToObject(document, "creationInfo");
	cJSON_AddStringToObject(info, "created", created);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(info, "creators"),
			     cJSON_CreateString("Tool: ringup-" RINGUP_VERSION));
	cJSON_AddArrayToObject(document, "packages");
	cJSON_AddArrayToObject(document, "relationships");
	sbom_add_image(document, input, arena);
	add_choices(document, input, arena);
	add_inventory(document, input, &inventory, arena);
	printed = cJSON_PrintUnformatted(document);
	if (!printed)
		oom();
	*text = arena_strdup(arena, printed);
	return 0;
}

/* --- SLSA: what it was made from -------------------------------------------------------------- */

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

/* --- both as artifacts of the layout ---------------------------------------------------------- */

/* A document as an artifact: an empty config, one layer, and the image as its subject. */
static int put_artifact(const struct attest_input *input, const char *type, const char *text,
			struct descriptor *artifact, struct error *err)
{
	_cleanup_(json_free) cJSON *json = cJSON_CreateObject();
	_cleanup_(free_pointer) char *printed = NULL;
	struct descriptor config, layer;

	if (layout_put(input->layout, "{}", 2, MEDIA_EMPTY, &config, err) < 0 ||
	    layout_put(input->layout, text, strlen(text), type, &layer, err) < 0)
		return -1;
	cJSON_AddNumberToObject(json, "schemaVersion", 2);
	cJSON_AddStringToObject(json, "mediaType", MEDIA_OCI_MANIFEST);
	cJSON_AddStringToObject(json, "artifactType", type);
	cJSON_AddItemToObject(json, "config", descriptor_json(&config));
	cJSON_AddItemToArray(cJSON_AddArrayToObject(json, "layers"), descriptor_json(&layer));
	cJSON_AddItemToObject(json, "subject", descriptor_json(input->manifest));
	printed = cJSON_PrintUnformatted(json);
	if (!printed)
		oom();
	return layout_put(input->layout, printed, strlen(printed), MEDIA_OCI_MANIFEST, artifact,
			  err);
}

int attest_put(const struct attest_input *input, struct arena *arena, struct descriptor *sbom,
	       struct descriptor *provenance, struct error *err)
{
	const char *text;

	if (sbom_write(input, arena, &text, err) < 0 ||
	    put_artifact(input, MEDIA_SPDX, text, sbom, err) < 0)
		return -1;
	return put_artifact(input, MEDIA_IN_TOTO, provenance_write(input, arena), provenance, err);
}
