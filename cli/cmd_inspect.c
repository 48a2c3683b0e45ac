/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/place.h"
#include "cli/app/registry_access.h"

#include "core/foreign.h"
#include "core/json.h"
#include "core/str.h"
#include "core/term.h"
#include "oci/index.h"
#include "registry-client/blobs/blob_get.h"
#include "registry-client/manifest.h"
#include "registry-client/referrers.h"

#include <stdlib.h>
#include <string.h>

struct options {
	struct access_options access;
	const char *platform;
	bool raw;
};

static const struct opt options[] = {
	{0, "platform", "OS/ARCH", "that image of an index, instead of the index", OPT_TEXT,
	 offsetof(struct options, platform)},
	{0, "raw", NULL, "the bytes of the manifest or index, and nothing else", OPT_FLAG,
	 offsetof(struct options, raw)},
	ACCESS_OPTIONS(struct options, access),
	OPT_END,
};

/* What is known of the image that is looked at. */
struct subject {
	struct context *ctx;
	const struct options *options;
	struct reference name;	   /* as it was asked for, with the digest once it is known */
	struct registry *registry; /* that has it; owned */
	struct reference ref;	   /* what it is called there */
	struct descriptor descriptor;
	const char *bytes;
	struct index referrers;
};

static int find_manifest(struct subject *s, struct error *err)
{
	const char *platform = s->options->platform;
	struct arena *arena = s->ctx->arena;
	const struct index_entry *entry;
	struct index index;

	if (registry_get_manifest(s->registry, &s->ref, arena, &s->descriptor, &s->bytes, err) < 0)
		return -1;
	if (!platform || !media_is_index(s->descriptor.media_type))
		return 0;
	if (index_parse(s->bytes, s->descriptor.size_bytes, reference_text(&s->ref, arena), arena,
			&index, err) < 0 ||
	    index_choose(&index, platform, reference_text(&s->ref, arena), &entry, err) < 0)
		return -1;
	s->name.digest = s->ref.digest = entry->descriptor.digest;
	return registry_get_entry(s->registry, &s->ref, &entry->descriptor, arena, &s->descriptor,
				  &s->bytes, err);
}

/* The first place that has the manifest is asked for the rest, too. */
static int inspect_ask(void *arg, const struct mirror *place, struct error *err)
{
	struct subject *s = arg;

	registry_closep(&s->registry);
	s->ref = place->ref;
	return access_open_place(s->ctx, &s->options->access, place, &s->registry, err) < 0
		       ? -1
		       : find_manifest(s, err);
}

static void inspect_add_entries(cJSON *json, const char *name, const struct index *index)
{
	cJSON *list = cJSON_AddArrayToObject(json, name);

	for (size_t i = 0; i < index->count; i++) {
		const struct index_entry *e = &index->entries[i];
		cJSON *item = descriptor_json(&e->descriptor);

		json_add_text(item, "os", e->os);
		json_add_text(item, "architecture", e->architecture);
		json_add_text(item, "variant", e->variant);
		json_add_text(item, "artifactType", e->artifact_type);
		cJSON_AddItemToArray(list, item);
	}
}

static int describe_image(struct subject *s, cJSON *json, struct error *err)
{
	struct arena *arena = s->ctx->arena;
	struct manifest manifest;
	uint64_t total = 0;
	cJSON *layers, *config = NULL;
	struct error ignored;
	const char *bytes;
	size_t length;

	if (manifest_parse(s->bytes, s->descriptor.size_bytes, reference_text(&s->ref, arena),
			   arena, &manifest, err) < 0)
		return -1;
	layers = cJSON_AddArrayToObject(json, "layers");
	for (size_t i = 0; i < manifest.layer_count; i++) {
		cJSON_AddItemToArray(layers, descriptor_json(&manifest.layers[i]));
		total += manifest.layers[i].size_bytes;
	}
	cJSON_AddNumberToObject(json, "layer_bytes", (double)total);
	if (registry_get_blob(s->registry, &s->ref, &manifest.config, arena, &bytes, &length, err) <
	    0)
		return -1;
	/* An artifact's config may be anything. */
	if (json_parse(bytes, length, "config", &config, &ignored) == 0)
		cJSON_AddItemToObject(json, "config", config);
	return 0;
}

static int describe(struct subject *s, cJSON *json, struct error *err)
{
	struct arena *arena = s->ctx->arena;
	struct index index;

	cJSON_AddStringToObject(json, "image", reference_text(&s->name, arena));
	cJSON_AddStringToObject(json, "digest", s->descriptor.digest);
	cJSON_AddStringToObject(json, "mediaType", s->descriptor.media_type);
	s->ref.digest = s->descriptor.digest;
	if (media_is_index(s->descriptor.media_type)) {
		if (index_parse(s->bytes, s->descriptor.size_bytes, reference_text(&s->ref, arena),
				arena, &index, err) < 0)
			return -1;
		inspect_add_entries(json, "manifests", &index);
	} else if (describe_image(s, json, err) < 0) {
		return -1;
	}
	if (registry_list_referrers(s->registry, &s->ref, NULL, arena, &s->referrers, err) < 0)
		return -1;
	inspect_add_entries(json, "referrers", &s->referrers);
	return 0;
}

/* A text of the document; "" when it is not there. descriptor_json keeps sizes as raw text. */
static const char *text_of(const cJSON *json, const char *name)
{
	const cJSON *value = json_member(json, name);

	return (cJSON_IsString(value) || cJSON_IsRaw(value)) && value->valuestring
		       ? value->valuestring
		       : "";
}

static void inspect_print_text(const cJSON *json, const char *label, const char *name)
{
	if (!*text_of(json, name))
		return;
	say("%-14s ", label);
	say_value(text_of(json, name));
	say("\n");
}

/* OS/ARCH, and the variant where there is one. */
static void print_platform(const cJSON *json)
{
	say_value(text_of(json, "os"));
	say("/");
	say_value(text_of(json, "architecture"));
	if (*text_of(json, "variant"))
		say("/");
	say_value(text_of(json, "variant"));
}

static void print_words(const cJSON *config, const char *label, const char *name)
{
	const cJSON *list = json_member(config, name), *item;

	if (!cJSON_IsArray(list) || !list->child)
		return;
	say("%-14s", label);
	cJSON_ArrayForEach (item, list)
		if (cJSON_IsString(item)) {
			say(" ");
			say_value(item->valuestring);
		}
	say("\n");
}

static void print_list(const cJSON *json, const char *label, const char *name)
{
	const cJSON *item;
	char size[32];

	cJSON_ArrayForEach (item, json_member(json, name)) {
		say("%-14s %s  %s", label, text_of(item, "digest"),
		    format_bytes(size, strtoull(text_of(item, "size"), NULL, 10)));
		if (*text_of(item, "os")) {
			say("  ");
			print_platform(item);
		}
		if (*text_of(item, "artifactType")) {
			say("  ");
			say_value(text_of(item, "artifactType"));
		}
		say("\n");
		label = "";
	}
}

static void inspect_print(const cJSON *json)
{
	const cJSON *config = json_member(json, "config"), *inner = json_member(config, "config");
	char size[32];

	inspect_print_text(json, "image", "image");
	inspect_print_text(json, "digest", "digest");
	inspect_print_text(json, "type", "mediaType");
	inspect_print_text(config, "created", "created");
	if (json_member(config, "architecture")) {
		say("%-14s ", "platform");
		print_platform(config);
		say("\n");
	}
	print_words(inner, "entrypoint", "Entrypoint");
	print_words(inner, "command", "Cmd");
	if (json_member(json, "layers"))
		say("%-14s %s\n", "size",
		    format_bytes(size, (uint64_t)json_number(json, "layer_bytes", 0)));
	print_list(json, "layers", "layers");
	print_list(json, "images", "manifests");
	print_list(json, "referrers", "referrers");
}

static int inspect_show(struct subject *s, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;

	if (s->options->raw) {
		say_data(s->bytes, s->descriptor.size_bytes);
		return 0;
	}
	json = json_document();
	if (describe(s, json, err) < 0)
		return -1;
	if (s->ctx->json)
		json_print(stdout, json);
	else
		inspect_print(json);
	return 0;
}

static int inspect_run(struct context *ctx, void *values, const char *const *arguments,
		       struct error *err)
{
	const struct options *o = values;
	struct subject s = {.ctx = ctx, .options = o};
	int rc;

	if (place_parse_reference(arguments[0], ctx->arena, &s.name, err) < 0 ||
	    (o->platform && platform_check(o->platform, err) < 0))
		return -1;
	rc = access_read(ctx, &s.name, inspect_ask, &s, err);
	if (rc == 0)
		rc = inspect_show(&s, err);
	registry_close(s.registry);
	return rc;
}

const struct command command_inspect = {
	.name = "inspect",
	.arguments = "REF",
	.summary = "shows what an image in a registry is made of",
	.help = "Prints the digest, the platform, the layers with their sizes, the config, and what refers to\n"
		"the image (bills of materials, signatures). No layer is fetched.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 1,
	.max_arguments = 1,
	.run = inspect_run,
};
