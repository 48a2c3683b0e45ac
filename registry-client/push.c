/* SPDX-License-Identifier: MIT */
#include "registry-client/push.h"

#include "core/clock.h"
#include "registry-client/blob.h"
#include "oci/layout.h"
#include "registry-client/manifest_http.h"
#include "registry-client/limits.h"
#include "registry-client/session.h"

#include <stdlib.h>
#include <string.h>

struct push {
	struct registry *registry;
	const char *folder;
	const struct reference *ref;
	const struct descriptor *descriptor; /* of the manifest */
	const char *bytes;		     /* the manifest */
	char scope[300];
	struct blob_request *blobs;
	size_t blob_count;
	struct transfer **list; /* blob_count + 1 places */
	struct arena arena;
	struct push_report *report;
};

/* One of the manifest's blobs; a digest that is named twice is moved once. */
static int add_blob(struct push *push, const struct descriptor *descriptor, struct error *err)
{
	for (size_t i = 0; i < push->blob_count; i++)
		if (strcmp(push->blobs[i].descriptor.digest, descriptor->digest) == 0)
			return 0;
	if (!layout_has(push->folder, descriptor))
		return error_set(err, ERROR_FAILED,
				 "blob %s (%llu bytes) is missing from %s or has another size; "
				 "make the image again",
				 descriptor->digest, (unsigned long long)descriptor->size_bytes,
				 push->folder);
	blob_request_ask(&push->blobs[push->blob_count++], push->registry, push->ref, push->folder,
			 push->scope, descriptor);
	return 0;
}

static int plan(struct push *push, struct error *err)
{
	struct manifest manifest;

	if (layout_read(push->folder, push->descriptor, MANIFEST_BYTES_MAX, &push->arena,
			&push->bytes, err) < 0 ||
	    manifest_parse(push->bytes, push->descriptor->size_bytes, "the manifest", &push->arena,
			   &manifest, err) < 0)
		return -1;
	push->blobs = ARENA_ARRAY(&push->arena, manifest.layer_count + 1, struct blob_request);
	push->list = ARENA_ARRAY(&push->arena, manifest.layer_count + 2, struct transfer *);
	if (add_blob(push, &manifest.config, err) < 0)
		return -1;
	for (size_t i = 0; i < manifest.layer_count; i++)
		if (add_blob(push, &manifest.layers[i], err) < 0)
			return -1;
	push->report->blobs_total = push->blob_count;
	return 0;
}

/* All blobs and the tag, in flight together. */
static int ask_all(struct push *push, struct error *err)
{
	struct manifest_request tag;
	int rc;

	for (size_t i = 0; i < push->blob_count; i++)
		push->list[i] = &push->blobs[i].transfer;
	manifest_request_init(&tag, push->registry, "HEAD", push->ref, "pull,push");
	push->list[push->blob_count] = &tag.transfer;
	rc = transfer_run(push->registry, push->list, push->blob_count + 1, HEADS_IN_FLIGHT_MAX,
			  err);
	push->report->tag_was_there =
		tag.found && strcmp(tag.descriptor.digest, push->descriptor->digest) == 0;
	transfer_release(&tag.transfer);
	return rc;
}

static int larger_first(const void *a, const void *b)
{
	const struct blob_request *x = *(struct blob_request *const *)a;
	const struct blob_request *y = *(struct blob_request *const *)b;

	if (x->descriptor.size_bytes != y->descriptor.size_bytes)
		return x->descriptor.size_bytes < y->descriptor.size_bytes ? 1 : -1;
	return strcmp(x->descriptor.digest, y->descriptor.digest);
}

static int send_missing(struct push *push, struct error *err)
{
	size_t count = 0;
	int rc;

	for (size_t i = 0; i < push->blob_count; i++) {
		if (push->blobs[i].is_there)
			continue;
		blob_request_send(&push->blobs[i]);
		push->list[count++] = &push->blobs[i].transfer;
	}
	/* A blob_request begins with its transfer. */
	qsort(push->list, count, sizeof(*push->list), larger_first);
	rc = transfer_run(push->registry, push->list, count, (size_t)push->registry->connections,
			  err);
	for (size_t i = 0; i < push->blob_count; i++) {
		push->report->bytes_sent += push->blobs[i].sent_bytes;
		push->report->blobs_sent += push->blobs[i].was_sent;
	}
	return rc;
}

static int push_all(struct push *push, struct error *err)
{
	if (push->ref->digest && strcmp(push->ref->digest, push->descriptor->digest) != 0)
		return error_set(err, ERROR_USAGE,
				 "the reference asks for digest %s, but the image is %s; push to a "
				 "tag, or to its own digest",
				 push->ref->digest, push->descriptor->digest);
	if (plan(push, err) < 0 || registry_contact(push->registry, err) < 0 ||
	    ask_all(push, err) < 0 || send_missing(push, err) < 0)
		return -1;
	if (push->report->tag_was_there)
		return 0;
	if (registry_put_manifest(push->registry, push->ref, push->descriptor, push->bytes, err) <
	    0)
		return error_wrap(err, "manifest");
	return 0;
}

int registry_push(struct registry *registry, const char *layout_folder,
		  const struct descriptor *manifest, const struct reference *ref,
		  struct push_report *report, struct error *err)
{
	struct push push = {.registry = registry,
			    .folder = layout_folder,
			    .ref = ref,
			    .descriptor = manifest,
			    .report = report,
			    .arena = ARENA_INIT};
	uint64_t start = clock_usec();
	int rc;

	*report = (struct push_report){0};
	memcpy(report->digest, manifest->digest, sizeof(report->digest));
	scope_write(push.scope, ref, "pull,push");
	rc = push_all(&push, err);
	for (size_t i = 0; i < push.blob_count; i++)
		blob_request_release(&push.blobs[i]);
	arena_release(&push.arena);
	report->seconds = clock_seconds_since(start);
	return rc < 0 && err->kind != ERROR_INTERRUPTED
		       ? error_wrap(err, "push %s/%s", ref->registry, ref->repository)
		       : rc;
}
