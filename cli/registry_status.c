/* SPDX-License-Identifier: MIT */
#include "cli/registry_status.h"

#include "core/credential_files.h"
#include "core/foreign.h"
#include "core/json.h"
#include "core/log.h"
#include "oci/index.h"
#include "registry-client/list.h"
#include "registry-client/manifest.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A member of the document; "" when it has none: a host need not say all that is asked. */
static const char *registry_status_text(const cJSON *json, const char *name)
{
	const cJSON *text = json_member(json, name);

	return cJSON_IsString(text) ? text->valuestring : "";
}

/* All that the tags name, each blob as often as it is named. */
struct tally {
	struct registry *registry;
	struct arena *arena;
	struct descriptor *blobs; /* owned */
	size_t count, capacity, tags;
};

static void add_blob(struct tally *t, const struct descriptor *blob, uint64_t *bytes)
{
	if (t->count == t->capacity) {
		t->capacity = t->capacity ? 2 * t->capacity : 256;
		t->blobs = xrealloc(t->blobs, t->capacity * sizeof(*t->blobs));
	}
	t->blobs[t->count++] = *blob;
	*bytes += blob->size_bytes;
}

static int by_digest(const void *a, const void *b)
{
	const struct descriptor *x = a, *y = b;

	return strcmp(x->digest, y->digest);
}

static uint64_t bytes_once(struct tally *t)
{
	uint64_t bytes = 0;

	if (t->count)
		qsort(t->blobs, t->count, sizeof(*t->blobs), by_digest);
	for (size_t i = 0; i < t->count; i++)
		if (!i || by_digest(&t->blobs[i - 1], &t->blobs[i]) != 0)
			bytes += t->blobs[i].size_bytes;
	return bytes;
}

static int registry_status_add_image(struct tally *t, const char *text,
				     const struct descriptor *descriptor, uint64_t *bytes,
				     struct error *err)
{
	struct manifest manifest;

	if (manifest_parse(text, descriptor->size_bytes, descriptor->digest, t->arena, &manifest,
			   err) < 0)
		return -1;
	add_blob(t, &manifest.config, bytes);
	for (size_t i = 0; i < manifest.layer_count; i++)
		add_blob(t, &manifest.layers[i], bytes);
	return 0;
}

/*
 * The image or the index that `ref` names; an index's images too, but no index in an index. `child`:
 * what the index says of it; or NULL.
 */
static int add_manifest(struct tally *t, const struct reference *ref,
			const struct descriptor *child, struct descriptor *descriptor,
			uint64_t *bytes, struct error *err)
{
	struct index index;
	const char *text;

	if (child ? registry_get_entry(t->registry, ref, child, t->arena, descriptor, &text, err) <
			    0
		  : registry_get_manifest(t->registry, ref, t->arena, descriptor, &text, err) < 0)
		return -1;
	add_blob(t, descriptor, bytes);
	if (media_is_manifest(descriptor->media_type))
		return registry_status_add_image(t, text, descriptor, bytes, err);
	if (child || !media_is_index(descriptor->media_type))
		return 0;
	if (index_parse(text, descriptor->size_bytes, descriptor->digest, t->arena, &index, err) <
	    0)
		return -1;
	for (size_t i = 0; i < index.count; i++) {
		struct descriptor ignored;

		if (add_manifest(t, ref, &index.entries[i].descriptor, &ignored, bytes, err) < 0)
			return -1;
	}
	return 0;
}

static int add_repository(struct tally *t, const char *address, const char *name, cJSON *list,
			  struct error *err)
{
	struct reference ref = {.registry = address, .repository = name};
	struct words tags = WORDS_INIT(t->arena);
	cJSON *item = cJSON_CreateObject(), *names;

	cJSON_AddItemToArray(list, item);
	cJSON_AddStringToObject(item, "name", name);
	names = cJSON_AddArrayToObject(item, "tags");
	if (registry_list_tags(t->registry, &ref, &tags, err) < 0)
		return -1;
	for (size_t i = 0; i < tags.count; i++) {
		cJSON *tag = cJSON_CreateObject();
		struct descriptor descriptor;
		uint64_t bytes = 0;

		cJSON_AddItemToArray(names, tag);
		ref.tag = tags.list[i];
		cJSON_AddStringToObject(tag, "tag", ref.tag);
		if (add_manifest(t, &ref, NULL, &descriptor, &bytes, err) < 0)
			return -1;
		cJSON_AddStringToObject(tag, "digest", descriptor.digest);
		cJSON_AddNumberToObject(tag, "bytes", (double)bytes);
		t->tags++;
	}
	return 0;
}

/* A mirror's tags are those of the registry behind it: to look at them would pull all of them. */
static int add_repositories(struct registry_site *site, cJSON *json, struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct words names = WORDS_INIT(&arena);
	cJSON *list = cJSON_CreateArray();
	struct tally tally = {.arena = &arena};
	int rc;

	cJSON_AddItemToObject(json, "repositories", list);
	rc = site_contact(site, &registry, err);
	tally.registry = registry;
	if (rc == 0)
		rc = registry_list_repositories(registry, &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		if (!site->own.mirror) {
			rc = add_repository(&tally, site->own.address, names.list[i], list, err);
			continue;
		}
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "name", names.list[i]);
		cJSON_AddItemToArray(list, item);
	}
	cJSON_AddNumberToObject(json, "repository_count", (double)names.count);
	if (!site->own.mirror) {
		cJSON_AddNumberToObject(json, "tag_count", (double)tally.tags);
		cJSON_AddNumberToObject(json, "bytes", (double)bytes_once(&tally));
	}
	free(tally.blobs);
	return rc;
}

static const char *day_of(int64_t seconds, char text[static 16])
{
	time_t when = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&when, &tm) || !strftime(text, 16, "%Y-%m-%d", &tm))
		text[0] = '\0';
	return text;
}

static void add_machine(const struct registry_site *site, const struct registry_found *found,
			cJSON *json)
{
	char day[16];

	cJSON_AddStringToObject(json, "address", site->own.address);
	if (site->host.member)
		cJSON_AddStringToObject(json, "host", site->host.member->host->name);
	json_add_text(json, "mirror", site->own.mirror);
	cJSON_AddBoolToObject(json, "running", found->running);
	json_add_text(json, "as", found->as);
	cJSON_AddStringToObject(json, "storage", found->storage);
	cJSON_AddNumberToObject(json, "used_bytes", (double)found->used_bytes);
	cJSON_AddNumberToObject(json, "free_bytes", (double)found->free_bytes);
	cJSON_AddNumberToObject(json, "total_bytes", (double)found->total_bytes);
	cJSON_AddStringToObject(json, "certificate_until", day_of(site->served.expires, day));
	cJSON_AddNumberToObject(json, "certificate_days",
				certificate_days_left(site->served.expires));
}

static const char *size(const cJSON *json, const char *name, char text[static 32])
{
	return format_bytes(text, (uint64_t)json_number(json, name, 0));
}

static void print_machine(const struct registry_site *site, const cJSON *json)
{
	char free_text[32], total[32], used[32];

	say("registry     https://%s ", registry_status_text(json, "address"));
	if (json_bool(json, "running", false))
		say("runs %s %s\n",
		    strcmp(registry_status_text(json, "as"), "systemd") == 0 ? "under" : "as a",
		    registry_status_text(json, "as"));
	else
		say("does not run\n");
	if (site->host.member)
		say("host         %s\n", site->host.member->host->name);
	if (site->own.mirror)
		say("mirror of    %s\n", site->own.mirror);
	say("storage      %s: %s used, %s free of %s\n", registry_status_text(json, "storage"),
	    size(json, "used_bytes", used), size(json, "free_bytes", free_text),
	    size(json, "total_bytes", total));
	say("certificate  until %s, %d days\n", registry_status_text(json, "certificate_until"),
	    json_int(json, "certificate_days", 0));
}

static void print_images(const cJSON *json)
{
	const cJSON *repository, *tag;
	char text[32];

	if (json_member(json, "tag_count"))
		say("images       %d tags in %d repositories, %s with each layer once\n",
		    json_int(json, "tag_count", 0), json_int(json, "repository_count", 0),
		    size(json, "bytes", text));
	else
		say("images       of %d repositories\n", json_int(json, "repository_count", 0));
	cJSON_ArrayForEach (repository, json_member(json, "repositories")) {
		if (!json_member(repository, "tags"))
			say("%s\n", registry_status_text(repository, "name"));
		cJSON_ArrayForEach (tag, json_member(repository, "tags"))
			say("%s:%s  %s\n", registry_status_text(repository, "name"),
			    registry_status_text(tag, "tag"), size(tag, "bytes", text));
	}
}

static void warn_of_expiry(const struct registry_site *site)
{
	int days = certificate_days_left(site->served.expires);
	const struct host *host = site->host.member ? site->host.member->host : NULL;

	if (days >= CERTIFICATE_RENEW_DAYS)
		return;
	log_warn("the certificate of %s %s; make a new one: ringup registry serve %s %s",
		 site->own.address,
		 days < 0 ? "is over" : arena_printf(site->ctx->arena, "ends in %d days", days),
		 host ? "--on" : "--folder", host ? host->name : site->own.folder);
}

int registry_status(struct registry_site *site, struct error *err)
{
	_cleanup_(json_free) cJSON *json = json_document();
	struct registry_found found;

	if (registry_host_look(&site->host, true, site->ctx->arena, &found, err) < 0)
		return -1;
	add_machine(site, &found, json);
	warn_of_expiry(site);
	if (found.running && add_repositories(site, json, err) < 0)
		return -1;
	if (site->ctx->json) {
		json_print(stdout, json);
		return 0;
	}
	print_machine(site, json);
	if (found.running)
		print_images(json);
	return 0;
}
