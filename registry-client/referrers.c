/* SPDX-License-Identifier: MIT */
#include "registry-client/referrers.h"

#include "oci/layout.h"
#include "registry-client/limits.h"
#include "registry-client/http/link.h"
#include "registry-client/manifest_http.h"
#include "registry-client/push.h"
#include "registry-client/http/session.h"
#include "registry-client/http/url.h"

#include <stdlib.h>
#include <string.h>

/* The subject's digest, or NULL. Borrowed from the document. */
static const char *subject_of(const cJSON *manifest)
{
	const cJSON *digest = json_member(json_member(manifest, "subject"), "digest");

	return cJSON_IsString(digest) && digest_is_valid(digest->valuestring) ? digest->valuestring
									      : NULL;
}

/* REGISTRY/REPOSITORY:ALGORITHM-HEX, at most 64 digits (distribution-spec 1.1, "Referrers Tag
 * Schema") */
static struct reference tag_of(const struct reference *ref, const char *subject,
			       struct arena *arena)
{
	struct reference tag = *ref;

	tag.digest = NULL;
	tag.tag = arena_printf(arena, "%.6s-%.64s", subject, subject + DIGEST_PREFIX_BYTES);
	return tag;
}

/* The entry that stands for a manifest: its descriptor, what kind of artifact, its annotations. */
static cJSON *entry_of(const struct descriptor *descriptor, const cJSON *manifest)
{
	cJSON *entry = descriptor_json(descriptor);
	const cJSON *type = json_member(manifest, "artifactType");
	const cJSON *annotations = json_member(manifest, "annotations");

	if (!cJSON_IsString(type) || !*type->valuestring)
		type = json_member(json_member(manifest, "config"), "mediaType");
	if (cJSON_IsString(type))
		cJSON_AddStringToObject(entry, "artifactType", type->valuestring);
	if (cJSON_IsObject(annotations) && annotations->child)
		cJSON_AddItemToObject(entry, "annotations", cJSON_Duplicate(annotations, true));
	return entry;
}

static int referrers_find(const cJSON *list, const char *digest)
{
	const cJSON *item;
	int index = 0;

	cJSON_ArrayForEach (item, list) {
		const cJSON *found = json_member(item, "digest");

		if (cJSON_IsString(found) && strcmp(found->valuestring, digest) == 0)
			return index;
		index++;
	}
	return -1;
}

/* The list under the tag; an empty one when there is none. */
static int get_list(struct registry *registry, const struct reference *tag, struct arena *arena,
		    cJSON **json, struct error *err)
{
	static const char empty[] =
		"{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_OCI_INDEX "\",\"manifests\":[]}";
	const char *what = reference_text(tag, arena), *bytes = empty;
	struct descriptor descriptor = {.size_bytes = strlen(empty)};
	bool found;

	if (manifest_get(registry, tag, arena, &descriptor, &bytes, &found, err) < 0)
		return -1;
	if (!found) {
		bytes = empty;
		descriptor.size_bytes = strlen(empty);
	}
	if (json_parse(bytes, descriptor.size_bytes, what, json, err) < 0)
		return -1;
	if (!cJSON_IsArray(json_member(*json, "manifests")))
		return error_set(
			err, ERROR_FAILED,
			"%s is no list of referrers; the tag is kept for that: give the image there another one",
			what);
	return 0;
}

static int put_list(struct registry *registry, const struct reference *tag, const cJSON *json,
		    struct error *err)
{
	_cleanup_(free_pointer) char *text = cJSON_PrintUnformatted(json);
	struct descriptor descriptor = {.media_type = MEDIA_OCI_INDEX};

	if (!text)
		oom();
	descriptor.size_bytes = strlen(text);
	if (descriptor.size_bytes > MANIFEST_BYTES_MAX)
		return error_set(
			err, ERROR_FAILED,
			"the list of referrers %s/%s:%s would be larger than 4 MiB; remove some with 'ringup rm'",
			tag->registry, tag->repository, tag->tag);
	digest_of(text, strlen(text), descriptor.digest);
	return registry_put_manifest(registry, tag, &descriptor, text, err);
}

/* Changes the list once; *done when there was nothing to change. `entry` NULL removes the entry. */
static int change_list(struct registry *registry, const struct reference *tag, const char *digest,
		       const cJSON *entry, bool *done, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	cJSON *list;
	int place;

	if (get_list(registry, tag, &arena, &json, err) < 0)
		return -1;
	list = cJSON_GetObjectItemCaseSensitive(json, "manifests");
	place = referrers_find(list, digest);
	*done = entry ? place >= 0 : place < 0;
	if (*done)
		return 0;
	if (entry)
		cJSON_AddItemToArray(list, cJSON_Duplicate(entry, true));
	else
		cJSON_DeleteItemFromArray(list, place);
	return put_list(registry, tag, json, err);
}

static int keep_list(struct registry *registry, const struct reference *ref,
		     const struct descriptor *manifest, const char *bytes, bool is_there,
		     struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL, *entry = NULL;
	struct reference tag;
	bool done = false;

	if (json_parse(bytes, manifest->size_bytes, "the manifest", &json, err) < 0)
		return -1;
	if (!subject_of(json))
		return 0;
	tag = tag_of(ref, subject_of(json), &arena);
	if (is_there)
		entry = entry_of(manifest, json);
	for (int i = 0; i <= REFERRERS_TRIES_MAX && !done; i++)
		if (change_list(registry, &tag, manifest->digest, entry, &done, err) < 0)
			return error_wrap(err, "list of referrers");
	if (done)
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"others keep changing the list of referrers %s; run the same command again",
		reference_text(&tag, &arena));
}

int referrers_keep_tag(struct registry *registry, const struct reference *ref,
		       const struct descriptor *manifest, const char *bytes, struct error *err)
{
	return keep_list(registry, ref, manifest, bytes, true, err);
}

int referrers_drop_tag(struct registry *registry, const struct reference *ref,
		       const struct descriptor *manifest, const char *bytes, struct error *err)
{
	return keep_list(registry, ref, manifest, bytes, false, err);
}

int registry_push_referrer(struct registry *registry, const struct reference *ref,
			   const char *layout_folder, const struct descriptor *artifact_manifest,
			   struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	struct reference target = *ref;
	struct push_report report;
	const char *bytes, *subject;

	if (layout_read(layout_folder, artifact_manifest, MANIFEST_BYTES_MAX, &arena, &bytes, err) <
		    0 ||
	    json_parse(bytes, artifact_manifest->size_bytes, "the artifact's manifest", &json,
		       err) < 0)
		return -1;
	subject = subject_of(json);
	if (!ref->digest || !subject || strcmp(subject, ref->digest) != 0)
		return error_set(err, ERROR_USAGE,
				 "the artifact %s refers to %s, not to the image %s",
				 artifact_manifest->digest, subject ? subject : "nothing",
				 reference_text(ref, &arena));
	target.tag = NULL;
	target.digest = artifact_manifest->digest;
	return registry_push(registry, layout_folder, artifact_manifest, &target, &report, err);
}

/* GET /v2/NAME/referrers/DIGEST, page after page */

struct listing {
	struct transfer transfer; /* first: a step casts */
	const struct reference *ref;
	char scope[SCOPE_BYTES];
	const char *artifact_type;
	struct arena *arena;
	struct index *index;
	bool is_unknown; /* the registry has no such call */
	struct paging paging;
};

static int referrers_add_entries(struct index *index, const struct index *more,
				 const char *artifact_type, struct arena *arena, struct error *err)
{
	if (index->count + more->count > INDEX_ENTRIES_MAX)
		return error_set(err, ERROR_FAILED,
				 "the list of referrers has more than %d entries",
				 INDEX_ENTRIES_MAX);
	/* as large as it may become: a list of many small pages is not copied for each of them */
	if (!index->entries)
		index->entries = ARENA_ARRAY(arena, INDEX_ENTRIES_MAX, struct index_entry);
	for (size_t i = 0; i < more->count; i++)
		if (!artifact_type || strcmp(more->entries[i].artifact_type, artifact_type) == 0)
			index->entries[index->count++] = more->entries[i];
	return 0;
}

static enum transfer_next listing_step(struct transfer *transfer, struct error *err)
{
	struct listing *l = (struct listing *)transfer;
	struct exchange *x = &transfer->x;
	_cleanup_(str_release) struct str next = STR_INIT;
	struct index page;
	int more;

	if (!x->method) {
		exchange_request(x, "GET", "%s/v2/%s/referrers/%s", transfer->registry->base,
				 l->ref->repository, l->ref->digest);
		if (l->artifact_type)
			url_add_query(&x->url, "artifactType", l->artifact_type);
		goto send;
	}
	if (x->result == CURLE_OK && (x->status == 404 || x->status == 405)) {
		l->is_unknown = true;
		return TRANSFER_DONE;
	}
	if (x->result != CURLE_OK || x->status != 200)
		return transfer_failed(transfer, err);
	if (index_parse(x->answer.text, x->answer.length, "the list of referrers", l->arena, &page,
			err) < 0 ||
	    referrers_add_entries(l->index, &page, l->artifact_type, l->arena, err) < 0)
		return TRANSFER_FAILED;
	more = paging_next(&l->paging, x, &next, err);
	if (more < 0)
		return TRANSFER_FAILED;
	if (!more)
		return TRANSFER_DONE;
	exchange_request(x, "GET", "%s", next.text);
send:
	x->scope = l->scope;
	x->accept = MEDIA_OCI_INDEX;
	x->answer_bytes_max = MANIFEST_BYTES_MAX;
	return TRANSFER_SEND;
}

int registry_list_referrers(struct registry *registry, const struct reference *ref,
			    const char *artifact_type, struct arena *arena, struct index *index,
			    struct error *err)
{
	struct listing l = {.ref = ref, .artifact_type = artifact_type, .arena = arena};
	struct transfer *list[] = {&l.transfer};
	struct descriptor descriptor;
	struct reference tag;
	struct index all;
	const char *bytes;
	bool found;
	int rc;

	*index = (struct index){.media_type = MEDIA_OCI_INDEX};
	if (!ref->digest)
		return error_set(err, ERROR_USAGE, "%s: name the image by its digest",
				 reference_text(ref, arena));
	if (registry_contact(registry, err) < 0)
		return -1;
	l.index = index;
	scope_write(l.scope, ref, "pull");
	transfer_init(&l.transfer, registry, listing_step);
	rc = transfer_run(registry, list, 1, HEADS_IN_FLIGHT_MAX, err);
	transfer_release(&l.transfer);
	paging_release(&l.paging);
	if (rc < 0 || !l.is_unknown)
		return rc;
	tag = tag_of(ref, ref->digest, arena);
	if (manifest_get(registry, &tag, arena, &descriptor, &bytes, &found, err) < 0)
		return -1;
	if (!found)
		return 0;
	if (index_parse(bytes, descriptor.size_bytes, reference_text(&tag, arena), arena, &all,
			err) < 0)
		return -1;
	return referrers_add_entries(index, &all, artifact_type, arena, err);
}
