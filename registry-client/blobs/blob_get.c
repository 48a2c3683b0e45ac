/* SPDX-License-Identifier: MIT */
#include "registry-client/blobs/blob_get.h"

#include "registry-client/limits.h"
#include "registry-client/manifest_http.h"
#include "registry-client/http/session.h"

struct get_request {
	struct transfer transfer; /* first: a step casts */
	const struct reference *ref;
	const struct descriptor *descriptor;
	const char *what; /* its name in errors */
	char scope[SCOPE_BYTES];
};

static enum transfer_next get_step(struct transfer *transfer, struct error *err)
{
	struct get_request *request = (struct get_request *)transfer;
	struct exchange *x = &transfer->x;

	if (!x->method) {
		exchange_request(x, "GET", "%s/v2/%s/blobs/%s", transfer->registry->base,
				 request->ref->repository, request->descriptor->digest);
		x->scope = request->scope;
		x->answer_bytes_max = MANIFEST_BYTES_MAX;
		return TRANSFER_SEND;
	}
	if (x->result != CURLE_OK || x->status != 200)
		return transfer_failed(transfer, err);
	return descriptor_check(request->descriptor, x->answer.text, x->answer.length,
				request->what, err) < 0
		       ? TRANSFER_FAILED
		       : TRANSFER_DONE;
}

int registry_get_blob(struct registry *registry, const struct reference *ref,
		      const struct descriptor *descriptor, struct arena *arena, const char **bytes,
		      size_t *length, struct error *err)
{
	struct get_request request = {.ref = ref, .descriptor = descriptor};
	struct transfer *list[] = {&request.transfer};
	int rc;

	request.what = arena_printf(arena, "blob %s of %s/%s", descriptor->digest, ref->registry,
				    ref->repository);
	if (descriptor->size_bytes > MANIFEST_BYTES_MAX)
		return error_set(err, ERROR_FAILED,
				 "%s is said to have %llu bytes; %llu MiB is the most for its kind",
				 request.what, (unsigned long long)descriptor->size_bytes,
				 MANIFEST_BYTES_MAX / MIB);
	if (registry_contact(registry, err) < 0)
		return -1;
	scope_write(request.scope, ref, "pull");
	transfer_init(&request.transfer, registry, get_step);
	rc = transfer_run(registry, list, 1, HEADS_IN_FLIGHT_MAX, err);
	*length = request.transfer.x.answer.length;
	*bytes = arena_strndup(arena, request.transfer.x.answer.text,
			       request.transfer.x.answer.length);
	transfer_release(&request.transfer);
	return rc;
}
