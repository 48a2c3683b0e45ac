/* SPDX-License-Identifier: MIT */
/*
 * blob.h - one blob to a registry: is it there, can it be mounted, and if not, send it.
 *
 * Source: OCI distribution-spec 1.1, "Pushing blobs", "POST then PUT", "Pushing a blob in chunks",
 * "Mounting a blob from another repository". The bytes come from a layout's file or, for a copy,
 * chunk by chunk from another registry, and can be sent again from any offset.
 *
 * The first try is one PUT. After a tear the session is asked how far it is, and the rest goes in
 * chunks well below what got through. Distribution 2.8 never takes up a torn upload again (its
 * signed offset no longer fits the bytes on its disk): then the session is deleted, HEAD asks
 * whether the last PUT landed after all, and a new session begins, in chunks, each on a connection
 * of its own, so that a path that cuts every connection is passed too. A proxy that takes no large
 * bodies (413) is answered with chunks as well.
 */
#ifndef REGISTRY_CLIENT_BLOBS_BLOB_H
#define REGISTRY_CLIENT_BLOBS_BLOB_H

#include "registry-client/blobs/journal.h"
#include "registry-client/manifest.h"
#include "registry-client/http/transfer.h"

enum blob_phase {
	BLOB_HEAD,
	BLOB_POST,
	BLOB_READ, /* a chunk, from the registry that it is copied from */
	BLOB_PATCH,
	BLOB_PUT,
	BLOB_STATUS,
	BLOB_DELETE
};

/* Where a copy comes from. */
struct blob_source {
	struct registry *registry;
	const struct reference *ref;
	const char *scope;
};

struct blob_request {
	struct transfer transfer; /* first: a step casts */
	enum blob_phase phase;
	bool only_ask;		   /* only HEAD */
	struct registry *registry; /* that gets it */
	const struct reference *ref;
	const char *folder;		  /* the layout that holds the bytes; or NULL */
	const struct blob_source *source; /* or the registry that has them */
	struct descriptor descriptor;
	const char *scope;
	const char *mount_from; /* another repository there that may have it, or NULL */
	char *mount_scope;	/* of the request that mounts, where `scope` is not enough; owned */
	struct journal *journal;      /* of upload sessions, or NULL */
	char name[48];		      /* "blob sha256:1f3a5c0b9d2e" */
	bool is_there;		      /* the registry has it now */
	bool was_sent;		      /* by this request */
	bool was_mounted, was_shared; /* another image brought it meanwhile */
	struct shared_blob *shared;   /* this blob's entry, while it is sent */
	uint64_t sent_bytes;	      /* over all tries */

	/* blob_upload.c's */
	uint64_t offset;      /* so many bytes the session has */
	uint64_t chunk_bytes; /* of a PATCH; 0: all in one PUT */
	uint64_t min_chunk_bytes;
	char *chunk; /* BLOB_READ: a copy's bytes, from `offset` on */
	size_t chunk_room, chunk_filled;
	char range[64]; /* of a request */
	int tears, restarts, asks, damaged_tries;
	bool mount_was_tried, journal_was_tried;
	int fd;
	uint64_t started_usec;
	struct progress_step *progress;
};

/* Asks only. `ref`, `folder`, `scope` are borrowed. */
void blob_request_ask(struct blob_request *blob, struct registry *registry,
		      const struct reference *ref, const char *folder, const char *scope,
		      const struct descriptor *descriptor);

/* Makes a transfer that sends out of one that asked. */
void blob_request_send(struct blob_request *blob);

/* Ends its progress line, too. */
void blob_request_release(struct blob_request *blob);

/* For blob_upload.c: */

/* Sends HEAD; an open session is forgotten. */
enum transfer_next blob_ask(struct blob_request *blob);
/* Ends the request: the registry has the blob. */
enum transfer_next blob_landed(struct blob_request *blob);
/*
 * Another image of this command may hold the blob, too: it travels once, and is then mounted from
 * where it went. True: this request must not send it now, and *next says what to do.
 */
bool blob_is_others(struct blob_request *blob, enum transfer_next *next);

#endif
