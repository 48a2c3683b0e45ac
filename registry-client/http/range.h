/* SPDX-License-Identifier: MIT */
/* range.h - how registries say which bytes they have or send. */
#ifndef REGISTRY_CLIENT_HTTP_RANGE_H
#define REGISTRY_CLIENT_HTTP_RANGE_H

#include "core/base.h"

/*
 * How many bytes an upload session has, by the Range header of its answers: "0-99" (also
 * "bytes=0-99") is 100. Distribution writes "0-0" for an empty session as well as for one byte: 0,
 * so that at worst a byte is sent again. -1 for anything else. Source: OCI distribution-spec 1.1,
 * "Pushing a blob in chunks".
 */
int64_t range_of_session(const char *value);

/*
 * The OCI-Chunk-Min-Length header of an upload session: the fewest bytes of a chunk that is not the
 * last one. Too large a number is UINT64_MAX; false when it is no number. It is what a registry
 * asks for: compare it with a ceiling before any memory depends on it. Source: OCI
 * distribution-spec 1.1, "Pushing a blob in chunks".
 */
bool range_of_chunk_min(const char *value, uint64_t *bytes);

struct content_range {
	uint64_t from, to; /* both included */
	int64_t total;	   /* -1: "*", not known */
};

/*
 * The Content-Range header of a 206, "bytes 0-99/1234" or "bytes 0-99/" and a star. False for
 * anything else, also for one that ends before it begins or behind its own total. Source: RFC 9110,
 * 14.4.
 */
bool range_of_content(const char *value, struct content_range *range);

#endif
