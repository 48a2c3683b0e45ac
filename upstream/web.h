/* SPDX-License-Identifier: MIT */
/*
 * web.h - documents of web servers, several at a time, into memory.
 *
 * The requests are those of registry-client/http/exchange.h: proxies of the environment, TLS 1.2 or newer,
 * a deadline for each request, Ctrl-C. Redirects are followed by hand, and never from https to http.
 * What may pass (408, 429, 500, 502, 503, 504, a torn connection) is tried WEB_TRIES_MAX times.
 */
#ifndef UPSTREAM_WEB_H
#define UPSTREAM_WEB_H

#include "core/error.h"
#include "core/str.h"

#include <stdint.h>

struct web {
	int timeout_s;	     /* without a byte; 0: a minute */
	uint64_t pause_usec; /* before the second try, doubled each time; 0: WEB_FIRST_PAUSE_USEC */
};

struct web_request {
	const char *url;    /* absolute; borrowed */
	const char *accept; /* or NULL */
	const char *range;  /* "bytes=-65536", or NULL */
	size_t bytes_max;   /* a longer answer is an error */

	/* The answer. `err` has a kind when there is none; it names the URL and what to do. */
	struct error err;
	bool found; /* false after a 404, which is no error */
	struct str body;
	uint64_t
		total_bytes; /* of the whole file, when `range` was given and the server has them */
	char type[64];	     /* Content-Type without its parameters */
};

/*
 * Sends all of them, WEB_WIDTH at a time. Returns -1 only for an interruption: what fails otherwise is
 * in each request. The caller calls web_release for each.
 */
int web_fetch(const struct web *web, struct web_request *list, size_t count, struct error *err);

void web_release(struct web_request *list, size_t count);

/* Whether the URL is http or https, without a user in it, of visible characters only. */
bool web_url_is_fine(const char *url);

#endif
