/* SPDX-License-Identifier: MIT */
#include "upstream/web.h"

#include "core/arena.h"
#include "core/clock.h"
#include "plan/reference.h"
#include "registry-client/http/exchange.h"
#include "registry-client/http/failure.h"
#include "registry-client/limits.h"
#include "registry-client/http/range.h"
#include "registry-client/http/retry.h"
#include "registry-client/http/url.h"
#include "upstream/limits.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* One request under way. */
struct web_flight {
	struct exchange x;
	struct web_request *request; /* NULL: the place is free */
	int tries, redirects;
	uint64_t not_before_usec; /* 0: it is with libcurl */
};

struct web_loop {
	const struct web *web;
	CURLM *multi;
	struct web_flight flights[WEB_WIDTH];
	size_t busy;
};

bool web_url_is_fine(const char *url)
{
	if (strlen(url) > URL_BYTES_MAX)
		return false;
	for (const char *p = url; *p; p++)
		if (*p <= ' ' || *p > '~')
			return false;
	return (strncasecmp(url, "https://", 8) == 0 || strncasecmp(url, "http://", 7) == 0) &&
	       url_same_origin(url, url);
}

/* An address of this machine is never asked through a proxy. */
static bool web_is_loopback(const char *url)
{
	const char *host = strstr(url, "://");
	char address[256];

	if (!host)
		return false;
	snprintf(address, sizeof(address), "%.*s", (int)strcspn(host + 3, "/?#"), host + 3);
	return reference_is_loopback(address);
}

/* --- what an answer means ------------------------------------------------------------------- */

static int web_set_status(const struct exchange *x, const char *url, struct error *err)
{
	const char *advice = "check the URL, or name another mirror";

	if (x->status == 401 || x->status == 403)
		advice = "the server wants a login or does not serve this; name a mirror that does";
	else if (x->status == 429)
		advice = "the server is busy: run the same command again later";
	else if (x->status >= 500)
		advice = "the server has a fault: run the same command again later";
	return error_set(err, ERROR_FAILED, "%.300s answered HTTP %ld; %s", url, x->status, advice);
}

static int web_failed(const struct exchange *x, struct error *err)
{
	_cleanup_(str_release) struct str url = STR_INIT;

	url_for_people(x->url.text, &url);
	if (x->result == CURLE_OK)
		return web_set_status(x, url.text, err);
	if (x->result == CURLE_WRITE_ERROR)
		return error_set(err, ERROR_FAILED,
				 "%.300s answers with more than %zu bytes; is it the right server?",
				 url.text, x->answer_bytes_max);
	if (x->result == CURLE_PEER_FAILED_VERIFICATION)
		return error_set(
			err, ERROR_FAILED,
			"%.300s: its certificate is not trusted (%s); add the CA that signed it to those of this machine",
			url.text, x->problem);
	return error_set(
		err, ERROR_FAILED,
		"%.300s: no answer (%s); check the network and the proxy settings, or name a mirror that can be reached from here",
		url.text, x->problem[0] ? x->problem : curl_easy_strerror(x->result));
}

static void web_take_answer(struct web_request *request, const struct exchange *x)
{
	const char *type = exchange_header(x, "Content-Type");
	const char *content = exchange_header(x, "Content-Range");
	struct content_range range;

	request->found = x->status != 404;
	if (type)
		snprintf(request->type, sizeof(request->type), "%.*s", (int)strcspn(type, "; "),
			 type);
	str_add_bytes(&request->body, x->answer.text, x->answer.length);
	if (x->status == 206 && content && range_of_content(content, &range) && range.total > 0)
		request->total_bytes = (uint64_t)range.total;
	else
		request->total_bytes = x->answer.length;
}

/* --- the loop ------------------------------------------------------------------------------- */

static void web_send(struct web_loop *loop, struct web_flight *flight)
{
	const struct exchange_settings settings = {
		.stall_s = loop->web->timeout_s ? loop->web->timeout_s : STALL_SECONDS_DEFAULT,
		.no_proxy = web_is_loopback(flight->x.url.text),
	};

	flight->not_before_usec = 0;
	exchange_prepare(&flight->x, &settings, NULL);
	curl_easy_setopt(flight->x.easy, CURLOPT_PRIVATE, flight);
	curl_multi_add_handle(loop->multi, flight->x.easy);
}

static void web_start(struct web_loop *loop, struct web_flight *flight, struct web_request *request)
{
	*flight = (struct web_flight){.request = request};
	str_init_ceiling(&request->body, request->bytes_max + 1);
	exchange_init(&flight->x);
	exchange_request(&flight->x, "GET", "%s", request->url);
	flight->x.accept = request->accept;
	flight->x.range = request->range;
	flight->x.answer_bytes_max = request->bytes_max;
	loop->busy++;
	web_send(loop, flight);
}

static void web_end(struct web_loop *loop, struct web_flight *flight)
{
	exchange_release(&flight->x);
	flight->request = NULL;
	loop->busy--;
}

static bool web_is_redirect(const struct exchange *x)
{
	return x->result == CURLE_OK && (x->status == 301 || x->status == 302 || x->status == 303 ||
					 x->status == 307 || x->status == 308);
}

/* Sends the request to where the answer points; -1: it points nowhere. */
static int web_follow(struct web_loop *loop, struct web_flight *flight, struct error *err)
{
	const char *location = exchange_header(&flight->x, "Location");
	_cleanup_(str_release) struct str url = STR_INIT;

	if (!location || ++flight->redirects > WEB_REDIRECTS_MAX)
		return error_set(err, ERROR_FAILED,
				 "%.300s redirects in circles or to nowhere; name another mirror",
				 flight->x.url.text);
	if (url_join(flight->x.url.text, location, &url, err) < 0)
		return error_wrap(err, "redirect from %.300s", flight->x.url.text);
	str_clear(&flight->x.url);
	str_add(&flight->x.url, url.text);
	web_send(loop, flight);
	return 0;
}

static bool web_try_again(struct web_loop *loop, struct web_flight *flight)
{
	uint64_t first = loop->web->pause_usec ? loop->web->pause_usec : WEB_FIRST_PAUSE_USEC;

	if (!failure_is_transient(&flight->x) || ++flight->tries >= WEB_TRIES_MAX)
		return false;
	flight->not_before_usec = clock_usec() + retry_pause_usec(first, flight->tries);
	return true;
}

static void web_answered(struct web_loop *loop, struct web_flight *flight, CURLcode result)
{
	struct web_request *request = flight->request;
	const struct exchange *x = &flight->x;

	curl_multi_remove_handle(loop->multi, x->easy);
	exchange_answered(&flight->x, result);
	if (web_is_redirect(x) && web_follow(loop, flight, &request->err) == 0)
		return;
	if (!web_is_redirect(x) && web_try_again(loop, flight))
		return;
	if (request->err.kind == ERROR_NONE) {
		if (x->result == CURLE_OK &&
		    (x->status == 200 || x->status == 206 || x->status == 404))
			web_take_answer(request, x);
		else
			web_failed(x, &request->err);
	}
	web_end(loop, flight);
}

/* Sends again what has waited long enough. */
static void web_resume(struct web_loop *loop)
{
	for (size_t i = 0; i < WEB_WIDTH; i++) {
		struct web_flight *flight = &loop->flights[i];

		if (flight->request && flight->not_before_usec &&
		    flight->not_before_usec <= clock_usec())
			web_send(loop, flight);
	}
}

static void web_collect(struct web_loop *loop)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(loop->multi, &left))) {
		char *flight = NULL;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &flight);
		web_answered(loop, (struct web_flight *)(void *)flight, message->data.result);
	}
}

static void web_stop(struct web_loop *loop)
{
	for (size_t i = 0; i < WEB_WIDTH; i++) {
		struct web_flight *flight = &loop->flights[i];

		if (!flight->request)
			continue;
		if (!flight->not_before_usec)
			curl_multi_remove_handle(loop->multi, flight->x.easy);
		web_end(loop, flight);
	}
	curl_multi_cleanup(loop->multi);
}

int web_fetch(const struct web *web, struct web_request *list, size_t count, struct error *err)
{
	struct web_loop loop = {.web = web, .multi = curl_multi_init()};
	size_t next = 0;
	int running, rc = 0;

	if (!loop.multi)
		oom();
	while ((next < count || loop.busy) && rc == 0) {
		for (size_t i = 0; i < WEB_WIDTH && next < count; i++)
			if (!loop.flights[i].request)
				web_start(&loop, &loop.flights[i], &list[next++]);
		web_resume(&loop);
		curl_multi_perform(loop.multi, &running);
		web_collect(&loop);
		if (loop.busy)
			curl_multi_poll(loop.multi, NULL, 0, INTERRUPT_POLL_MSEC, NULL);
		rc = interrupt_check(err);
	}
	web_stop(&loop);
	return rc;
}

void web_release(struct web_request *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].body.text)
			str_release(&list[i].body);
}
