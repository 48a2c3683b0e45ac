/* SPDX-License-Identifier: MIT */
/*
 * registry_access.h - the one way in which commands open a registry, so that all of them find the same
 * settings for the same registry.
 *
 * How a registry is spoken to is taken from the first of these that says something:
 *
 *   1. the command line: --ca, --plain-http;
 *   2. cluster.yaml, when its `registry` has this address: `ca`, `insecure`;
 *   3. this machine: the CAs of certs.d (certs.h), `insecure` of registries.conf and
 *      insecure-registries of Docker's daemon.json (mirrors.h).
 *
 * Who asks for TLS gets TLS or an error, and no request ever goes there without it, also not on a loopback
 * address: a CA that is named by 1 or 2, a folder of certs.d, and the https:// of a mirror's URL ask for it.
 * What 3 calls insecure is overruled by that, with a warning. Two wishes of 1 and 2 that contradict each
 * other are ERROR_USAGE. Plain HTTP is spoken when nobody asks for TLS and --plain-http, `insecure: true`,
 * the http:// of a mirror's URL or 3 says so. The pool keeps one way for each registry.
 *
 * A client certificate of certs.d goes to that registry (host and port) alone, a registry that
 * registries.conf blocks is refused, and --timeout says how long a request may go without a byte.
 * Credentials are those on file (plan/credentials.h, helper.h).
 */
#ifndef CLI_APP_REGISTRY_ACCESS_H
#define CLI_APP_REGISTRY_ACCESS_H

#include "cli/app/context.h"
#include "plan/credentials.h"
#include "registry-client/places/mirrors.h"
#include "registry-client/registry.h"

#include <pthread.h>

struct access_options {
	const char *ca;			       /* --ca, or NULL */
	bool plain_http;		       /* --plain-http */
	const struct credentials *credentials; /* instead of those on file; or NULL */
};

/* Rows for a command's table; `member` is a struct access_options of its options. */
#define ACCESS_OPTIONS(type, member)                                            \
	{0,	   "ca",                                                        \
	 "FILE",   "PEM file of the CA that signed the registry's certificate", \
	 OPT_TEXT, offsetof(type, member.ca)},                                  \
	{                                                                       \
		0, "plain-http", NULL, "the registry has no TLS", OPT_FLAG,     \
			offsetof(type, member.plain_http)                       \
	}

/*
 * Opens the very registry that `ref` names, for a command that writes or that asks about the registry itself.
 * A reference without a repository stands for the registry as a whole. `options` may be NULL. The registry
 * is the caller's, for registry_closep; *registry is NULL after an error.
 */
int access_open(struct context *ctx, const struct access_options *options,
		const struct reference *ref, struct registry **registry, struct error *err);

/* The same for one of the places that access_read names. */
int access_open_place(struct context *ctx, const struct access_options *options,
		      const struct mirror *place, struct registry **registry, struct error *err);

/*
 * For a command that reads: calls `ask` for each place that may have the image, mirrors first, then the
 * registry that its name leads to, until one call returns 0. Each mirror that fails is named in a warning; the
 * error is that of the last place. An interruption ends it at once.
 */
int access_read(struct context *ctx, const struct reference *ref,
		int (*ask)(void *arg, const struct mirror *place, struct error *err), void *arg,
		struct error *err);

/*
 * The registries that several threads of one command have open. They share one loop (registry.h, `beside`),
 * and a registry that is asked for twice is opened once. Any thread may ask.
 */
struct access_pool {
	struct access_connection *newest;
	struct arena *arena; /* holds the list; used under the lock */
	pthread_mutex_t lock;
};
void access_pool_init(struct access_pool *pool, struct arena *arena);
/* Closes all of them. For _cleanup_. */
void access_pool_release(struct access_pool *pool);

/*
 * access_open_place with the pool's registry, which stays open until access_pool_release. The pool tells options
 * apart by their address in memory.
 */
int access_pool_open(struct access_pool *pool, struct context *ctx,
		     const struct access_options *options, const struct mirror *place,
		     struct registry **registry, struct error *err);

#endif
