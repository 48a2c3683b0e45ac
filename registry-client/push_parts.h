/* SPDX-License-Identifier: MIT */
/* push_parts.h - a push under way: what push.c and push_ahead.c share. */
#ifndef REGISTRY_CLIENT_PUSH_PARTS_H
#define REGISTRY_CLIENT_PUSH_PARTS_H

#include "registry-client/manifest_http.h"
#include "registry-client/push_origin.h"

/* A manifest or an index that is pushed: the reference's own, or one that an index names. */
struct page {
	struct page *next;
	struct descriptor descriptor;
	struct reference ref;
	const char *bytes;
	struct manifest_request ask;
	bool is_there;
};

struct push {
	struct registry *registry;
	const struct push_origin *origin;
	const struct reference *ref;
	char scope[SCOPE_BYTES];
	struct page *pages, **last; /* images before the index that names them */
	size_t page_count;
	uint64_t page_bytes;
	struct blob_request **blobs;
	size_t blob_count, blob_room;
	size_t settled;	      /* the first so many blobs are there */
	uint64_t tried_bytes; /* of those that push_forget took out */
	struct transfer **list;
	struct journal journal;
	struct arena arena;
};

void push_init(struct push *push, struct registry *registry, const struct push_origin *origin,
	       const struct reference *ref);
/* Once it is known where the layout is, if there is one. */
void push_open_journal(struct push *push);
void push_release(struct push *push);

/* One of the image's blobs; a digest that is named twice is moved once. */
int push_add_blob(struct push *push, const struct descriptor *descriptor, struct error *err);

/* Asks for all blobs that are not settled, and for the pages, in flight together. */
int push_ask(struct push *push, struct error *err);

/* Sends those that are not there; then all are settled. */
int push_send(struct push *push, struct error *err);

/* Takes out the blobs that are not settled. */
void push_forget(struct push *push);

/* Ends the thread of a push that was made ahead; it is to be gone on with. */
struct push *push_ahead_take(struct push_ahead *ahead);

#endif
