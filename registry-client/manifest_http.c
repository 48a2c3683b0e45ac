/* SPDX-License-Identifier: MIT */
#include "registry-client/manifest_http.h"

#include "core/str.h"
#include "registry-client/limits.h"
#include "registry-client/http/session.h"

#include <stdio.h>
#include <string.h>

static const char accept_all[] =
	MEDIA_OCI_MANIFEST ", " MEDIA_OCI_INDEX ", " MEDIA_DOCKER_MANIFEST ", " MEDIA_DOCKER_INDEX;

void scope_write(char scope[static SCOPE_BYTES], const struct reference *ref, const char *actions)
{
	snprintf(scope, SCOPE_BYTES, "repository:%s:%s", ref->repository, actions);
}

static enum transfer_next send_request(struct manifest_request *request)
{
	struct exchange *x = &request->transfer.x;

	exchange_request(x, request->method, "%s/v2/%s/manifests/%s",
			 request->transfer.registry->base, request->ref->repository,
			 reference_target(request->ref));
	x->scope = request->scope;
	x->accept = accept_all;
	x->answer_bytes_max = MANIFEST_BYTES_MAX;
	if (request->bytes) {
		x->accept = NULL;
		x->content_type = request->descriptor.media_type;
		x->body = request->bytes;
		x->body_bytes = request->descriptor.size_bytes;
	}
	return TRANSFER_SEND;
}

static enum transfer_next reject(const struct exchange *x, const char *why, struct error *err)
{
	error_set(err, ERROR_FAILED, "%s %s: %s; look into the registry's log and storage",
		  x->method, x->url.text, why);
	return TRANSFER_FAILED;
}

/* The media type without parameters ("; charset=utf-8"). */
static void read_type(const struct exchange *x, struct descriptor *descriptor)
{
	const char *type = exchange_header(x, "Content-Type");
	size_t length = type ? strcspn(type, "; ") : 0;

	if (length >= MEDIA_TYPE_BYTES)
		length = 0;
	snprintf(descriptor->media_type, MEDIA_TYPE_BYTES, "%.*s", (int)length, type ? type : "");
}

/*
 * The media type in the body counts (image-spec 1.1: mediaType must match the Content-Type). A
 * server that sends another known type than the body's is not trusted; "application/json" and the
 * like mean nothing.
 */
static enum transfer_next check_type(struct manifest_request *request, struct error *err)
{
	const struct exchange *x = &request->transfer.x;
	struct descriptor *d = &request->descriptor;
	_cleanup_(json_free) cJSON *json = NULL;
	struct error ignored = {0};
	const char *type;

	if (json_parse(x->answer.text, x->answer.length, "manifest", &json, &ignored) < 0)
		return reject(x, "the manifest is not JSON", err);
	type = manifest_media_type(json);
	if (!type)
		return TRANSFER_DONE; /* the parser will say what it is */
	if ((media_is_index(d->media_type) || media_is_manifest(d->media_type)) &&
	    strcmp(d->media_type, type) != 0 && json_member(json, "mediaType"))
		return reject(x, "the manifest says that it is of another type than its header",
			      err);
	if (!media_is_index(d->media_type) && !media_is_manifest(d->media_type))
		snprintf(d->media_type, MEDIA_TYPE_BYTES, "%s", type);
	return TRANSFER_DONE;
}

/* Fills the descriptor from the answer's headers, and from its body where there is one. */
static enum transfer_next manifest_http_take(struct manifest_request *request, struct error *err)
{
	const struct exchange *x = &request->transfer.x;
	struct descriptor *d = &request->descriptor;
	const char *digest = exchange_header(x, "Docker-Content-Digest");
	bool has_body = strcmp(request->method, "GET") == 0;
	int64_t length = exchange_content_length(x);
	const char *asked = request->ref->digest;
	char by_header[DIGEST_TEXT_BYTES];

	read_type(x, d);
	if (has_body) {
		digest_of_as(x->answer.text, x->answer.length,
			     asked ? asked : "sha256:", d->digest);
		d->size_bytes = x->answer.length;
	} else if (digest && digest_is_valid(digest) && (!asked || digest_is_like(digest, asked))) {
		snprintf(d->digest, sizeof(d->digest), "%s", digest);
		d->size_bytes = length > 0 ? (uint64_t)length : 0;
	} else {
		request->method = "GET"; /* there is no digest in the answer: fetch and hash */
		return send_request(request);
	}
	if (request->named && descriptor_check(request->named, x->answer.text, x->answer.length,
					       x->url.text, err) < 0)
		return TRANSFER_FAILED;
	if (asked && strcmp(asked, d->digest) != 0)
		return reject(x, "the manifest does not have the digest it was asked for by", err);
	if (has_body && digest) {
		digest_of_as(x->answer.text, x->answer.length, digest, by_header);
		if (strcmp(digest, by_header) != 0)
			return reject(x, "the manifest does not have the digest in its header",
				      err);
	}
	request->found = true;
	return has_body ? check_type(request, err) : TRANSFER_DONE;
}

static enum transfer_next put_done(struct manifest_request *request, struct error *err)
{
	const struct exchange *x = &request->transfer.x;
	const char *digest = exchange_header(x, "Docker-Content-Digest");

	if (digest && digest_is_valid(digest) &&
	    digest_is_like(digest, request->descriptor.digest) &&
	    strcmp(digest, request->descriptor.digest) != 0)
		return reject(x, "the registry stored the manifest under another digest", err);
	request->knows_subject = exchange_header(x, "OCI-Subject") != NULL;
	request->found = true;
	return TRANSFER_DONE;
}

static enum transfer_next manifest_step(struct transfer *transfer, struct error *err)
{
	struct manifest_request *request = (struct manifest_request *)transfer;
	const struct exchange *x = &transfer->x;

	if (!x->method)
		return send_request(request);
	if (x->result != CURLE_OK)
		return transfer_failed(transfer, err);
	if (request->bytes)
		return x->status == 201 ? put_done(request, err) : transfer_failed(transfer, err);
	if (x->status == 404)
		return TRANSFER_DONE;
	return x->status == 200 ? manifest_http_take(request, err) : transfer_failed(transfer, err);
}

void manifest_request_init(struct manifest_request *request, struct registry *registry,
			   const char *method, const struct reference *ref, const char *actions)
{
	*request = (struct manifest_request){.method = method, .ref = ref};
	scope_write(request->scope, ref, actions);
	transfer_init(&request->transfer, registry, manifest_step);
}

static int manifest_http_run_one(struct manifest_request *request, struct error *err)
{
	struct transfer *list[] = {&request->transfer};

	if (registry_contact(request->transfer.registry, err) < 0)
		return -1;
	return transfer_run(request->transfer.registry, list, 1, HEADS_IN_FLIGHT_MAX, err);
}

int registry_head_manifest(struct registry *registry, const struct reference *ref,
			   struct descriptor *descriptor, bool *found, struct error *err)
{
	struct manifest_request request;
	int rc;

	manifest_request_init(&request, registry, "HEAD", ref, "pull");
	rc = manifest_http_run_one(&request, err);
	*descriptor = request.descriptor;
	*found = request.found;
	transfer_release(&request.transfer);
	return rc;
}

/* `named`: what another document says of it, or NULL. */
static int manifest_http_get(struct registry *registry, const struct reference *ref,
			     const struct descriptor *named, struct arena *arena,
			     struct descriptor *descriptor, const char **bytes, bool *found,
			     struct error *err)
{
	struct manifest_request request;
	int rc;

	manifest_request_init(&request, registry, "GET", ref, "pull");
	request.named = named;
	rc = manifest_http_run_one(&request, err);
	*descriptor = request.descriptor;
	*found = request.found;
	*bytes = arena_strndup(arena, request.transfer.x.answer.text,
			       request.transfer.x.answer.length);
	transfer_release(&request.transfer);
	return rc;
}

int manifest_get(struct registry *registry, const struct reference *ref, struct arena *arena,
		 struct descriptor *descriptor, const char **bytes, bool *found, struct error *err)
{
	return manifest_http_get(registry, ref, NULL, arena, descriptor, bytes, found, err);
}

static int manifest_http_must_get(struct registry *registry, const struct reference *ref,
				  const struct descriptor *named, struct arena *arena,
				  struct descriptor *descriptor, const char **bytes,
				  struct error *err)
{
	bool found;

	if (manifest_http_get(registry, ref, named, arena, descriptor, bytes, &found, err) < 0)
		return -1;
	if (!found)
		return error_set(
			err, ERROR_FAILED,
			"registry %s has no image %s; check the name: 'ringup ls %s' shows what there is",
			registry->base, reference_text(ref, arena), registry->address);
	return 0;
}

int registry_get_manifest(struct registry *registry, const struct reference *ref,
			  struct arena *arena, struct descriptor *descriptor, const char **bytes,
			  struct error *err)
{
	return manifest_http_must_get(registry, ref, NULL, arena, descriptor, bytes, err);
}

int registry_get_entry(struct registry *registry, const struct reference *ref,
		       const struct descriptor *named, struct arena *arena,
		       struct descriptor *descriptor, const char **bytes, struct error *err)
{
	struct reference entry = *ref;
	const struct descriptor copy = *named; /* the caller may take both to one place */

	entry.tag = NULL;
	entry.digest = copy.digest;
	return manifest_http_must_get(registry, &entry, &copy, arena, descriptor, bytes, err);
}

int manifest_put(struct registry *registry, const struct reference *ref,
		 const struct descriptor *descriptor, const char *bytes, bool *knows_subject,
		 struct error *err)
{
	struct manifest_request request;
	int rc;

	manifest_request_init(&request, registry, "PUT", ref, "pull,push");
	request.descriptor = *descriptor;
	request.bytes = bytes;
	rc = manifest_http_run_one(&request, err);
	*knows_subject = request.knows_subject;
	transfer_release(&request.transfer);
	return rc;
}

int registry_put_manifest(struct registry *registry, const struct reference *ref,
			  const struct descriptor *descriptor, const char *bytes, struct error *err)
{
	bool ignored;

	return manifest_put(registry, ref, descriptor, bytes, &ignored, err);
}
