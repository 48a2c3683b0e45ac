/* SPDX-License-Identifier: MIT */
/* The layers of the last stage as blobs, its config and its manifest. */
#include "builder/native/native_parts.h"

#include "oci/layout.h"

#include <stdio.h>
#include <string.h>

struct finish {
	struct native_stage *stage;
	struct arena *arena;
	struct manifest manifest;
	struct layer_parts *parts;
	int64_t created_s;
	struct error *err;
};

/* Packs what is not packed yet; *count is the number of the layer's parts. */
static int native_finish_add_layer(struct finish *f, const char *key, size_t *count)
{
	struct store *store = &f->stage->build->store;
	const char *title = arena_printf(f->arena, "layer %zu", f->manifest.layer_count + 1);

	if (store_parts(store, key, title, f->parts, f->err) < 0)
		return -1;
	*count = f->parts->count;
	if (f->manifest.layer_count + *count > LAYERS_MAX)
		return error_set(f->err, ERROR_FAILED, "the image would have more than %d layers",
				 LAYERS_MAX);
	for (size_t i = 0; i < *count; i++) {
		f->manifest.layers[f->manifest.layer_count++] = f->parts->list[i].blob;
		image_config_add_diff_id(f->stage->config, f->parts->list[i].diff_id);
	}
	return 0;
}

/* The base's own layers stand before those that the records name. */
static size_t base_layers(const struct native_stage *stage)
{
	size_t named = 0;

	for (size_t i = 0; i < stage->record_count; i++)
		named += stage->records[i].key != NULL;
	return stage->chain_count - named;
}

static int add_layers(struct finish *f)
{
	struct native_stage *stage = f->stage;
	size_t at = base_layers(stage), count;

	cJSON_DeleteItemFromObjectCaseSensitive(stage->config, "rootfs");
	cJSON_AddStringToObject(cJSON_AddObjectToObject(stage->config, "rootfs"), "type", "layers");
	for (size_t i = 0; i < at; i++)
		if (native_finish_add_layer(f, stage->chain[i], &count) < 0)
			return -1;
	for (size_t i = 0; i < stage->record_count; i++) {
		count = 0;
		if (stage->records[i].key &&
		    native_finish_add_layer(f, stage->chain[at++], &count) < 0)
			return -1;
		image_config_add_history(stage->config, stage->records[i].created_by, count,
					 f->created_s);
	}
	return 0;
}

int native_finish(struct native_stage *stage, struct arena *arena, struct descriptor *manifest,
		  struct error *err)
{
	const char *layout = stage->build->store.layout, *text;
	struct finish f = {.stage = stage,
			   .arena = arena,
			   .parts = ARENA_NEW(arena, struct layer_parts),
			   .created_s = stage->build->store.newest_s,
			   .err = err};

	snprintf(f.manifest.media_type, MEDIA_TYPE_BYTES, "%s", MEDIA_OCI_MANIFEST);
	f.manifest.layers = ARENA_ARRAY(arena, LAYERS_MAX, struct descriptor);
	if (add_layers(&f) < 0)
		return -1;
	text = image_config_write(stage->config, f.created_s, arena);
	if (layout_put(layout, text, strlen(text), MEDIA_OCI_CONFIG, &f.manifest.config, err) < 0)
		return -1;
	text = manifest_write(&f.manifest, arena);
	return layout_put(layout, text, strlen(text), MEDIA_OCI_MANIFEST, manifest, err);
}
