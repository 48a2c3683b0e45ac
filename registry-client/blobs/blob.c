/* SPDX-License-Identifier: MIT */
#include "registry-client/blobs/blob.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/progress.h"
#include "core/progress_total.h"
#include "registry-client/blobs/blob_upload.h"
#include "registry-client/http/failure.h"
#include "registry-client/http/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum transfer_next blob_ask(struct blob_request *blob)
{
	struct transfer *t = &blob->transfer;

	blob->phase = BLOB_HEAD;
	t->registry = blob->registry;
	exchange_request(&t->x, "HEAD", "%s/v2/%s/blobs/%s", t->registry->base,
			 blob->ref->repository, blob->descriptor.digest);
	t->x.scope = blob->scope;
	return TRANSFER_SEND;
}

enum transfer_next blob_landed(struct blob_request *blob)
{
	const char *how = blob->was_mounted ? "mounted" : blob->source ? "copied" : "sent";
	int64_t bytes = (int64_t)blob->descriptor.size_bytes;
	char size[32];

	str_clear(&blob->transfer.session);
	if (blob->journal)
		journal_note(blob->journal, blob->ref, blob->descriptor.digest, NULL);
	blob->is_there = true;
	blob->was_sent = !blob->was_mounted && !blob->was_shared;
	if (!blob->was_sent) {
		progress_add(PROGRESS_TODO, -bytes);
		progress_add(blob->was_mounted ? PROGRESS_MOUNTED : PROGRESS_THERE, bytes);
	}
	if (blob->shared)
		blob->shared->is_there = true;
	if (blob->progress)
		progress_end(blob->progress, true, "%s %s in %.1f s", how,
			     format_bytes(size, blob->descriptor.size_bytes),
			     clock_seconds_since(blob->started_usec));
	blob->progress = NULL;
	free(blob->chunk);
	blob->chunk = NULL;
	blob->chunk_room = 0;
	fd_close(&blob->fd);
	return TRANSFER_DONE;
}

bool blob_is_others(struct blob_request *blob, enum transfer_next *next)
{
	const char *address = blob->registry->address, *repository = blob->ref->repository;
	struct loop *loop = blob->registry->loop;
	const struct shared_blob *other =
		shared_find(loop, address, repository, blob->descriptor.digest);

	*next = TRANSFER_WAIT;
	if (blob->shared || !digest_is_like(blob->descriptor.digest, "sha256:"))
		return false;
	if (other && !other->is_there)
		return true;
	if (other && strcmp(other->repository, repository) == 0) {
		blob->was_shared = true;
		*next = blob_landed(blob);
		return true;
	}
	if (other && !blob->mount_from) {
		blob->mount_from = other->repository;
		if (asprintf(&blob->mount_scope, "%s repository:%s:pull", blob->scope,
			     other->repository) < 0)
			oom();
	}
	blob->shared = shared_add(loop, address, repository, blob->descriptor.digest, false);
	return false;
}

static enum transfer_next asked(struct blob_request *blob, struct error *err)
{
	const struct exchange *x = &blob->transfer.x;
	int64_t length = exchange_content_length(x);

	if (x->result != CURLE_OK || (x->status != 200 && x->status != 404))
		return transfer_failed(&blob->transfer, err);
	/* A blob of another size under this digest is damaged: send it again. */
	blob->is_there =
		x->status == 200 && (length < 0 || (uint64_t)length == blob->descriptor.size_bytes);
	if (blob->is_there && !blob->only_ask)
		return blob_landed(blob); /* the torn PUT had come through */
	if (blob->is_there)
		shared_add(blob->registry->loop, blob->registry->address, blob->ref->repository,
			   blob->descriptor.digest, true);
	if (blob->is_there || blob->only_ask)
		return TRANSFER_DONE;
	return blob_open(blob);
}

static enum transfer_next blob_step(struct transfer *transfer, struct error *err)
{
	struct blob_request *blob = (struct blob_request *)transfer;

	if (!transfer->x.method)
		return blob->phase == BLOB_POST ? blob_open(blob) : blob_ask(blob);
	if (blob->phase == BLOB_HEAD)
		return asked(blob, err);
	if (blob->phase == BLOB_DELETE) {
		transfer->takes_refusal = false;
		return blob_ask(blob); /* whatever it answers */
	}
	return blob_upload_step(blob, err);
}

void blob_request_ask(struct blob_request *blob, struct registry *registry,
		      const struct reference *ref, const char *folder, const char *scope,
		      const struct descriptor *descriptor)
{
	*blob = (struct blob_request){.only_ask = true,
				      .registry = registry,
				      .ref = ref,
				      .folder = folder,
				      .scope = scope,
				      .descriptor = *descriptor,
				      .fd = -1};
	snprintf(blob->name, sizeof(blob->name), "blob %.19s", descriptor->digest);
	transfer_init(&blob->transfer, registry, blob_step);
	blob->transfer.name = blob->name;
}

void blob_request_send(struct blob_request *blob)
{
	struct transfer *t = &blob->transfer;

	transfer_release(t);
	transfer_init(t, blob->registry, blob_step);
	t->name = blob->name;
	t->recover = blob_upload_recover;
	blob->only_ask = false;
	blob->phase = BLOB_POST;
}

void blob_request_release(struct blob_request *blob)
{
	if (blob->progress)
		progress_end(blob->progress, false, "not sent");
	blob->progress = NULL;
	shared_drop(blob->registry->loop, blob->shared);
	blob->shared = NULL;
	free(blob->mount_scope);
	blob->mount_scope = NULL;
	free(blob->chunk);
	blob->chunk = NULL;
	transfer_release(&blob->transfer);
	fd_close(&blob->fd);
}
