/* SPDX-License-Identifier: MIT */
/* native_support.h - builds from specs that are made here, and what they came to. */
#ifndef TESTS_UNIT_BUILDER_NATIVE_SUPPORT_H
#define TESTS_UNIT_BUILDER_NATIVE_SUPPORT_H

#include "tests/unit/builder/layer_support.h"

#include "builder/native/native.h"
#include "plan/spec.h"

/* A context's file; `text` NULL: a folder. "->TEXT" is a symlink, "=>PATH" a hard link. */
static inline void add_file(struct scratch *s, struct spec *spec, const char *path,
			    const char *text)
{
	struct spec_file *file = spec_add_file(spec, &s->arena);

	file->path = path;
	file->mode = text && starts_with(text, "#!") ? 0755 : 0644;
	if (!text) {
		file->kind = SPEC_FOLDER;
		file->mode = 0755;
	} else if (starts_with(text, "->")) {
		file->kind = SPEC_SYMLINK;
		file->mode = 0777;
		file->link = text + 2;
	} else if (starts_with(text, "=>")) {
		file->kind = SPEC_HARDLINK;
		file->link = text + 2;
	} else {
		file->text = text;
		file->size_bytes = strlen(text);
	}
}

/* Paths and texts in turn, NULL-terminated by path. */
static inline struct spec *make_spec(struct scratch *s, const char *dockerfile,
				     const char *const (*files)[2])
{
	struct spec *spec = ARENA_NEW(&s->arena, struct spec);
	struct error err = {0};

	spec->dockerfile = dockerfile;
	spec->base_name = spec->base_place = spec->base_digest = spec->base_script = "";
	spec->os = "debian12";
	spec->base_release = spec->arch = spec->os_vendor = spec->unpinned = spec->snapshot = "";
	for (; files && (*files)[0]; files++)
		add_file(s, spec, (*files)[0], (*files)[1]);
	assert_fine(spec_hash(spec, &err));
	return spec;
}

struct built {
	const char *layout;
	struct descriptor manifest;
	struct error err;
	int rc;
};

/* Builds in the store of that name. */
static inline struct built build_in(struct scratch *s, const char *store, const struct spec *spec)
{
	const struct native_options options = {
		.store = in(s, store), .name = "image:1", .log_path = in(s, "log")};
	struct built built = {0};

	built.rc =
		native_build(spec, &options, &s->arena, &built.layout, &built.manifest, &built.err);
	return built;
}

static inline struct built build(struct scratch *s, const struct spec *spec)
{
	struct built built = build_in(s, "store", spec);

	if (built.rc < 0)
		fail_msg("native_build failed: %s", built.err.text);
	return built;
}

static inline struct manifest *manifest_of(struct scratch *s, const struct built *built)
{
	struct manifest *manifest = ARENA_NEW(&s->arena, struct manifest);
	struct error err = {0};
	const char *text;

	assert_fine(layout_read(built->layout, &built->manifest, MIB, &s->arena, &text, &err));
	assert_fine(manifest_parse(text, strlen(text), "it", &s->arena, manifest, &err));
	return manifest;
}

static inline const char *config_of(struct scratch *s, const struct built *built)
{
	struct error err = {0};
	const char *text;

	assert_fine(layout_read(built->layout, &manifest_of(s, built)->config, MIB, &s->arena,
				&text, &err));
	return text;
}

/* The layers, each begun by a line "--", as layer_list has them. */
static inline const char *layers_of(struct scratch *s, const struct built *built)
{
	const struct manifest *manifest = manifest_of(s, built);
	const char *all = "";

	for (size_t i = 0; i < manifest->layer_count; i++) {
		struct layer_part part = {.blob = manifest->layers[i]};

		all = arena_printf(&s->arena, "%s--\n%s", all,
				   describe_tar(s, blob_path(s, built->layout, &part)));
	}
	return all;
}

/* What the image's files are, all layers unpacked over each other. */
static inline const char *content_of(struct scratch *s, const struct built *built, const char *path)
{
	const struct manifest *manifest = manifest_of(s, built);
	struct error err = {0};
	const char *text;

	for (size_t i = 0; i < manifest->layer_count; i++) {
		struct layer_part part = {.blob = manifest->layers[i]};

		assert_fine(layer_unpack(blob_path(s, built->layout, &part), in(s, "unpacked"),
					 NULL, NULL, &err));
	}
	text = slurp(s, in(s, arena_printf(&s->arena, "unpacked/%s", path)));
	assert_fine(folder_remove(in(s, "unpacked"), &err));
	return text;
}

#endif
