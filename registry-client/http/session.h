/* SPDX-License-Identifier: MIT */
/* session.h - the inside of struct registry, for this folder only. */
#ifndef REGISTRY_CLIENT_HTTP_SESSION_H
#define REGISTRY_CLIENT_HTTP_SESSION_H

#include "core/arena.h"
#include "registry-client/login/auth.h"
#include "registry-client/http/exchange.h"
#include "registry-client/limits.h"
#include "registry-client/http/loop.h"
#include "registry-client/registry.h"

struct registry {
	struct arena arena; /* holds every text below */
	const char *address;
	const char *base; /* "https://ADDRESS" */
	bool is_loopback, may_be_plain;
	pthread_mutex_t contact; /* one asks at a time */
	bool is_known;		 /* registry_contact went well */
	bool has_let_in; /* it has answered a request without a login, or taken the credentials */
	int connections;
	uint64_t split_bytes, pause_usec;
	struct exchange_settings settings;
	struct auth auth;
	struct loop *loop;
	bool owns_loop;			    /* false: it is another registry's */
	const char *warnings[WARNINGS_MAX]; /* that were shown */
	size_t warning_count;
	int tears;		   /* uploads that were cut */
	uint64_t chunk_bytes;	   /* size of a chunk that is not cut, or 0 */
	bool ignores_ranges;	   /* it answered 200 to a range */
	uint64_t quiet_until_usec; /* the registry asked for a pause (429 and Retry-After) */
};

#endif
