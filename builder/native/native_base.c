/* SPDX-License-Identifier: MIT */
#include "builder/native/native_base.h"

#include "builder/native/layer/layer_disk.h"
#include "builder/native/native_image.h"
#include "core/file.h"
#include "core/progress.h"
#include "core/str.h"
#include "oci/index.h"
#include "oci/layout.h"
#include "plan/arch.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PATH_DEFAULT "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define CONFIG_BYTES_MAX (4 * MIB)

static const char *architecture(const struct native_stage *stage)
{
	static const struct {
		const char *machine, *name;
	} names[] = {{"x86_64", "amd64"}, {"aarch64", "arm64"}, {"ppc64le", "ppc64le"}};
	struct utsname uts;

	if (*stage->build->spec->arch)
		return arch_of_image(stage->build->spec->arch);
	if (uname(&uts) == 0)
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (strcmp(uts.machine, names[i].machine) == 0)
				return names[i].name;
	return "amd64";
}

static int from_stage(struct native_stage *stage, size_t index)
{
	struct native_stage *base = stage->build->stages[index];

	if (native_wait(stage, index) < 0)
		return -1;
	memcpy(stage->chain, base->chain, sizeof(stage->chain));
	memcpy(stage->records, base->records, sizeof(stage->records));
	memcpy(stage->key, base->key, KEY_BYTES);
	stage->chain_count = base->chain_count;
	stage->record_count = base->record_count;
	stage->config = cJSON_Duplicate(base->config, true);
	return 0;
}

/* A root filesystem becomes one layer. */
static int from_tar(struct native_stage *stage, const char *tar)
{
	struct store *store = &stage->build->store;
	const char *folder = store_work_path(store, &stage->arena);
	struct words words = WORDS_INIT(&stage->arena);
	char digest[DIGEST_TEXT_BYTES], key[KEY_BYTES];

	if (digest_of_file(tar, digest, &stage->err) < 0)
		return -1;
	stage->config = image_config_new(architecture(stage));
	words_add_all(&words, WORDS("base", digest));
	native_step_key(stage, &words, key);
	if (!store_has(store, key)) {
		struct progress_step *step = progress_begin("base", "unpacking");
		int rc = layer_unpack(tar, folder, NULL, &store->unpacked, &stage->err);

		if (rc == 0)
			rc = store_add_tree(store, key, folder, &stage->err);
		progress_end(step, rc == 0, rc == 0 ? "unpacked" : "failed");
		if (rc < 0)
			return -1;
	}
	return native_add_layer(stage, key,
				arena_printf(&stage->arena, "FROM %s", stage->source->base));
}

static int add_base_layer(struct native_stage *stage, const struct descriptor *blob,
			  const char *diff_id)
{
	struct layer_parts *parts = ARENA_NEW(&stage->arena, struct layer_parts);
	char key[KEY_BYTES];

	parts->count = 1;
	parts->list[0].blob = *blob;
	snprintf(parts->list[0].diff_id, DIGEST_TEXT_BYTES, "%s", diff_id);
	/* Docker's names for the same thing */
	if (ends_with(blob->media_type, "tar.gzip"))
		snprintf(parts->list[0].blob.media_type, MEDIA_TYPE_BYTES, "%s",
			 MEDIA_OCI_LAYER_GZIP);
	store_key(WORDS("layer", diff_id, blob->digest), key);
	if (!store_has(&stage->build->store, key) &&
	    store_add_parts(&stage->build->store, key, parts, &stage->err) < 0)
		return -1;
	if (stage->chain_count == CHAIN_MAX)
		return native_bad(stage, ERROR_FAILED, "the base has too many layers");
	stage->chain[stage->chain_count++] = arena_strdup(&stage->arena, key);
	native_pack(stage, key);
	return 0;
}

/* Begins with an image whose blobs lie in the store's layout. */
static int from_manifest(struct native_stage *stage, const struct descriptor *descriptor)
{
	const char *layout = stage->build->store.layout, *what = stage->source->base, *text;
	struct manifest manifest;
	const cJSON *diff_ids;

	if (layout_read(layout, descriptor, MANIFEST_BYTES_MAX, &stage->arena, &text, &stage->err) <
		    0 ||
	    manifest_parse(text, descriptor->size_bytes, what, &stage->arena, &manifest,
			   &stage->err) < 0 ||
	    layout_read(layout, &manifest.config, CONFIG_BYTES_MAX, &stage->arena, &text,
			&stage->err) < 0 ||
	    image_config_parse(text, manifest.config.size_bytes, what, &stage->config,
			       &stage->err) < 0)
		return -1;
	diff_ids = json_member(json_member(stage->config, "rootfs"), "diff_ids");
	if ((size_t)cJSON_GetArraySize(diff_ids) != manifest.layer_count)
		return native_bad(stage, ERROR_FAILED, "its config and its manifest differ");
	for (size_t i = 0; i < manifest.layer_count; i++) {
		const cJSON *id = cJSON_GetArrayItem(diff_ids, (int)i);

		if (!cJSON_IsString(id) || !digest_is_valid(id->valuestring))
			return native_bad(stage, ERROR_FAILED, "its config has no such layer");
		if (add_base_layer(stage, &manifest.layers[i], id->valuestring) < 0)
			return -1;
	}
	store_key(WORDS("image", manifest.config.digest), stage->key);
	return 0;
}

/* The image of an index that is for the stage's processor. */
static int native_base_choose(struct native_stage *stage, const char *folder,
			      struct descriptor *manifest)
{
	const char *platform = arena_printf(&stage->arena, "linux/%s", architecture(stage)), *text;
	const struct index_entry *entry;
	struct index index;

	if (!media_is_index(manifest->media_type))
		return 0;
	if (layout_read(folder, manifest, MANIFEST_BYTES_MAX, &stage->arena, &text, &stage->err) <
		    0 ||
	    index_parse(text, manifest->size_bytes, folder, &stage->arena, &index, &stage->err) <
		    0 ||
	    index_choose(&index, platform, folder, &entry, &stage->err) < 0)
		return -1;
	*manifest = entry->descriptor;
	return 0;
}

/* oci:DIR[:NAME] */
static int from_layout(struct native_stage *stage, const char *place)
{
	const char *colon = strrchr(place, ':'), *slash = strrchr(place, '/');
	bool named = colon && (!slash || colon > slash);
	const char *folder =
		named ? arena_strndup(&stage->arena, place, (size_t)(colon - place)) : place;
	struct descriptor manifest;

	if (layout_find(folder, named ? colon + 1 : NULL, &manifest, &stage->err) < 0 ||
	    native_base_choose(stage, folder, &manifest) < 0 ||
	    layout_copy(folder, stage->build->store.layout, &manifest, &stage->err) < 0)
		return -1;
	return from_manifest(stage, &manifest);
}

static int from_registry(struct native_stage *stage, const char *image)
{
	const struct native_options *options = stage->build->options;
	struct descriptor manifest;

	if (!options->fetch)
		return native_bad(stage, ERROR_FAILED, "this image cannot be fetched here");
	if (options->fetch(options->fetch_arg, image, stage->build->store.layout, &manifest,
			   &stage->err) < 0) {
		error_wrap(&stage->err, "base image %s", image);
		return error_advise(
			&stage->err,
			"as it is the base: another one goes into image.base, a mirror of Docker Hub into mirrors.docker");
	}
	return from_manifest(stage, &manifest);
}

static int native_base_from_image(struct native_stage *stage, const char *base)
{
	const struct native_build *build = stage->build;

	if (strcmp(base, "scratch") == 0) {
		stage->config = image_config_new(architecture(stage));
		store_key(WORDS("scratch"), stage->key);
		return 0;
	}
	if (build->options->base_tar && strcmp(base, build->spec->base_name) == 0)
		return from_tar(stage, build->options->base_tar);
	if (starts_with(base, "oci:") && strcmp(base, build->spec->base_name) == 0)
		return from_layout(stage, build->spec->base_place);
	return from_registry(stage, base);
}

/* Waits for another stage with the same base, so that it is fetched and unpacked once. */
static void await_same_base(const struct native_stage *stage)
{
	struct native_build *build = stage->build;
	const struct native_stage *other = NULL;

	for (size_t i = 0; i < stage->index && !other; i++)
		if (build->stages[i]->is_needed &&
		    strcmp(build->stages[i]->source->base, stage->source->base) == 0)
			other = build->stages[i];
	pthread_mutex_lock(&build->lock);
	while (other && !other->has_base && !atomic_load(&build->has_failed))
		pthread_cond_wait(&build->changed, &build->lock);
	pthread_mutex_unlock(&build->lock);
}

static void note_base(struct native_stage *stage)
{
	pthread_mutex_lock(&stage->build->lock);
	stage->has_base = true;
	pthread_cond_broadcast(&stage->build->changed);
	pthread_mutex_unlock(&stage->build->lock);
}

int native_from(struct native_stage *stage)
{
	int index = dockerfile_stage(&stage->build->file, stage->source->base, stage->index), rc;

	if (index >= 0) {
		rc = from_stage(stage, (size_t)index);
	} else {
		await_same_base(stage);
		rc = native_base_from_image(stage, stage->source->base);
	}
	if (rc < 0)
		return -1;
	note_base(stage);
	if (!image_config_env(stage->config, "PATH"))
		image_config_set_env(stage->config, "PATH", PATH_DEFAULT);
	return 0;
}
