/* SPDX-License-Identifier: MIT */
#include "registry-client/remove.h"

#include "core/str.h"
#include "registry-client/http/failure.h"
#include "registry-client/limits.h"
#include "registry-client/list.h"
#include "registry-client/manifest_http.h"
#include "registry-client/referrers.h"
#include "registry-client/http/session.h"

#include <string.h>

struct delete_request {
	struct transfer transfer; /* first: a step casts */
	const struct reference *ref;
	char scope[SCOPE_BYTES];
	bool tag_only; /* a refusal is no error */
	bool is_done;
};

/* Whether the registry does not delete tags, which registries say in three ways. */
static bool is_refusal(const struct exchange *x)
{
	return x->status == 405 || x->status == 400 || failure_has_code(x, "UNSUPPORTED");
}

static enum transfer_next delete_step(struct transfer *transfer, struct error *err)
{
	struct delete_request *request = (struct delete_request *)transfer;
	struct exchange *x = &transfer->x;

	if (!x->method) {
		exchange_request(x, "DELETE", "%s/v2/%s/manifests/%s", transfer->registry->base,
				 request->ref->repository, reference_target(request->ref));
		x->scope = request->scope;
		return TRANSFER_SEND;
	}
	if (x->result != CURLE_OK)
		return transfer_failed(transfer, err);
	request->is_done = x->status == 202 || x->status == 200 || x->status == 204;
	if (request->is_done)
		return TRANSFER_DONE;
	if (is_refusal(x) && request->tag_only)
		return TRANSFER_DONE;
	if (is_refusal(x)) {
		error_set(
			err, ERROR_FAILED,
			"registry %s does not delete (HTTP %ld); allow it in its settings (Distribution: storage: delete: enabled: true)",
			transfer->registry->base, x->status);
		return TRANSFER_FAILED;
	}
	return transfer_failed(transfer, err);
}

static int delete_one(struct registry *registry, const struct reference *ref, bool tag_only,
		      bool *done, struct error *err)
{
	struct delete_request request = {.ref = ref, .tag_only = tag_only};
	struct transfer *list[] = {&request.transfer};
	int rc;

	scope_write(request.scope, ref, "pull,delete");
	transfer_init(&request.transfer, registry, delete_step);
	rc = transfer_run(registry, list, 1, HEADS_IN_FLIGHT_MAX, err);
	transfer_release(&request.transfer);
	*done = request.is_done;
	return rc;
}

/* The other tags of the same manifest, "a, b", cut to a readable length. */
static int find_others(struct registry *registry, const struct reference *ref, const char *digest,
		       struct arena *arena, struct str *others, struct error *err)
{
	struct words tags = WORDS_INIT(arena);

	if (registry_list_tags(registry, ref, &tags, err) < 0)
		return -1;
	for (size_t i = 0; i < tags.count; i++) {
		struct reference other = *ref;
		struct descriptor found;
		bool there;

		if (strcmp(tags.list[i], ref->tag ? ref->tag : "latest") == 0)
			continue;
		other.tag = tags.list[i];
		if (registry_head_manifest(registry, &other, &found, &there, err) < 0)
			return -1;
		if (there && strcmp(found.digest, digest) == 0)
			str_addf(others, "%s%s", others->length ? ", " : "", tags.list[i]);
	}
	return 0;
}

/* When a tag cannot be deleted by itself: deletes the manifest, if no other tag names it. */
static int check_others(struct registry *registry, const struct reference *ref, const char *digest,
			struct arena *arena, struct error *err)
{
	_cleanup_(str_release) struct str others = {0};

	str_init_ceiling(&others, 400);
	if (find_others(registry, ref, digest, arena, &others, err) < 0)
		return -1;
	if (!others.length)
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"registry %s deletes no tag by itself, and %s is also tagged %s; use --all-tags to remove these, too",
		registry->base, digest, others.text);
}

int registry_remove(struct registry *registry, const struct reference *ref, bool all_tags,
		    struct arena *arena, struct removed *removed, struct error *err)
{
	struct descriptor manifest;
	struct reference by_digest = *ref;
	const char *bytes;
	bool done = false;

	*removed = (struct removed){.by_digest = ref->digest != NULL};
	if (registry_get_manifest(registry, ref, arena, &manifest, &bytes, err) < 0)
		return -1;
	removed->digest = arena_strdup(arena, manifest.digest);
	if (!ref->digest && !all_tags && delete_one(registry, ref, true, &done, err) < 0)
		return -1;
	if (done)
		return 0;
	if (!ref->digest && !all_tags &&
	    check_others(registry, ref, manifest.digest, arena, err) < 0)
		return -1;
	removed->by_digest = true;
	by_digest.tag = NULL;
	by_digest.digest = removed->digest;
	if (delete_one(registry, &by_digest, false, &done, err) < 0)
		return -1;
	return referrers_drop_tag(registry, ref, &manifest, bytes, err);
}
