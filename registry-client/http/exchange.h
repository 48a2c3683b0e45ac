/* SPDX-License-Identifier: MIT */
/*
 * exchange.h - one HTTP request and its answer.
 *
 * A transfer (transfer.h) has one exchange and uses it for one request after the other. Redirects
 * are never followed by libcurl: transfer.c follows them by hand, so that credentials go to the
 * registry's own origin only.
 */
#ifndef REGISTRY_CLIENT_HTTP_EXCHANGE_H
#define REGISTRY_CLIENT_HTTP_EXCHANGE_H

#include "core/error.h"
#include "core/str.h"

#include <curl/curl.h>

struct progress_step;

/* Whose credentials may go along. */
enum exchange_credentials {
	CREDENTIALS_REGISTRY,	   /* the registry's, and only to its own origin */
	CREDENTIALS_TOKEN_SERVICE, /* user and password, to the checked token realm; no redirects */
};

struct exchange {
	/* The request. Texts are borrowed and must live until the answer, except the URL. */
	const char *method;		   /* "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE" */
	struct str url;			   /* absolute; owned */
	const char *accept, *content_type; /* or NULL */
	const char *scope; /* token scope it needs: "repository:lab/train:pull,push"; or NULL */
	enum exchange_credentials credentials;
	const void *body; /* the bytes to send, or NULL: read from body_fd */
	int body_fd;	  /* from body_start on, with pread: may be sent again */
	uint64_t body_start, body_bytes;
	const char *content_range; /* "0-99", of a PATCH; or NULL */
	bool own_connection;	   /* a new one, closed after the answer */
	size_t answer_bytes_max;   /* ceiling of the answer's body */
	const char *range;	   /* "bytes=100-199"; or NULL */
	/*
	 * Takes the body of a 200 or 206 piece by piece instead of `answer`; false ends the request
	 * with CURLE_WRITE_ERROR. Bodies of other answers go to `answer`. Or NULL.
	 */
	bool (*sink)(struct exchange *x, const void *bytes, size_t length);
	uint64_t expected_bytes;	/* about how many bytes will come, for the deadline */
	struct progress_step *progress; /* told about bytes sent; or NULL */
	uint64_t progress_start, progress_total; /* where this body begins in the whole */

	/* The answer. `result` is not CURLE_OK when none came, and `problem` says why. */
	CURLcode result;
	char problem[CURL_ERROR_SIZE];
	long os_errno; /* errno of a failed connect, or 0 */
	long status;   /* HTTP status, or 0 */
	struct str answer;
	bool sent_credentials;
	unsigned token_number; /* number of the token that was sent, or 0 */

	/* Private to exchange.c */
	CURL *easy;
	struct curl_slist *headers;
	uint64_t body_offset;
	size_t header_bytes;
};

struct exchange_settings {
	const char *ca_path;		  /* or NULL: the system's */
	const char *ca_pem;		  /* CAs beside the system's, as text; or NULL */
	const char *cert_path, *key_path; /* client certificate, or NULL */
	int stall_s;
	bool no_proxy; /* loopback addresses never go through a proxy */
};

void exchange_init(struct exchange *x);
void exchange_release(struct exchange *x);

/* Starts a new request: forgets the old one's body and type, keeps the scope. `format` gives the
 * URL. */
void exchange_request(struct exchange *x, const char *method, const char *format, ...)
	_printf_(3, 4);

/* Sets the handle up for the request. `authorization` is the header's value, or NULL. */
void exchange_prepare(struct exchange *x, const struct exchange_settings *settings,
		      const char *authorization);

/* The status of the answer under way, for a sink. */
long exchange_status(const struct exchange *x);

/* Takes result and status over from the handle when libcurl is done with it. */
void exchange_answered(struct exchange *x, CURLcode result);

/* The value of a header of the answer, or NULL. `index` counts headers of the same name. */
const char *exchange_header_at(const struct exchange *x, const char *name, size_t index);
const char *exchange_header(const struct exchange *x, const char *name);

/* The answer's Content-Length, or -1. */
int64_t exchange_content_length(const struct exchange *x);

#endif
