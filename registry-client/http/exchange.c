/* SPDX-License-Identifier: MIT */
#include "registry-client/http/exchange.h"

#include "core/arena.h"
#include "core/progress.h"
#include "registry-client/limits.h"
#include "registry-client/http/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void exchange_init(struct exchange *x)
{
	*x = (struct exchange){.answer_bytes_max = ANSWER_BYTES_MAX, .body_fd = -1};
	str_init(&x->url);
	str_init_ceiling(&x->answer, ANSWER_BYTES_MAX);
	x->easy = curl_easy_init();
	if (!x->easy)
		oom();
}

/* The list holds an Authorization header: wiped before the memory goes back. */
static void forget_headers(struct exchange *x)
{
	for (struct curl_slist *h = x->headers; h; h = h->next)
		explicit_bzero(h->data, strlen(h->data));
	curl_slist_free_all(x->headers);
	x->headers = NULL;
}

void exchange_release(struct exchange *x)
{
	if (x->easy)
		curl_easy_cleanup(x->easy);
	x->easy = NULL;
	forget_headers(x);
	str_release(&x->url);
	str_release(&x->answer);
}

void exchange_request(struct exchange *x, const char *method, const char *format, ...)
{
	va_list args;

	x->method = method;
	x->accept = x->content_type = NULL;
	x->body = NULL;
	x->body_fd = -1;
	x->body_start = x->body_bytes = 0;
	x->content_range = NULL;
	x->own_connection = false;
	x->answer_bytes_max = ANSWER_BYTES_MAX;
	x->progress = NULL;
	x->range = NULL;
	x->sink = NULL;
	x->expected_bytes = 0;
	str_clear(&x->url);
	va_start(args, format);
	str_vaddf(&x->url, format, args);
	va_end(args);
}

static size_t read_body(char *buffer, size_t size, size_t count, void *arg)
{
	struct exchange *x = arg;
	size_t room = size * count;
	uint64_t left = x->body_bytes - x->body_offset;
	ssize_t got;

	if (room > left)
		room = (size_t)left;
	if (!room)
		return 0;
	if (x->body) {
		memcpy(buffer, (const char *)x->body + x->body_offset, room);
		got = (ssize_t)room;
	} else {
		do
			got = pread(x->body_fd, buffer, room,
				    (off_t)(x->body_start + x->body_offset));
		while (got < 0 && errno == EINTR);
		if (got <= 0)
			return CURL_READFUNC_ABORT;
	}
	x->body_offset += (uint64_t)got;
	if (x->progress)
		progress_bytes(x->progress, x->progress_start + x->body_offset, x->progress_total);
	return (size_t)got;
}

static int rewind_body(void *arg, curl_off_t offset, int origin)
{
	struct exchange *x = arg;

	if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > x->body_bytes)
		return CURL_SEEKFUNC_FAIL;
	/*
	 * libcurl would send the whole body again by itself; the transfer decides what follows a
	 * tear.
	 */
	if (x->body_offset >= EXPECT_BYTES_MIN)
		return CURL_SEEKFUNC_FAIL;
	x->body_offset = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

static size_t keep_answer(char *bytes, size_t size, size_t count, void *arg)
{
	struct exchange *x = arg;

	if (x->sink) {
		long status = exchange_status(x);

		if (status == 200 || status == 206)
			return x->sink(x, bytes, size * count) ? size * count : 0;
	}
	str_add_bytes(&x->answer, bytes, size * count);
	return x->answer.overflowed ? 0 : size * count;
}

static size_t count_header(char *bytes, size_t size, size_t count, void *arg)
{
	struct exchange *x = arg;

	(void)bytes;
	x->header_bytes += size * count;
	return x->header_bytes > HEADER_BYTES_MAX ? 0 : size * count;
}

/* A NULL value takes away the header that libcurl would send by itself. */
static void add_header(struct exchange *x, const char *name, const char *value)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	struct curl_slist *list;

	str_addf(&line, "%s:%s%s", name, value ? " " : "", value ? value : "");
	list = curl_slist_append(x->headers, line.text);
	explicit_bzero(line.text, line.length);
	if (!list)
		oom();
	x->headers = list;
}

static void set_headers(struct exchange *x, const char *authorization)
{
	forget_headers(x);
	if (x->accept)
		add_header(x, "Accept", x->accept);
	add_header(x, "Content-Type", x->content_type);
	/* Costs a round trip, so it is used only where a refused body would cost more. */
	if (x->body_bytes && x->body_bytes < EXPECT_BYTES_MIN)
		add_header(x, "Expect", NULL);
	if (x->range)
		add_header(x, "Range", x->range);
	if (x->content_range)
		add_header(x, "Content-Range", x->content_range);
	if (authorization)
		add_header(x, "Authorization", authorization);
	x->sent_credentials = authorization != NULL;
	curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, x->headers);
}

static void set_method(struct exchange *x)
{
	CURL *easy = x->easy;

	if (strcmp(x->method, "HEAD") == 0) {
		curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	} else if (strcmp(x->method, "PUT") == 0 || strcmp(x->method, "PATCH") == 0) {
		curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, x->method);
		curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)x->body_bytes);
		curl_easy_setopt(easy, CURLOPT_READFUNCTION, read_body);
		curl_easy_setopt(easy, CURLOPT_READDATA, x);
		curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, rewind_body);
		curl_easy_setopt(easy, CURLOPT_SEEKDATA, x);
		curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BUFFER_BYTES);
	} else if (strcmp(x->method, "POST") == 0) {
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, x->body ? x->body : "");
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, x->body ? (long)x->body_bytes : 0L);
	} else {
		curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, x->method);
	}
}

static void set_limits(struct exchange *x, const struct exchange_settings *settings)
{
	uint64_t bytes = x->body_bytes + x->expected_bytes;
	uint64_t seconds = (uint64_t)settings->stall_s + bytes / SLOWEST_BYTES_PER_SECOND;
	long stall = settings->stall_s, connect = stall;

	if (connect > CONNECT_SECONDS_MAX)
		connect = CONNECT_SECONDS_MAX;
	curl_easy_setopt(x->easy, CURLOPT_CONNECTTIMEOUT, connect);
	curl_easy_setopt(x->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(x->easy, CURLOPT_LOW_SPEED_TIME, stall);
	/* a size that a peer claims must not put the deadline out of libcurl's range: then none counts */
	curl_easy_setopt(x->easy, CURLOPT_TIMEOUT,
			 seconds < TIMEOUT_SECONDS_MAX ? (long)seconds : TIMEOUT_SECONDS_MAX);
}

/*
 * libcurl itself reads http_proxy, https_proxy, HTTPS_PROXY, all_proxy and NO_PROXY (except for
 * ports in it). It ignores HTTP_PROXY, which a CGI program may get from anybody; Docker and Podman
 * read it.
 */
static void set_proxy(struct exchange *x, const struct exchange_settings *settings)
{
	const char *proxy = getenv("HTTP_PROXY"), *except = getenv("no_proxy");

	if (!except)
		except = getenv("NO_PROXY");
	if (settings->no_proxy || (except && url_is_excepted(x->url.text, except)))
		curl_easy_setopt(x->easy, CURLOPT_PROXY, "");
	else if (proxy && !getenv("http_proxy") && !getenv("REQUEST_METHOD") &&
		 starts_with(x->url.text, "http:"))
		curl_easy_setopt(x->easy, CURLOPT_PROXY, proxy);
}

void exchange_prepare(struct exchange *x, const struct exchange_settings *settings,
		      const char *authorization)
{
	CURL *easy = x->easy;

	curl_easy_reset(easy);
	str_release(&x->answer);
	str_init_ceiling(&x->answer, x->answer_bytes_max);
	x->result = CURLE_OK;
	x->status = x->os_errno = 0;
	x->problem[0] = '\0';
	x->body_offset = 0;
	x->header_bytes = 0;
	curl_easy_setopt(easy, CURLOPT_URL, x->url.text);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "ringup");
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, x->problem);
	if (x->sink)
		curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)DOWNLOAD_BUFFER_BYTES);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep_answer);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, x);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, count_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, x);
	if (settings->ca_path) {
		curl_easy_setopt(easy, CURLOPT_CAINFO, settings->ca_path);
		curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	}
	if (settings->ca_pem) {
		struct curl_blob pem = {.data = (void *)(uintptr_t)settings->ca_pem,
					.len = strlen(settings->ca_pem),
					.flags = CURL_BLOB_NOCOPY};

		curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &pem);
	}
	if (settings->cert_path) {
		curl_easy_setopt(easy, CURLOPT_SSLCERT, settings->cert_path);
		curl_easy_setopt(easy, CURLOPT_SSLKEY, settings->key_path);
	}
	set_proxy(x, settings);
	if (x->own_connection) {
		curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
		curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	}
	set_method(x);
	set_limits(x, settings);
	set_headers(x, authorization);
}

long exchange_status(const struct exchange *x)
{
	long status = 0;

	curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

void exchange_answered(struct exchange *x, CURLcode result)
{
	x->result = result;
	curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &x->status);
	curl_easy_getinfo(x->easy, CURLINFO_OS_ERRNO, &x->os_errno);
	forget_headers(x);
}

const char *exchange_header_at(const struct exchange *x, const char *name, size_t index)
{
	struct curl_header *header;

	if (curl_easy_header(x->easy, name, index, CURLH_HEADER, -1, &header) != CURLHE_OK)
		return NULL;
	return header->value;
}

const char *exchange_header(const struct exchange *x, const char *name)
{
	return exchange_header_at(x, name, 0);
}

int64_t exchange_content_length(const struct exchange *x)
{
	curl_off_t length = -1;

	curl_easy_getinfo(x->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
	return length;
}
