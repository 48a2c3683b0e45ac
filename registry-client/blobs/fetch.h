/* SPDX-License-Identifier: MIT */
/*
 * fetch.h - one blob from a registry into a layout.
 *
 * Source: OCI distribution-spec 1.1, "Pulling blobs", and RFC 9110 section 14 (ranges). A blob that
 * is there in part goes on behind its last byte; a large one comes in several ranges side by side.
 * A server that answers 200 to a range sends it all again, and what is there already is passed
 * over. The digest of all bytes is taken while they come (verify.h), and the blob stays under
 * another name until it is right (oci/partial.h).
 */
#ifndef REGISTRY_CLIENT_BLOBS_FETCH_H
#define REGISTRY_CLIENT_BLOBS_FETCH_H

#include "oci/partial.h"
#include "plan/reference.h"
#include "registry-client/http/transfer.h"
#include "registry-client/blobs/verify.h"

struct fetch;
struct pull_watch;

/* One range of it. */
struct fetch_part {
	struct transfer transfer; /* first: a step casts */
	struct fetch *fetch;
	size_t index;
	uint64_t end;	       /* offset in the blob behind its last byte */
	char range[64];	       /* the header */
	bool has_begun;	       /* the answer's head was looked at */
	bool has_ended;	       /* its bytes are there */
	uint64_t skip_bytes;   /* the server sends them again */
	uint64_t since_bytes;  /* since the last try began */
	struct error why;      /* why the sink gave up */
	char *buffer;	       /* DOWNLOAD_BUFFER_BYTES; gathers the small pieces of libcurl */
	size_t buffered_bytes; /* bytes in it */
};

struct fetch {
	struct registry *registry;
	const struct reference *ref;
	const char *scope;
	struct partial partial;
	struct verify *verify;
	struct verify_file file;
	char name[48]; /* "blob sha256:1f3a5c0b9d2e" */
	struct fetch_part parts[PARTIAL_PARTS_MAX];
	size_t part_count,
		ended_parts; /* planned parts (of partial.part_count; the others have nothing to fetch) */
	bool is_open;
	int damaged_tries;
	uint64_t received_bytes;	/* over all tries */
	uint64_t resumed_bytes;		/* were there from an earlier run */
	bool is_done, is_shared;	/* brought by this fetch, or by another image's pull */
	struct shared_blob *shared;	/* this blob's entry in the loop's table */
	const struct pull_watch *watch; /* told when it has arrived, or NULL */
	uint64_t started_usec;
	struct progress_step *progress;
};

/* In how many parts a blob comes. */
size_t fetch_part_count(const struct registry *registry, const struct descriptor *descriptor);

/*
 * `ref`, `scope`, `folder`, `verify` are borrowed. All parts' transfers must run, in their order.
 * The file is opened with the first of them.
 */
void fetch_init(struct fetch *fetch, struct registry *registry, struct verify *verify,
		const struct reference *ref, const char *scope, const char *folder,
		const struct descriptor *descriptor);

/* Keeps what has come for the next run. Ends its progress line, too. */
void fetch_release(struct fetch *fetch);

#endif
