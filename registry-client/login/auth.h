/* SPDX-License-Identifier: MIT */
/*
 * auth.h - who we are to a registry: challenges, Basic, and Bearer tokens.
 *
 * Sources: RFC 9110 section 11 (challenges), RFC 7617 (Basic), the Docker token authentication
 * specification (Bearer: GET realm?service=&scope=, answered with token or access_token and
 * expires_in), and its OAuth2 form (POST with grant_type=refresh_token). Where a token service does
 * not know POST (404, 405), it is asked by GET, with the password on file or else the refresh token
 * in its place, as containerd does.
 *
 * Rules kept here: credentials are sent to the registry's own origin only (scheme, host and port),
 * and to a token realm only when that is https; where the registry itself has no TLS, a realm on its
 * own host need not have it either. They never stand in a URL or in a message.
 */
#ifndef REGISTRY_CLIENT_LOGIN_AUTH_H
#define REGISTRY_CLIENT_LOGIN_AUTH_H

#include "core/arena.h"
#include "core/error.h"
#include "core/log.h"
#include "registry-client/http/exchange.h"

struct registry;
struct transfer;

enum auth_scheme { AUTH_NONE, AUTH_BASIC, AUTH_BEARER };

struct auth_token {
	struct auth_token *next;
	const char *scope; /* what it was asked for */
	char *header;	   /* "Bearer ..."; malloc'ed, wiped when freed; NULL: none yet */
	unsigned number;   /* the first token has 1, each later one the next number */
	uint64_t renew_usec;
};

struct auth {
	const char *user; /* NULL: anonymous */
	struct secret password;
	struct secret
		identity; /* refresh token: tokens are asked for with it, not with a password */
	enum auth_scheme scheme;
	const char *realm, *service; /* AUTH_BEARER */
	bool takes_no_post;	     /* the token service answered 404 or 405 to a POST */
	struct auth_token *tokens;
};

/* Frees and wipes. */
void auth_release(struct auth *auth);

/* Whether a token must be fetched before this request can be sent. */
bool auth_needs_token(struct registry *registry, const struct exchange *x);

/*
 * The Authorization header for the request, in the caller's str; empty: none. Nothing is added for
 * other origins than the registry's.
 */
void auth_header(struct registry *registry, const struct exchange *x, struct str *header);

/* The number of the token that auth_header gives, or 0. */
unsigned auth_token_number(struct registry *registry, const struct exchange *x);

/*
 * Learns from a 401 answer. 0: send the request again (a token may have to be fetched first); -1:
 * no other credentials can be tried, and `err` says why. `is_second`: the request was already
 * repeated after a 401.
 */
int auth_challenged(struct registry *registry, const struct exchange *x, bool is_second,
		    struct error *err);

/* A transfer that fetches the token for `scope`; the caller frees it with auth_fetch_free. */
struct transfer *auth_fetch_new(struct registry *registry, const char *scope);
void auth_fetch_free(struct transfer *transfer);

#endif
