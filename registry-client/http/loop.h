/* SPDX-License-Identifier: MIT */
/*
 * loop.h - the one curl_multi loop of a command, for this folder only.
 *
 * Each transfer_run is a run of the loop. Whoever calls first drives the loop for all; the others
 * wait, and one of them goes on driving when the first is done. Everything that steps touch
 * (tokens, what a registry is known to do, the table of shared blobs) is touched under the lock,
 * which is let go while the loop waits for the network.
 */
#ifndef REGISTRY_CLIENT_HTTP_LOOP_H
#define REGISTRY_CLIENT_HTTP_LOOP_H

#include "oci/manifest.h"

#include <curl/curl.h>
#include <pthread.h>

struct run;

/*
 * A blob that several images hold travels once. `place` is where it goes: a registry's address, or
 * a layout's folder; `repository` is the name it got there, "" in a layout.
 */
struct shared_blob {
	struct shared_blob *next;
	char *place, *repository;
	char digest[DIGEST_TEXT_BYTES];
	bool is_there; /* false: it is under way */
};

struct loop {
	CURLM *multi;
	pthread_mutex_t lock;
	pthread_cond_t turned; /* signals that a run is done, or that nobody drives */
	struct run *runs;
	size_t running; /* requests in flight */
	bool is_driven;
	struct shared_blob *shared;
};

struct loop *loop_new(void);
void loop_free(struct loop *loop);

/*
 * The blob at that place: one that is there goes before one that is under way, and among those one
 * in this repository. NULL: nobody has begun with it. For steps.
 */
const struct shared_blob *shared_find(const struct loop *loop, const char *place,
				      const char *repository, const char *digest);

/* Enters a blob that is under way, or there. For steps. */
struct shared_blob *shared_add(struct loop *loop, const char *place, const char *repository,
			       const char *digest, bool is_there);

/* Gives it up, unless it is there; NULL is fine. Outside of steps. */
void shared_drop(struct loop *loop, struct shared_blob *blob);

#endif
