/* SPDX-License-Identifier: MIT */
#include "registry-client/blobs/fetch.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/progress.h"
#include "core/progress_total.h"
#include "registry-client/limits.h"
#include "registry-client/pull.h"
#include "registry-client/http/range.h"
#include "registry-client/http/session.h"
#include "registry-client/http/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The offset at which the part's next byte belongs. */
static uint64_t part_offset(const struct fetch_part *part)
{
	const struct partial *partial = &part->fetch->partial;

	return partial_part_offset(partial, part->index) + partial->done_bytes[part->index] +
	       part->buffered_bytes;
}

static bool fetch_give_up(struct fetch_part *part, const char *why)
{
	_cleanup_(str_release) struct str url = STR_INIT;

	url_for_people(part->transfer.x.url.text, &url);
	error_set(
		&part->why, ERROR_FAILED,
		"GET %.300s: %s; look into the registry's log and storage, and whether a proxy is in between",
		url.text, why);
	return false;
}

/* The head of a 200 or 206: does it answer what was asked? */
static bool fetch_begin(struct fetch_part *part, struct exchange *x)
{
	uint64_t offset = part_offset(part), size = part->fetch->partial.descriptor.size_bytes;
	const char *text = exchange_header(x, "Content-Range");
	struct content_range got;
	int64_t length = exchange_content_length(x);

	part->has_begun = true;
	if (exchange_status(x) == 200) {
		if (length >= 0 && (uint64_t)length != size)
			return fetch_give_up(
				part, "it sends a blob of another size than the manifest names");
		part->skip_bytes = offset;
		part->fetch->registry->ignores_ranges |= x->range != NULL;
		return true;
	}
	if (!x->range || !text || !range_of_content(text, &got))
		return fetch_give_up(part, "it answers 206 without a usable Content-Range");
	if (got.from != offset || got.to >= part->end ||
	    (got.total >= 0 && (uint64_t)got.total != size))
		return fetch_give_up(part,
				     "it sends another range than the one that was asked for");
	return true;
}

static void tell_progress(struct fetch *fetch)
{
	progress_bytes(fetch->progress, partial_done_bytes(&fetch->partial),
		       fetch->partial.descriptor.size_bytes);
}

static bool flush(struct fetch_part *part)
{
	struct fetch *fetch = part->fetch;

	if (!part->buffered_bytes)
		return true;
	if (partial_add(&fetch->partial, part->index, part->buffer, part->buffered_bytes,
			&part->why) < 0)
		return false;
	part->buffered_bytes = 0;
	verify_grown(fetch->verify, &fetch->file, partial_ready_bytes(&fetch->partial));
	tell_progress(fetch);
	return true;
}

/* Adds bytes to the buffer; only a full buffer is written. */
static bool keep(struct fetch_part *part, const char *p, size_t length)
{
	const struct exchange *x = &part->transfer.x;

	while (length) {
		uint64_t left = part->end - part_offset(part);
		size_t room = DOWNLOAD_BUFFER_BYTES - part->buffered_bytes;

		room = room < length ? room : length;
		if (!left && exchange_status(x) == 200 &&
		    part->end < part->fetch->partial.descriptor.size_bytes)
			return false; /* the rest is another part's */
		if (!left)
			return fetch_give_up(part, "it sends more bytes than the blob has");
		room = room < left ? room : left;
		memcpy(part->buffer + part->buffered_bytes, p, room);
		part->buffered_bytes += room;
		p += room;
		length -= room;
		if (part->buffered_bytes == DOWNLOAD_BUFFER_BYTES && !flush(part))
			return false;
	}
	return true;
}

static bool fetch_take(struct exchange *x, const void *bytes, size_t length)
{
	struct fetch_part *part =
		(struct fetch_part *)((char *)x - offsetof(struct fetch_part, transfer.x));
	const char *p = bytes;

	if (!part->has_begun && !fetch_begin(part, x))
		return false;
	part->fetch->received_bytes += length;
	if (part->skip_bytes) {
		size_t skip = part->skip_bytes < length ? part->skip_bytes : length;

		part->skip_bytes -= skip;
		p += skip;
		length -= skip;
	}
	part->since_bytes += length;
	if (part->since_bytes >= PROGRESS_BYTES)
		part->transfer.tries = 0;
	return keep(part, p, length);
}

static enum transfer_next request(struct fetch_part *part)
{
	struct fetch *fetch = part->fetch;
	struct exchange *x = &part->transfer.x;
	uint64_t offset = part_offset(part), size = fetch->partial.descriptor.size_bytes;

	exchange_request(x, "GET", "%s/v2/%s/blobs/%s", fetch->registry->base,
			 fetch->ref->repository, fetch->partial.descriptor.digest);
	x->scope = fetch->scope;
	x->expected_bytes = part->end - offset;
	x->sink = fetch_take;
	part->has_begun = false;
	part->why = (struct error){0};
	part->since_bytes = part->skip_bytes = 0;
	if (!part->buffer)
		part->buffer = xmalloc(DOWNLOAD_BUFFER_BYTES);
	if (!fetch->progress) {
		fetch->started_usec = clock_usec();
		fetch->progress = progress_blob(fetch->partial.descriptor.digest, size,
						partial_done_bytes(&fetch->partial), "receiving");
	}
	if (offset > 0 || part->end < size) {
		snprintf(part->range, sizeof(part->range), "bytes=%llu-%llu",
			 (unsigned long long)offset, (unsigned long long)part->end - 1);
		x->range = part->range;
	}
	return TRANSFER_SEND;
}

static enum transfer_next fetch_fail(struct fetch_part *part, struct error *err)
{
	*err = part->why;
	return TRANSFER_FAILED;
}

/* All bytes are there and have another digest: throws all of them away. */
static enum transfer_next fetch_damaged(struct fetch_part *part, struct error *err)
{
	struct fetch *fetch = part->fetch;

	if (++fetch->damaged_tries >= DAMAGED_TRIES_MAX) {
		error_set(
			err, ERROR_FAILED,
			"%s/v2/%s/blobs/%s: %d times the bytes that came had another digest, at last %s; the blob is damaged in the registry or on the way: push it again, and look for a broken proxy or disk",
			fetch->registry->base, fetch->ref->repository,
			fetch->partial.descriptor.digest, fetch->damaged_tries, fetch->file.text);
		partial_reset(&fetch->partial, &part->why);
		return TRANSFER_FAILED;
	}
	verify_end(fetch->verify, &fetch->file);
	if (partial_reset(&fetch->partial, err) < 0)
		return TRANSFER_FAILED;
	verify_begin(fetch->verify, &fetch->file, fetch->partial.fd,
		     fetch->partial.descriptor.size_bytes, fetch->partial.descriptor.digest);
	part->transfer.tries = 0;
	part->index = 0;
	part->end = fetch->partial.descriptor.size_bytes;
	progress_state(fetch->progress, "arrived damaged; receiving again");
	return TRANSFER_AGAIN;
}

/* The last part waits for the digest of the whole blob. */
static enum transfer_next fetch_check(struct fetch_part *part, struct error *err)
{
	struct fetch *fetch = part->fetch;
	const struct descriptor *d = &fetch->partial.descriptor;
	char size[32];

	if (!verify_is_finished(fetch->verify, &fetch->file))
		return TRANSFER_WAIT;
	if (fetch->file.os_errno) {
		error_set(err, ERROR_FAILED, "cannot read %s back: %s", fetch->partial.path,
			  strerror(fetch->file.os_errno));
		return TRANSFER_FAILED;
	}
	if (strcmp(fetch->file.text, d->digest) != 0)
		return fetch_damaged(part, err);
	verify_end(fetch->verify, &fetch->file);
	if (partial_finish(&fetch->partial, err) < 0)
		return TRANSFER_FAILED;
	fetch->is_done = fetch->shared->is_there = true;
	if (fetch->progress)
		progress_end(fetch->progress, true, "received %s in %.1f s",
			     format_bytes(size, d->size_bytes),
			     clock_seconds_since(fetch->started_usec));
	fetch->progress = NULL;
	if (fetch->watch && fetch->watch->arrived(fetch->watch->arg, d->digest, err) < 0)
		return TRANSFER_FAILED;
	return TRANSFER_DONE;
}

/* The part's bytes are there. */
static enum transfer_next part_done(struct fetch_part *part, struct error *err)
{
	struct fetch *fetch = part->fetch;

	part->has_ended = true;
	free(part->buffer);
	part->buffer = NULL;
	if (++fetch->ended_parts < fetch->part_count)
		return TRANSFER_DONE;
	return fetch_check(part, err);
}

static enum transfer_next fetch_answered(struct fetch_part *part, struct error *err)
{
	struct transfer *t = &part->transfer;
	const struct exchange *x = &t->x;

	if (!flush(part))
		return fetch_fail(part, err);
	if (part_offset(part) == part->end)
		return part_done(part, err);
	if (part->why.kind != ERROR_NONE)
		return fetch_fail(part, err);
	if (x->result == CURLE_OK && (x->status == 200 || x->status == 206))
		return TRANSFER_AGAIN; /* shorter than asked for */
	/*
	 * The server behind the redirect no longer takes the signed address, or something similar.
	 */
	if (x->result == CURLE_OK && t->redirects && x->status == 403)
		return TRANSFER_AGAIN;
	/* The local part is longer than the registry's blob: it is thrown away. */
	if (x->result == CURLE_OK && x->status == 416 && part->fetch->partial.part_count == 1)
		return fetch_damaged(part, err);
	return transfer_failed(t, err);
}

/* Opens the file only when its turn comes: it is open, and hashed, only while bytes arrive. */
static int fetch_open_file(struct fetch *fetch, struct error *err)
{
	struct partial *partial = &fetch->partial;
	const struct descriptor descriptor = partial->descriptor;

	if (fetch->is_open)
		return 0;
	if (partial_open(partial, partial->folder, &descriptor,
			 fetch->registry->ignores_ranges ? 1 : fetch->part_count, err) < 0 ||
	    (partial->part_count > fetch->part_count && partial_reset(partial, err) < 0))
		return -1;
	fetch->is_open = true;
	fetch->resumed_bytes = partial_done_bytes(partial);
	progress_add(PROGRESS_RESUMED, (int64_t)fetch->resumed_bytes);
	progress_add(PROGRESS_TODO, -(int64_t)fetch->resumed_bytes);
	for (size_t i = 0; i < partial->part_count; i++)
		fetch->parts[i].end = partial_part_offset(partial, i + 1);
	verify_begin(fetch->verify, &fetch->file, partial->fd, descriptor.size_bytes,
		     descriptor.digest);
	verify_grown(fetch->verify, &fetch->file, partial_ready_bytes(partial));
	return 0;
}

/* Another image's pull has brought it into the same layout. */
static enum transfer_next take_shared(struct fetch *fetch, struct error *err)
{
	int64_t bytes = (int64_t)fetch->partial.descriptor.size_bytes;

	if (fetch->is_shared)
		return TRANSFER_DONE;
	fetch->is_shared = true;
	progress_add(PROGRESS_TODO, -bytes);
	progress_add(PROGRESS_THERE, bytes);
	return fetch->watch && fetch->watch->arrived(fetch->watch->arg,
						     fetch->partial.descriptor.digest, err) < 0
		       ? TRANSFER_FAILED
		       : TRANSFER_DONE;
}

/* The first request for a part. */
static enum transfer_next fetch_start(struct fetch_part *part, struct error *err)
{
	struct fetch *fetch = part->fetch;
	struct loop *loop = fetch->registry->loop;
	const char *folder = fetch->partial.folder, *digest = fetch->partial.descriptor.digest;
	const struct shared_blob *other =
		fetch->shared ? NULL : shared_find(loop, folder, "", digest);

	if (other && other->is_there)
		return take_shared(fetch, err);
	if (other)
		return TRANSFER_WAIT;
	if (!fetch->shared)
		fetch->shared = shared_add(loop, folder, "", digest, false);
	if (fetch_open_file(fetch, err) < 0)
		return TRANSFER_FAILED;
	if (part->index >= fetch->partial.part_count || part_offset(part) == part->end)
		return part_done(part, err);
	return request(part);
}

static enum transfer_next fetch_take_step(struct transfer *transfer, struct error *err)
{
	struct fetch_part *part = (struct fetch_part *)transfer;

	if (part->has_ended)
		return fetch_check(part, err);
	return transfer->x.method ? fetch_answered(part, err) : fetch_start(part, err);
}

static void fetch_recover(struct transfer *transfer)
{
	struct fetch_part *part = (struct fetch_part *)transfer;

	flush(part);
	part->has_ended = false;
	if (part->fetch->progress)
		progress_state(part->fetch->progress, "receiving again (try %d)",
			       transfer->tries + 1);
	transfer->x.method = NULL; /* the step finds out what is left to ask for */
}

size_t fetch_part_count(const struct registry *registry, const struct descriptor *descriptor)
{
	return descriptor->size_bytes > registry->split_bytes ? PARTS_OF_LARGE : 1;
}

void fetch_init(struct fetch *fetch, struct registry *registry, struct verify *verify,
		const struct reference *ref, const char *scope, const char *folder,
		const struct descriptor *descriptor)
{
	*fetch = (struct fetch){
		.registry = registry,
		.ref = ref,
		.scope = scope,
		.verify = verify,
		.partial = {.fd = -1, .folder = folder, .descriptor = *descriptor},
		.part_count = fetch_part_count(registry, descriptor),
	};
	snprintf(fetch->name, sizeof(fetch->name), "blob %.19s", descriptor->digest);
	for (size_t i = 0; i < fetch->part_count; i++) {
		struct fetch_part *part = &fetch->parts[i];

		part->fetch = fetch;
		part->index = i;
		transfer_init(&part->transfer, registry, fetch_take_step);
		part->transfer.name = fetch->name;
		part->transfer.recover = fetch_recover;
	}
}

void fetch_release(struct fetch *fetch)
{
	for (size_t i = 0; i < fetch->part_count; i++) {
		if (!fetch->is_done && !fetch->parts[i].has_ended)
			flush(&fetch->parts[i]);
		transfer_release(&fetch->parts[i].transfer);
		free(fetch->parts[i].buffer);
	}
	verify_end(fetch->verify, &fetch->file);
	if (fetch->progress)
		progress_end(fetch->progress, false, "not received");
	fetch->progress = NULL;
	partial_release(&fetch->partial);
	shared_drop(fetch->registry->loop, fetch->shared);
	fetch->shared = NULL;
}
