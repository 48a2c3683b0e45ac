/* SPDX-License-Identifier: MIT */
#include "builder/evidence/attest.h"

#include "core/str.h"
#include "oci/normalise.h"

#include <ctype.h>
#include <string.h>

/* SPDX identifiers hold letters, digits, '.' and '-' only: SPDX 2.3, 7.2. */
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

/* What the plan put in that no package manager knows of: archives, components of the base. */
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

/* Package-url wants some characters in hex; those of package versions are '+', '~' and ':'. */
static const char *escaped(struct arena *arena, const char *text)
{
	const char *out = "";

	for (; *text; text++)
		out = strchr("+:", *text)
			      ? arena_printf(arena, "%s%%%02X", out, (unsigned char)*text)
			      : arena_printf(arena, "%s%c", out, *text);
	return out;
}

/* Package-url has the epoch of an RPM apart from its version. */
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

	if (inventory_read(input->layout, input->manifest, input->cache_folder, arena, &inventory,
			   err) < 0)
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
