/* SPDX-License-Identifier: MIT */
#include "builder/evidence/attest.h"

#include "oci/layout.h"

#include <stdio.h>
#include <string.h>

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
