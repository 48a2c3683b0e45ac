/* SPDX-License-Identifier: MIT */
/*
 * url.h - the three things done to URLs: joining a Location, adding to the query, comparing
 * origins.
 *
 * An upload's Location is opaque: it is used as it came and only added to (OCI distribution-spec
 * 1.1, "POST then PUT": "The <location> MAY contain critical query parameters").
 */
#ifndef REGISTRY_CLIENT_HTTP_URL_H
#define REGISTRY_CLIENT_HTTP_URL_H

#include "core/error.h"
#include "core/str.h"

/*
 * Sets *url to where `location` points, seen from `base` (an absolute URL). `location` may be
 * absolute, begin with '/' or be relative. Refused: other schemes than http and https, a user or
 * password in the URL, and a step from https to http; except that http on the very same host and
 * port, which a registry behind a TLS proxy answers, is turned into https.
 */
int url_join(const char *base, const char *location, struct str *url, struct error *err);

/* Adds "name=value" with '?' or '&'; the value is percent-encoded. */
void url_add_query(struct str *url, const char *name, const char *value);

/* Whether scheme, host and port are the same (default ports count as written). */
bool url_same_origin(const char *a, const char *b);

/* Whether it is an https URL, without a user or a password in it. */
bool url_is_https(const char *url);

/* Whether the hosts are the same, whatever the ports. */
bool url_same_host(const char *a, const char *b);

/*
 * Whether a NO_PROXY list names the URL's host together with its port, as Docker and Podman read
 * it: "HOST:PORT" is that host and all below it. Entries without a port are left to libcurl.
 */
bool url_is_excepted(const char *url, const char *no_proxy);

/* The URL without its query, for messages: an upload's query holds the session's key. */
void url_for_people(const char *url, struct str *text);

#endif
