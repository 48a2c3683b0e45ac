/* SPDX-License-Identifier: MIT */
#include "registry-client/blob_get.h"

#include "registry-client/limits.h"
#include "registry-client/manifest_http.h"
#include "registry-client/session.h"

#include <string.h>

struct get_request {
	struct transfer transfer; /* first: a step casts */
	const struct reference *ref;
	const struct descriptor *descriptor;
	char scope[SCOPE_BYTES];
};

static enum transfer_next get_step(struct transfer *transfer, struct error *err)
{
	struct get_request *request = (struct get_request *)transfer;
	struct exchange *x = &transfer->x;
	char digest[DIGEST_TEXT_BYTES];

	if (!x->method) {
		exchange_request(x, "GET", "%s/v2/%s/blobs/%s", transfer->registry->base,
				 request->ref->repository, request->descriptor->digest);
		x->scope = request->scope;
		x->answer_bytes_max = MANIFEST_BYTES_MAX;
		return TRANSFER_SEND;
	}
	if (x->result != CURLE_OK || x->status != 200)
		return transfer_failed(transfer, err);
	digest_of_as(x->answer.text, x->answer.length, request->descriptor->digest, digest);
	if (strcmp(digest, request->descriptor->digest) == 0)
		return TRANSFER_DONE;
	error_set(err, ERROR_FAILED,
		  "blob %s of %s/%s has the digest %s: it is damaged; push the image again",
		  request->descriptor->digest, request->ref->registry, request->ref->repository,
		  digest);
	return TRANSFER_FAILED;
}

int registry_get_blob(struct registry *registry, const struct reference *ref,
		      const struct descriptor *descriptor, struct arena *arena, const char **bytes,
		      struct error *err)
{
	struct get_request request = {.ref = ref, .descriptor = descriptor};
	struct transfer *list[] = {&request.transfer};
	int rc;

	if (registry_contact(registry, err) < 0)
		return -1;
	scope_write(request.scope, ref, "pull");
	transfer_init(&request.transfer, registry, get_step);
	rc = transfer_run(registry, list, 1, HEADS_IN_FLIGHT_MAX, err);
	*bytes = arena_strndup(arena, request.transfer.x.answer.text,
			       request.transfer.x.answer.length);
	transfer_release(&request.transfer);
	return rc;
}
