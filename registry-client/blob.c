/* SPDX-License-Identifier: MIT */
#include "registry-client/blob.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/progress.h"
#include "registry-client/failure.h"
#include "oci/layout.h"
#include "registry-client/session.h"
#include "registry-client/url.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static enum transfer_next ask(struct blob_request *blob)
{
	struct transfer *t = &blob->transfer;

	blob->phase = BLOB_HEAD;
	exchange_request(&t->x, "HEAD", "%s/v2/%s/blobs/%s", t->registry->base,
			 blob->ref->repository, blob->descriptor.digest);
	t->x.scope = blob->scope;
	return TRANSFER_SEND;
}

static enum transfer_next open_session(struct blob_request *blob)
{
	struct transfer *t = &blob->transfer;

	blob->phase = BLOB_POST;
	if (!blob->progress) {
		blob->started_usec = clock_usec();
		blob->progress = progress_begin(blob->name, "sending");
	}
	exchange_request(&t->x, "POST", "%s/v2/%s/blobs/uploads/", t->registry->base,
			 blob->ref->repository);
	t->x.scope = blob->scope;
	return TRANSFER_SEND;
}

static int open_file(struct blob_request *blob, struct error *err)
{
	char path[LAYOUT_PATH_BYTES];

	if (blob->fd >= 0)
		return 0;
	if (layout_blob_path(blob->folder, blob->descriptor.digest, path, err) < 0)
		return -1;
	blob->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (blob->fd < 0)
		return error_errno(err, "cannot read %s", path);
	return 0;
}

static enum transfer_next put(struct blob_request *blob, struct error *err)
{
	struct transfer *t = &blob->transfer;
	const char *location = exchange_header(&t->x, "Location");
	_cleanup_(str_release) struct str url = {0};

	str_init(&url);
	if (!location) {
		error_set(err, ERROR_FAILED,
			  "POST %s answered 202 without a Location; is this a registry?",
			  t->x.url.text);
		return TRANSFER_FAILED;
	}
	if (url_join(t->x.url.text, location, &url, err) < 0) {
		error_wrap(err, "upload location from %s", t->x.url.text);
		return TRANSFER_FAILED;
	}
	if (open_file(blob, err) < 0)
		return TRANSFER_FAILED;
	str_clear(&t->session);
	str_add(&t->session, url.text);
	url_add_query(&url, "digest", blob->descriptor.digest);
	blob->phase = BLOB_PUT;
	exchange_request(&t->x, "PUT", "%s", url.text);
	t->x.scope = blob->scope;
	t->x.content_type = "application/octet-stream";
	t->x.body_fd = blob->fd;
	t->x.body_bytes = blob->descriptor.size_bytes;
	t->x.progress = blob->progress;
	return TRANSFER_SEND;
}

static enum transfer_next landed(struct blob_request *blob)
{
	char size[32];

	str_clear(&blob->transfer.session);
	blob->is_there = blob->was_sent = true;
	progress_end(blob->progress, true, "sent %s in %.1f s",
		     format_bytes(size, blob->descriptor.size_bytes),
		     clock_seconds_since(blob->started_usec));
	blob->progress = NULL;
	return TRANSFER_DONE;
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
		return landed(blob); /* the torn PUT had come through */
	if (blob->is_there || blob->only_ask)
		return TRANSFER_DONE;
	return open_session(blob);
}

/* The registry says that the bytes do not have the digest: whose fault is it? */
static enum transfer_next digest_differs(struct blob_request *blob, struct error *err)
{
	char path[LAYOUT_PATH_BYTES], digest[DIGEST_TEXT_BYTES];

	if (layout_blob_path(blob->folder, blob->descriptor.digest, path, err) < 0 ||
	    digest_of_file(path, digest, err) < 0)
		return TRANSFER_FAILED;
	if (strcmp(digest, blob->descriptor.digest) == 0)
		return TRANSFER_AGAIN; /* damaged on the way */
	error_set(err, ERROR_FAILED,
		  "%s is damaged on this machine's disk: its bytes have the digest %s, so the "
		  "registry refused them; remove it and make the image again",
		  path, digest);
	return TRANSFER_FAILED;
}

static enum transfer_next put_answered(struct blob_request *blob, struct error *err)
{
	struct exchange *x = &blob->transfer.x;

	blob->sent_bytes += x->body_offset;
	if (x->result != CURLE_OK)
		return transfer_failed(&blob->transfer, err);
	if (x->status == 201)
		return landed(blob);
	if (failure_has_code(x, "DIGEST_INVALID"))
		return digest_differs(blob, err);
	/* The session is gone or does not know how far it is. */
	if (x->status == 404 || x->status == 416 || failure_has_code(x, "BLOB_UPLOAD_INVALID") ||
	    failure_has_code(x, "BLOB_UPLOAD_UNKNOWN"))
		return TRANSFER_AGAIN;
	return transfer_failed(&blob->transfer, err);
}

static enum transfer_next blob_step(struct transfer *transfer, struct error *err)
{
	struct blob_request *blob = (struct blob_request *)transfer;
	const struct exchange *x = &transfer->x;

	if (!x->method)
		return blob->phase == BLOB_POST ? open_session(blob) : ask(blob);
	switch (blob->phase) {
	case BLOB_HEAD:
		return asked(blob, err);
	case BLOB_POST:
		if (x->result == CURLE_OK && x->status == 202)
			return put(blob, err);
		return transfer_failed(transfer, err);
	case BLOB_PUT:
		return put_answered(blob, err);
	case BLOB_DELETE:
	default:
		return ask(blob); /* whatever it answered */
	}
}

/* After a tear: delete the session where there is one, then ask, then start anew. */
static void blob_recover(struct transfer *transfer)
{
	struct blob_request *blob = (struct blob_request *)transfer;

	if (blob->phase == BLOB_PUT)
		blob->sent_bytes += transfer->x.body_offset;
	if (blob->progress)
		progress_state(blob->progress, "sending again (try %d)", transfer->tries + 1);
	if (!transfer->session.length) {
		ask(blob);
		return;
	}
	blob->phase = BLOB_DELETE;
	exchange_request(&transfer->x, "DELETE", "%s", transfer->session.text);
	transfer->x.scope = blob->scope;
	str_clear(&transfer->session);
}

void blob_request_ask(struct blob_request *blob, struct registry *registry,
		      const struct reference *ref, const char *folder, const char *scope,
		      const struct descriptor *descriptor)
{
	*blob = (struct blob_request){.only_ask = true,
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
	struct registry *registry = t->registry;

	transfer_release(t);
	transfer_init(t, registry, blob_step);
	t->name = blob->name;
	t->recover = blob_recover;
	blob->only_ask = false;
	blob->phase = BLOB_POST;
}

void blob_request_release(struct blob_request *blob)
{
	if (blob->progress)
		progress_end(blob->progress, false, "not sent");
	blob->progress = NULL;
	transfer_release(&blob->transfer);
	fd_close(&blob->fd);
}
