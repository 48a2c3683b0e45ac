/* SPDX-License-Identifier: MIT */
#include "registry-client/blobs/blob_upload.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/progress.h"
#include "oci/layout.h"
#include "registry-client/http/failure.h"
#include "registry-client/limits.h"
#include "registry-client/http/range.h"
#include "registry-client/http/session.h"
#include "registry-client/http/url.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum transfer_next post(struct blob_request *blob)
{
	struct transfer *t = &blob->transfer;

	blob->phase = BLOB_POST;
	t->registry = blob->registry;
	exchange_request(&t->x, "POST", "%s/v2/%s/blobs/uploads/", t->registry->base,
			 blob->ref->repository);
	if (blob->mount_from && !blob->mount_was_tried) {
		url_add_query(&t->x.url, "mount", blob->descriptor.digest);
		url_add_query(&t->x.url, "from", blob->mount_from);
	}
	t->takes_refusal = blob->mount_from && !blob->mount_was_tried;
	t->x.scope = t->takes_refusal && blob->mount_scope ? blob->mount_scope : blob->scope;
	return TRANSFER_SEND;
}

/*
 * Asks how far the session is. OCI distribution-spec 1.1, "Pushing a blob in chunks": GET Location.
 */
static enum transfer_next ask_status(struct blob_request *blob)
{
	struct transfer *t = &blob->transfer;

	blob->phase = BLOB_STATUS;
	t->registry = blob->registry;
	exchange_request(&t->x, "GET", "%s", t->session.text);
	t->x.scope = blob->scope;
	return TRANSFER_SEND;
}

enum transfer_next blob_open(struct blob_request *blob)
{
	const char *location = NULL;
	enum transfer_next next;

	if (blob_is_others(blob, &next))
		return next;
	if (!blob->progress) {
		blob->started_usec = clock_usec();
		blob->progress = progress_blob(blob->descriptor.digest, blob->descriptor.size_bytes,
					       0, blob->source ? "copying" : "sending");
	}
	if (blob->journal && !blob->journal_was_tried)
		location = journal_find(blob->journal, blob->ref, blob->descriptor.digest);
	blob->journal_was_tried = true;
	if (!location || !url_same_origin(blob->registry->base, location))
		return post(blob);
	str_clear(&blob->transfer.session);
	str_add(&blob->transfer.session, location);
	if (!blob->chunk_bytes)
		blob->chunk_bytes = CHUNK_BYTES_DEFAULT;
	return ask_status(blob);
}

static int blob_upload_open_file(struct blob_request *blob, struct error *err)
{
	char path[LAYOUT_PATH_BYTES];

	if (blob->fd >= 0 || blob->source)
		return 0;
	if (layout_blob_path(blob->folder, blob->descriptor.digest, path, err) < 0)
		return -1;
	return file_open(path, &blob->fd, err);
}

static bool blob_upload_take(struct exchange *x, const void *bytes, size_t length)
{
	struct blob_request *blob =
		(struct blob_request *)((char *)x - offsetof(struct blob_request, transfer.x));

	if (length > blob->chunk_room - blob->chunk_filled)
		return false;
	memcpy(blob->chunk + blob->chunk_filled, bytes, length);
	blob->chunk_filled += length;
	return true;
}

static uint64_t next_length(const struct blob_request *blob)
{
	uint64_t left = blob->descriptor.size_bytes - blob->offset;

	return left < blob->chunk_bytes ? left : blob->chunk_bytes;
}

/* A chunk of a copy, into memory: COPY_CHUNK_BYTES_MAX at most, see blob_upload_size_chunks. */
static enum transfer_next read_chunk(struct blob_request *blob)
{
	struct transfer *t = &blob->transfer;
	uint64_t length = next_length(blob);

	blob->phase = BLOB_READ;
	blob->chunk_filled = 0;
	if (blob->chunk_room < length) {
		free(blob->chunk);
		blob->chunk = xmalloc(length);
		blob->chunk_room = length;
	}
	t->registry = blob->source->registry;
	exchange_request(&t->x, "GET", "%s/v2/%s/blobs/%s", t->registry->base,
			 blob->source->ref->repository, blob->descriptor.digest);
	snprintf(blob->range, sizeof(blob->range), "bytes=%llu-%llu",
		 (unsigned long long)blob->offset, (unsigned long long)(blob->offset + length - 1));
	if (length < blob->descriptor.size_bytes)
		t->x.range = blob->range;
	t->x.scope = blob->source->scope;
	t->x.sink = blob_upload_take;
	t->x.expected_bytes = length;
	return TRANSFER_SEND;
}

/* The request for the bytes from the offset on: PATCH, or PUT when it is all in one. */
static void set_body(struct blob_request *blob, uint64_t length)
{
	struct exchange *x = &blob->transfer.x;

	x->scope = blob->scope;
	x->content_type = "application/octet-stream";
	x->body = blob->chunk;
	x->body_fd = blob->chunk ? -1 : blob->fd;
	x->body_start = blob->offset;
	x->body_bytes = length;
	x->progress = blob->progress;
	x->progress_start = blob->offset;
	x->progress_total = blob->descriptor.size_bytes;
	x->own_connection = blob->tears > 0;
}

static enum transfer_next patch(struct blob_request *blob)
{
	struct transfer *t = &blob->transfer;
	uint64_t length = next_length(blob);

	blob->phase = BLOB_PATCH;
	t->registry = blob->registry;
	exchange_request(&t->x, "PATCH", "%s", t->session.text);
	set_body(blob, length);
	snprintf(blob->range, sizeof(blob->range), "%llu-%llu", (unsigned long long)blob->offset,
		 (unsigned long long)(blob->offset + length - 1));
	t->x.content_range = blob->range;
	return TRANSFER_SEND;
}

/* The PUT that ends the session, with all bytes or none. */
static enum transfer_next blob_upload_put(struct blob_request *blob, uint64_t length)
{
	struct transfer *t = &blob->transfer;

	blob->phase = BLOB_PUT;
	t->registry = blob->registry;
	exchange_request(&t->x, "PUT", "%s", t->session.text);
	url_add_query(&t->x.url, "digest", blob->descriptor.digest);
	set_body(blob, length);
	if (!length)
		t->x.body = "";
	return TRANSFER_SEND;
}

static enum transfer_next send_next(struct blob_request *blob, struct error *err)
{
	if (blob_upload_open_file(blob, err) < 0)
		return TRANSFER_FAILED;
	if (blob->offset == blob->descriptor.size_bytes)
		return blob_upload_put(blob, 0);
	if (blob->source)
		return read_chunk(blob);
	if (!blob->chunk_bytes)
		return blob_upload_put(blob, blob->descriptor.size_bytes);
	return patch(blob);
}

/* The session's address, which may change with each answer. False: `err` is set. */
static bool take_location(struct blob_request *blob, bool is_needed, struct error *err)
{
	struct transfer *t = &blob->transfer;
	const char *location = exchange_header(&t->x, "Location");
	_cleanup_(str_release) struct str url = STR_INIT, plain = STR_INIT;

	if (!location && !is_needed)
		return true;
	url_for_people(t->x.url.text, &plain);
	if (!location) {
		error_set(err, ERROR_FAILED,
			  "%s %s answered %ld without a Location; is this a registry?", t->x.method,
			  plain.text, t->x.status);
		return false;
	}
	if (url_join(t->x.url.text, location, &url, err) < 0) {
		error_wrap(err, "upload location from %s", plain.text);
		return false;
	}
	str_clear(&t->session);
	str_add(&t->session, url.text);
	t->session_registry = blob->registry;
	if (blob->journal && blob->descriptor.size_bytes >= JOURNAL_BYTES_MIN)
		journal_note(blob->journal, blob->ref, blob->descriptor.digest, url.text);
	return true;
}

/* How far the session is, by its answer, or -1. */
static int64_t session_end(const struct exchange *x)
{
	const char *range = exchange_header(x, "Range");

	return range ? range_of_session(range) : -1;
}

/*
 * How large the chunks of a new session are. The registry may ask for a least size; a copy holds a
 * chunk in memory, so there is a most for that.
 */
static int blob_upload_size_chunks(struct blob_request *blob, struct error *err)
{
	const char *least = exchange_header(&blob->transfer.x, "OCI-Chunk-Min-Length");

	if (least && !range_of_chunk_min(least, &blob->min_chunk_bytes))
		blob->min_chunk_bytes = 0;
	if (!blob->chunk_bytes && blob->registry->tears > 1 &&
	    blob->descriptor.size_bytes > blob->registry->chunk_bytes)
		blob->chunk_bytes = blob->registry->chunk_bytes;
	if (blob->source && !blob->chunk_bytes)
		blob->chunk_bytes = COPY_CHUNK_BYTES;
	if (blob->source && blob->chunk_bytes > COPY_CHUNK_BYTES_MAX)
		blob->chunk_bytes = COPY_CHUNK_BYTES_MAX;
	if (blob->chunk_bytes && blob->chunk_bytes < blob->min_chunk_bytes)
		blob->chunk_bytes = blob->min_chunk_bytes;
	if (!blob->source || next_length(blob) <= COPY_CHUNK_BYTES_MAX)
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"registry %s wants chunks of %.20s bytes or more (OCI-Chunk-Min-Length), and a copy holds %llu MiB at most; pull the image to oci:DIR and push it from there",
		blob->registry->base, least ? least : "?", COPY_CHUNK_BYTES_MAX / MIB);
}

static enum transfer_next posted(struct blob_request *blob, struct error *err)
{
	struct exchange *x = &blob->transfer.x;
	bool mounting = blob->transfer.takes_refusal;

	blob->transfer.takes_refusal = false;
	blob->mount_was_tried = true;
	if (x->result == CURLE_OK && x->status == 201 && mounting) {
		blob->was_mounted = true;
		return blob_landed(blob);
	}
	if (x->result == CURLE_OK && mounting && x->status >= 400 && x->status < 500)
		return post(blob); /* mounts are not allowed, or not known */
	if (x->result != CURLE_OK || x->status != 202)
		return transfer_failed(&blob->transfer, err);
	if (!take_location(blob, true, err))
		return TRANSFER_FAILED;
	blob->offset = 0;
	if (blob_upload_size_chunks(blob, err) < 0)
		return TRANSFER_FAILED;
	return send_next(blob, err);
}

/*
 * Deletes the session, asks by HEAD, and starts from the beginning. A token for a push need not
 * allow a delete (Distribution wants the action "delete" for it).
 */
static enum transfer_next restart(struct blob_request *blob, struct error *err)
{
	struct transfer *t = &blob->transfer;

	if (++blob->restarts > RESTARTS_MAX) {
		failure_set(t->registry, &t->x, err);
		error_advise(err, "begun anew %d times", RESTARTS_MAX);
		return TRANSFER_FAILED;
	}
	blob->offset = 0;
	if (blob->journal)
		journal_note(blob->journal, blob->ref, blob->descriptor.digest, NULL);
	if (!t->session.length)
		return blob_ask(blob);
	blob->phase = BLOB_DELETE;
	t->registry = blob->registry;
	exchange_request(&t->x, "DELETE", "%s", t->session.text);
	t->x.scope = blob->scope;
	t->takes_refusal = true;
	str_clear(&t->session);
	return TRANSFER_SEND;
}

static bool blob_upload_is_gone(const struct exchange *x)
{
	return x->status == 404 || x->status == 416 || failure_has_code(x, "BLOB_UPLOAD_INVALID") ||
	       failure_has_code(x, "BLOB_UPLOAD_UNKNOWN");
}

static enum transfer_next status_answered(struct blob_request *blob, struct error *err)
{
	const struct exchange *x = &blob->transfer.x;
	int64_t end = session_end(x);

	if (x->result != CURLE_OK)
		return transfer_failed(&blob->transfer, err);
	if (x->status < 200 || x->status > 299 || end < 0 ||
	    (uint64_t)end > blob->descriptor.size_bytes)
		return restart(blob, err);
	if (!take_location(blob, false, err))
		return TRANSFER_FAILED;
	blob->offset = (uint64_t)end;
	return send_next(blob, err);
}

/* The registry says that the bytes do not have the digest: finds out where they were damaged. */
static enum transfer_next digest_differs(struct blob_request *blob, struct error *err)
{
	bool is_last = ++blob->damaged_tries >= DAMAGED_TRIES_MAX;
	char path[LAYOUT_PATH_BYTES], digest[DIGEST_TEXT_BYTES];

	if (blob->source && is_last) {
		error_set(
			err, ERROR_FAILED,
			"%d times the bytes that registry %s sent had another digest; the blob is damaged there or on the way: push it there again, and look for a broken proxy or disk",
			blob->damaged_tries, blob->source->registry->base);
		return TRANSFER_FAILED;
	}
	if (blob->source)
		return restart(blob, err);
	if (layout_blob_path(blob->folder, blob->descriptor.digest, path, err) < 0 ||
	    digest_of_file_as(path, blob->descriptor.digest, digest, err) < 0)
		return TRANSFER_FAILED;
	if (strcmp(digest, blob->descriptor.digest) == 0) /* damaged on the way */
		return is_last ? transfer_failed(&blob->transfer, err) : restart(blob, err);
	error_set(
		err, ERROR_FAILED,
		"%s is damaged on this machine's disk: its bytes have the digest %s, so the registry refused them; remove it and make the image again",
		path, digest);
	return TRANSFER_FAILED;
}

/* A proxy takes no bodies of this size. False: smaller ones are not possible. */
static bool make_smaller(struct blob_request *blob)
{
	uint64_t less = blob->chunk_bytes ? blob->chunk_bytes / 2 : CHUNK_BYTES_DEFAULT;

	while (less >= CHUNK_BYTES_MIN && less >= blob->transfer.x.body_bytes)
		less /= 2;
	if (less < CHUNK_BYTES_MIN || less < blob->min_chunk_bytes)
		return false;
	blob->chunk_bytes = less;
	return true;
}

static enum transfer_next put_answered(struct blob_request *blob, struct error *err)
{
	struct exchange *x = &blob->transfer.x;

	blob->sent_bytes += x->body_offset;
	if (x->result != CURLE_OK)
		return transfer_failed(&blob->transfer, err);
	if (x->status == 201)
		return blob_landed(blob);
	if (failure_has_code(x, "DIGEST_INVALID"))
		return digest_differs(blob, err);
	if (blob_upload_is_gone(x) || (x->status == 413 && make_smaller(blob)))
		return restart(blob, err);
	return transfer_failed(&blob->transfer, err);
}

static enum transfer_next patch_answered(struct blob_request *blob, struct error *err)
{
	struct exchange *x = &blob->transfer.x;
	uint64_t sent = blob->offset + x->body_bytes;
	int64_t end = session_end(x);

	blob->sent_bytes += x->body_offset;
	if (x->result != CURLE_OK)
		return transfer_failed(&blob->transfer, err);
	if (x->status == 416)
		return ++blob->asks % STATUS_ASKS_MAX ? ask_status(blob) : restart(blob, err);
	if (blob_upload_is_gone(x))
		return restart(blob, err);
	if (x->status == 413 && make_smaller(blob))
		return ask_status(blob);
	if (x->status != 202 && x->status != 201 && x->status != 204)
		return transfer_failed(&blob->transfer, err);
	if (!take_location(blob, x->status == 202, err))
		return TRANSFER_FAILED;
	/* The registry may have kept less than was sent, never more; the offset never goes back. */
	if (end > 0 && (uint64_t)end > blob->offset && (uint64_t)end < sent)
		sent = (uint64_t)end;
	blob->offset = sent;
	blob->transfer.tries = 0;
	return send_next(blob, err);
}

/* Whether a 206 holds what was asked for; without a Content-Range it is believed. */
static bool is_chunk(const struct blob_request *blob)
{
	const char *text = exchange_header(&blob->transfer.x, "Content-Range");
	struct content_range got;

	if (!text)
		return true;
	return range_of_content(text, &got) && got.from == blob->offset &&
	       got.to < blob->descriptor.size_bytes;
}

static enum transfer_next chunk_read(struct blob_request *blob, struct error *err)
{
	struct exchange *x = &blob->transfer.x;

	if (x->result == CURLE_OK && x->status == 206 && x->range && !is_chunk(blob)) {
		error_set(
			err, ERROR_FAILED,
			"registry %s sends other bytes of the blob than the %s that were asked for; look for a broken proxy in between",
			blob->source->registry->base, blob->range);
		return TRANSFER_FAILED;
	}
	if (x->result == CURLE_OK && blob->chunk_filled == next_length(blob) &&
	    x->status == (x->range ? 206 : 200))
		return patch(blob);
	if (x->result == CURLE_OK && x->status == 206)
		return TRANSFER_AGAIN;
	if ((x->result == CURLE_OK || x->result == CURLE_WRITE_ERROR) && x->status == 200 &&
	    !x->range) {
		error_set(
			err, ERROR_FAILED,
			"registry %s sends a blob of another size than the %llu bytes that the manifest names; push the image there again",
			blob->source->registry->base,
			(unsigned long long)blob->descriptor.size_bytes);
		return TRANSFER_FAILED;
	}
	if ((x->result == CURLE_OK || x->result == CURLE_WRITE_ERROR) && x->status == 200) {
		error_set(
			err, ERROR_FAILED,
			"registry %s gives no parts of blobs (200 to a Range request); pull the image to oci:DIR and push it from there",
			blob->source->registry->base);
		return TRANSFER_FAILED;
	}
	return transfer_failed(&blob->transfer, err);
}

enum transfer_next blob_upload_step(struct blob_request *blob, struct error *err)
{
	switch (blob->phase) {
	case BLOB_POST:
		return posted(blob, err);
	case BLOB_READ:
		return chunk_read(blob, err);
	case BLOB_PATCH:
		return patch_answered(blob, err);
	case BLOB_STATUS:
		return status_answered(blob, err);
	case BLOB_PUT:
	case BLOB_HEAD:
	case BLOB_DELETE:
	default:
		return put_answered(blob, err);
	}
}

/* The connection broke in the middle of a body: from now on bodies are smaller. */
static void note_tear(struct blob_request *blob)
{
	const struct exchange *x = &blob->transfer.x;
	uint64_t less = x->body_offset / 2 / CHUNK_ALIGN_BYTES * CHUNK_ALIGN_BYTES;

	blob->sent_bytes += x->body_offset;
	if (x->result == CURLE_OK)
		return;
	blob->tears++;
	if (less < CHUNK_BYTES_MIN)
		less = CHUNK_BYTES_MIN;
	if (less < blob->min_chunk_bytes)
		less = blob->min_chunk_bytes;
	/* A copy keeps its buffer, which is larger than what goes into one request. */
	if (!blob->chunk_bytes || less < blob->chunk_bytes)
		blob->chunk_bytes = less;
	blob->registry->tears++;
	if (!blob->registry->chunk_bytes || less < blob->registry->chunk_bytes)
		blob->registry->chunk_bytes = less;
}

void blob_upload_recover(struct transfer *transfer)
{
	struct blob_request *blob = (struct blob_request *)transfer;

	if (blob->progress)
		progress_state(blob->progress, "sending again (try %d)", transfer->tries + 1);
	switch (blob->phase) {
	case BLOB_READ:
		read_chunk(blob);
		break;
	case BLOB_PATCH:
	case BLOB_PUT:
		note_tear(blob);
		ask_status(blob);
		break;
	case BLOB_POST:
		post(blob);
		break;
	case BLOB_HEAD:
	case BLOB_DELETE:
	case BLOB_STATUS:
	default:
		break; /* the same again */
	}
}
