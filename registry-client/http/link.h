/* SPDX-License-Identifier: MIT */
/* link.h - Link headers: RFC 8288. */
#ifndef REGISTRY_CLIENT_HTTP_LINK_H
#define REGISTRY_CLIENT_HTTP_LINK_H

#include "registry-client/http/exchange.h"

/*
 * The next page of a list: the answer's Link with rel="next" (RFC 8288; OCI distribution-spec 1.1,
 * "Listing Tags"), joined to the request's URL. 1: *url is set; 0: this was the last page; -1: the
 * link leads to a place that is not allowed (url_join).
 */
int exchange_next_page(const struct exchange *x, struct str *url, struct error *err);

/*
 * A list that comes page by page, zeroed before its first page. A registry may go on for ever, or in
 * a circle: paging_next is exchange_next_page with an end, and fails after LIST_PAGES_MAX pages, after
 * LIST_BYTES_MAX bytes, and soon after a page that was there before.
 */
struct paging {
	struct str mark; /* the page whose number is the last power of two; owned */
	unsigned int pages;
	uint64_t bytes;
};
int paging_next(struct paging *paging, const struct exchange *x, struct str *url,
		struct error *err);
/* For _cleanup_. */
void paging_release(struct paging *paging);

/*
 * The target of the first link with that relation in a Link header, as a part of `value`; NULL:
 * none. Links may be several, quoted strings may hold anything.
 */
const char *link_target(const char *value, const char *relation, size_t *length);

#endif
