/* SPDX-License-Identifier: MIT */
/*
 * blob.h - one blob to a registry: is it there, and if not, send it.
 *
 * Source: OCI distribution-spec 1.1, "Pushing blobs", "POST then PUT". The body comes from the
 * layout's file and can be sent again from its start. Distribution 2.8 never takes up a torn upload
 * again (its signed offset no longer fits the bytes on its disk), so after a tear the session is
 * deleted, HEAD asks whether the last PUT landed after all, and a new session sends the blob.
 */
#ifndef REGISTRY_CLIENT_BLOB_H
#define REGISTRY_CLIENT_BLOB_H

#include "registry-client/manifest.h"
#include "registry-client/transfer.h"

enum blob_phase { BLOB_HEAD, BLOB_POST, BLOB_PUT, BLOB_DELETE };

struct blob_request {
	struct transfer transfer; /* first: a step casts */
	enum blob_phase phase;
	bool only_ask; /* HEAD alone */
	const struct reference *ref;
	const char *folder; /* the layout that holds the bytes */
	struct descriptor descriptor;
	const char *scope;
	char name[48];	     /* "blob sha256:1f3a5c0b9d2e" */
	bool is_there;	     /* the registry has it now */
	bool was_sent;	     /* by us */
	uint64_t sent_bytes; /* over all tries */
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

#endif
