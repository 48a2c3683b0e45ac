/* SPDX-License-Identifier: MIT */
/*
 * limits.h - every ceiling and deadline of the registry client, in one place.
 *
 * Nothing that comes from a registry or out of an archive grows past one of these.
 */
#ifndef REGISTRY_CLIENT_LIMITS_H
#define REGISTRY_CLIENT_LIMITS_H

#include "core/base.h"

/* Answers */
#define ANSWER_BYTES_MAX (256 * KIB) /* error bodies and tokens */
#define HEADER_BYTES_MAX (64 * KIB)  /* all header lines of one answer */
#define CHALLENGES_MAX 8	     /* WWW-Authenticate challenges in one answer */
#define WARNINGS_MAX 8		     /* different ones of one registry that are shown */
#define REGISTRY_TEXT_MAX 240	     /* what an error shows of a registry's own words */

/* Requests */
#define CONNECTIONS_DEFAULT 6
#define CONNECTIONS_MAX 64
#define HEADS_IN_FLIGHT_MAX 32 /* small requests at the same time */
#define REDIRECTS_MAX 5
#define UPLOAD_BUFFER_BYTES (512 * KIB)
#define DOWNLOAD_BUFFER_BYTES (512 * KIB)

/* Uploads */
#define EXPECT_BYTES_MIN (1 * MIB)     /* larger bodies wait for 100 Continue: RFC 9110, 10.1.1 */
#define STATUS_ASKS_MAX 4	       /* of one session that refuses what it asked for */
#define CHUNK_BYTES_DEFAULT (64 * MIB) /* of a PATCH, unless something else is known */
#define CHUNK_BYTES_MIN (1 * MIB)
#define CHUNK_ALIGN_BYTES (64 * KIB)
#define COPY_CHUNK_BYTES (8 * MIB) /* of a blob on its way from registry to registry, in memory */
#define COPY_CHUNK_BYTES_MAX \
	(64 * MIB)	/* the most that a registry may ask for with OCI-Chunk-Min-Length */
#define RESTARTS_MAX 16 /* new sessions for one blob */
#define JOURNAL_BYTES_MIN (16 * MIB) /* sessions of smaller blobs are not worth a note */

/* Downloads */
#define SPLIT_BYTES_DEFAULT (256 * MIB) /* a larger blob comes in several ranges side by side */
#define PARTS_OF_LARGE 4		/* so many; at most PARTIAL_PARTS_MAX */
#define PROGRESS_BYTES (1 * MIB) /* so many bytes are progress: the count of tries starts again */
#define DAMAGED_TRIES_MAX 3	 /* of one blob that arrives with a wrong digest, here or there */
#define REFERRERS_TRIES_MAX 4	 /* changes of a list that others change at the same time */
#define LIST_PAGES_MAX 1000
#define LIST_PAGE_BYTES_MAX (4 * MIB)
#define LIST_BYTES_MAX (32 * MIB) /* of all pages of one list */
#define LIST_ENTRIES_MAX 200000
#define VERIFY_THREADS_MAX 4
#define VERIFY_READ_BYTES (256 * KIB)
#define VERIFY_SLICE_BYTES (4 * MIB) /* hashed of one file before the next gets its turn */

#define CERTIFICATE_BYTES_MAX (1 * MIB)
#define REGISTRIES_CONF_BYTES_MAX (1 * MIB)

/* Time. A request ends after stall seconds without a byte, and in any case after stall seconds plus
 * the time its body takes at the slowest rate. */
#define STALL_SECONDS_DEFAULT 60
#define CONNECT_SECONDS_MAX 15
#define SLOWEST_BYTES_PER_SECOND (16 * KIB)
#define TIMEOUT_SECONDS_MAX 2000000L /* libcurl takes INT_MAX milliseconds, about 24 days */
#define ABANDON_SECONDS 3	     /* for telling the registry to drop unfinished uploads */

/* Tries of one piece of work, and the pauses between them */
#define TRIES_MAX 5
#define FIRST_CONTACT_TRIES_MAX 2
#define REFUSALS_MAX 3 /* 401s in a row that are still tried again */
#define RETRY_FIRST_USEC 500000ULL
#define RETRY_LONGEST_USEC 16000000ULL
#define RETRY_AFTER_SECONDS_MAX 300
#define LONG_PAUSE_USEC 5000000ULL /* a longer one is announced */

/* Tokens. "expires_in" is 60 when it is not given: Docker token authentication specification. */
/* The registry of `ringup registry serve` */
#define SERVE_START_SECONDS 20
#define SERVE_STOP_SECONDS 10

#define HELPER_SECONDS 30 /* for a credential helper to answer */
#define TOKEN_BYTES_MAX (64 * KIB)
#define TOKEN_SECONDS_DEFAULT 60
#define TOKEN_MARGIN_SECONDS 10

#endif
