/* SPDX-License-Identifier: MIT */
/* failure.h - what an unexpected answer means: the cause, the URL and the next thing to do. */
#ifndef REGISTRY_CLIENT_HTTP_FAILURE_H
#define REGISTRY_CLIENT_HTTP_FAILURE_H

#include "core/error.h"
#include "registry-client/http/exchange.h"

struct registry;

/*
 * True for 507, and for a 500 whose body says ENOSPC: Distribution 2.8's filesystem driver answers
 * so, with "Err":28 in the detail.
 */
bool failure_is_disk_full(const struct exchange *x);

/* Worth another try: no or a torn connection, 408 429 500 502 503 504; never a full disk. */
bool failure_is_transient(const struct exchange *x);

/*
 * A connection that was torn in the middle of its TLS handshake: worth another try where TLS is
 * known to be spoken.
 */
bool failure_is_torn_handshake(const struct exchange *x);

/* Whether the error JSON holds this code ("DIGEST_INVALID"). OCI distribution-spec 1.1, "Error
 * Codes". */
bool failure_has_code(const struct exchange *x, const char *code);

/* Sets one sentence. Returns -1. */
int failure_set(const struct registry *registry, const struct exchange *x, struct error *err);

#endif
