/* SPDX-License-Identifier: MIT */
/*
 * transfer.h - many pieces of work side by side in one curl_multi loop, with one retry engine.
 *
 * A transfer is a small state machine: its step looks at the last answer and prepares the next
 * request. The loop does what is the same for all of them:
 *   - tokens: fetched before the first request that needs one, renewed once on 401;
 *   - redirects: followed by hand, credentials only to the registry's origin;
 *   - transient failures (no connection, torn connection, 408 429 500 502 503 504): tried again
 *     with a jittered pause or after Retry-After; a full disk (507, or a 500 that says so) is not;
 *   - deadlines, stalls, Ctrl-C.
 * The first transfer that fails ends the run; sessions that the others had open are deleted.
 *
 * Several threads may have runs at the same time, on registries that share a loop: one of them
 * drives the loop for all. So a step may be called in another thread than its run's, but never two
 * steps at once, and its own thread waits meanwhile.
 */
#ifndef REGISTRY_CLIENT_HTTP_TRANSFER_H
#define REGISTRY_CLIENT_HTTP_TRANSFER_H

#include "core/error.h"
#include "registry-client/http/exchange.h"

struct registry;
struct run;

enum transfer_next {
	TRANSFER_SEND,	/* the exchange holds the next request */
	TRANSFER_WAIT,	/* nothing to send until work elsewhere ends: asked again at each turn */
	TRANSFER_AGAIN, /* a transient failure that only the step could see: recover, pause, send */
	TRANSFER_DONE,	/* all is well */
	TRANSFER_FAILED, /* `err` is set */
};

enum transfer_state { TRANSFER_READY, TRANSFER_RUNNING, TRANSFER_WAITING, TRANSFER_ENDED };

struct transfer {
	/*
	 * Called first with x.method NULL, then after every answer that is not transient, no
	 * redirect and no challenge; x.result may be other than CURLE_OK. After TRANSFER_WAIT it is
	 * called at each turn of the loop; transfer_wake makes one come at once.
	 */
	enum transfer_next (*step)(struct transfer *transfer, struct error *err);
	/* Prepares what to send after a transient failure; NULL: the same request again. */
	void (*recover)(struct transfer *transfer);
	struct registry *registry; /* that the request goes to; a step may change it */
	struct exchange x;
	/* A 401 that credentials cannot answer goes to the step instead of ending the run. */
	bool takes_refusal;
	const char *name; /* put before its errors: "blob sha256:1f3a"; or NULL */
	int tries_max;
	struct str session; /* upload session to delete when the run ends early; empty: none */
	struct registry *session_registry; /* where it is; NULL: `registry` */

	/* The loop's */
	struct run *run;
	enum transfer_state state;
	int tries, redirects;
	int refusals;		  /* 401s from a registry that took these credentials before */
	bool is_second;		  /* sent again after a 401 */
	uint64_t not_before_usec; /* pause */
};

void transfer_init(struct transfer *transfer, struct registry *registry,
		   enum transfer_next (*step)(struct transfer *transfer, struct error *err));
void transfer_release(struct transfer *transfer);

/*
 * Runs all of them to their end, in the order of the list; begins none while the loop has `width`
 * or more requests in flight. It is the loop of `registry`, also for other registries that
 * transfers talk to.
 */
int transfer_run(struct registry *registry, struct transfer *const *list, size_t count,
		 size_t width, struct error *err);

/* Makes the registry's loop turn now. From any thread. */
void transfer_wake(struct registry *registry);

/* For a step: sets `err` from the answer that it did not expect. */
enum transfer_next transfer_failed(struct transfer *transfer, struct error *err);

#endif
