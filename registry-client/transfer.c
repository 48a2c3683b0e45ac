/* SPDX-License-Identifier: MIT */
#include "registry-client/transfer.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/progress.h"
#include "registry-client/failure.h"
#include "registry-client/limits.h"
#include "registry-client/retry.h"
#include "registry-client/session.h"
#include "registry-client/url.h"

#include <stdio.h>
#include <string.h>

#define TRANSFER_WHY_BYTES 320

struct loop {
	struct registry *registry;
	struct transfer *const *list;
	size_t count, width;
	size_t first_open; /* transfers before this one have ended */
	size_t ended, running;
	struct transfer *fetch; /* the token request under way, or NULL */
};

void transfer_init(struct transfer *transfer, struct registry *registry,
		   enum transfer_next (*step)(struct transfer *transfer, struct error *err))
{
	*transfer = (struct transfer){.step = step, .registry = registry, .tries_max = TRIES_MAX};
	exchange_init(&transfer->x);
	str_init(&transfer->session);
}

void transfer_release(struct transfer *transfer)
{
	exchange_release(&transfer->x);
	str_release(&transfer->session);
}

enum transfer_next transfer_failed(struct transfer *transfer, struct error *err)
{
	failure_set(transfer->registry, &transfer->x, err);
	return TRANSFER_FAILED;
}

/* The person learns of a long pause, and with -v of every one. */
static void announce(const struct transfer *t, uint64_t pause_usec)
{
	double seconds = (double)pause_usec / 1e6;
	const struct exchange *x = &t->x;
	char why[TRANSFER_WHY_BYTES];

	snprintf(why, sizeof(why), "HTTP %ld %s", x->status, x->problem);
	progress_retry(t->name ? t->name : x->method, t->tries + 1, t->tries_max, seconds, why);
	log_debug("%s %s: HTTP %ld %s; try %d of %d in %.1f s", x->method, t->registry->base,
		  x->status, x->problem, t->tries + 1, t->tries_max, seconds);
	if (pause_usec > LONG_PAUSE_USEC)
		log_info("registry %s asks for a pause of %.0f s (HTTP %ld)", t->registry->base,
			 seconds, x->status);
}

/* After a transient failure: a pause and another try, or the end of patience. */
static int try_again(struct transfer *t, struct error *err)
{
	const char *after = exchange_header(&t->x, "Retry-After");
	uint64_t pause = 0, asked = 0, now = clock_usec();

	if (++t->tries >= t->tries_max) {
		failure_set(t->registry, &t->x, err);
		return t->tries > 1 ? error_advise(err, "tried %d times", t->tries) : -1;
	}
	pause = retry_pause_usec(t->registry->pause_usec, t->tries);
	if (after && retry_after_usec(after, time(NULL), &asked))
		t->registry->quiet_until_usec = now + asked;
	announce(t, asked > pause ? asked : pause);
	t->not_before_usec = now + pause;
	t->is_second = false;
	t->redirects = 0;
	if (t->recover)
		t->recover(t);
	t->state = TRANSFER_READY;
	return 0;
}

static bool is_redirect(const struct exchange *x)
{
	bool reads = strcmp(x->method, "GET") == 0 || strcmp(x->method, "HEAD") == 0;

	if (x->result != CURLE_OK || x->credentials != CREDENTIALS_REGISTRY)
		return false;
	if (x->status == 307 || x->status == 308)
		return true;
	return reads && (x->status == 301 || x->status == 302 || x->status == 303);
}

static int follow(struct transfer *t, struct error *err)
{
	const char *location = exchange_header(&t->x, "Location");
	_cleanup_(str_release) struct str url = {0};

	str_init(&url);
	if (!location || ++t->redirects > REDIRECTS_MAX) {
		failure_set(t->registry, &t->x, err);
		return error_advise(err, location ? "it redirects in circles"
						  : "it redirects to nowhere");
	}
	if (url_join(t->x.url.text, location, &url, err) < 0)
		return error_wrap(err, "redirect from %s", t->x.url.text);
	str_clear(&t->x.url);
	str_add(&t->x.url, url.text);
	t->state = TRANSFER_READY;
	return 0;
}

static int step(struct loop *loop, struct transfer *t, struct error *err)
{
	enum transfer_next next = t->step(t, err);

	if (next == TRANSFER_AGAIN)
		return try_again(t, err);
	if (next == TRANSFER_FAILED)
		return -1;
	t->state = next == TRANSFER_SEND   ? TRANSFER_READY
		   : next == TRANSFER_WAIT ? TRANSFER_WAITING
					   : TRANSFER_ENDED;
	t->redirects = t->refusals = 0;
	t->is_second = false;
	if (next == TRANSFER_DONE && t != loop->fetch)
		loop->ended++;
	return 0;
}

/*
 * A 401. Where there is no answer to it, it may be a hiccup all the same: the registry let us in a
 * moment ago.
 */
static int challenged(struct loop *loop, struct transfer *t, struct error *err)
{
	const struct exchange *x = &t->x;

	if (auth_challenged(t->registry, x, t->is_second, err) < 0) {
		if (t->takes_refusal) {
			*err = (struct error){0};
			return step(loop, t, err);
		}
		if (!t->registry->has_let_in || ++t->refusals > REFUSALS_MAX)
			return -1;
		*err = (struct error){0};
		return try_again(t, err);
	}
	/* Without a scope a Bearer challenge is all there is to learn. */
	if (t->registry->auth.scheme == AUTH_BEARER && !x->scope)
		return step(loop, t, err);
	t->is_second = true;
	t->state = TRANSFER_READY;
	return 0;
}

/* What is the same for all transfers; the rest goes to the step. */
static int judge(struct loop *loop, struct transfer *t, struct error *err)
{
	struct exchange *x = &t->x;

	if (is_redirect(x))
		return follow(t, err);
	if (failure_is_transient(x))
		return try_again(t, err);
	if (x->result == CURLE_OK && x->status == 401 && x->credentials == CREDENTIALS_REGISTRY)
		return challenged(loop, t, err);
	if (x->result == CURLE_OK && x->status >= 200 && x->status <= 299 &&
	    x->credentials == CREDENTIALS_REGISTRY)
		t->registry->has_let_in = true;
	return step(loop, t, err);
}

static int with_name(const struct transfer *t, int rc, struct error *err)
{
	return rc < 0 && t->name && err->kind != ERROR_INTERRUPTED ? error_wrap(err, "%s", t->name)
								   : rc;
}

static void begin(struct loop *loop, struct transfer *t)
{
	_cleanup_(str_release) struct str header = {0};
	struct exchange_settings settings = t->registry->settings;

	/* What is the registry's alone: its client certificate, and the way past the proxy. */
	if (!url_same_host(t->registry->base, t->x.url.text)) {
		settings.cert_path = settings.key_path = NULL;
		settings.no_proxy = false;
	}
	str_init(&header);
	auth_header(t->registry, &t->x, &header);
	exchange_prepare(&t->x, &settings, header.length ? header.text : NULL);
	explicit_bzero(header.text, header.length);
	t->x.token_number = auth_token_number(t->registry, &t->x);
	curl_easy_setopt(t->x.easy, CURLOPT_PRIVATE, t);
	t->state = TRANSFER_RUNNING;
	if (curl_multi_add_handle(loop->registry->multi, t->x.easy) != CURLM_OK)
		oom();
	loop->running++;
}

/* Begins a transfer that may begin now; *wake_usec becomes the next moment to look again. */
static int begin_ready(struct loop *loop, struct transfer *t, uint64_t *wake_usec,
		       struct error *err)
{
	uint64_t now = clock_usec(), when;

	if (t->state == TRANSFER_WAITING && step(loop, t, err) < 0)
		return -1;
	if (t->state != TRANSFER_READY)
		return 0;
	when = t->not_before_usec;
	if (when < t->registry->quiet_until_usec)
		when = t->registry->quiet_until_usec;
	if (when > now) {
		*wake_usec = when < *wake_usec ? when : *wake_usec;
		return 0;
	}
	if (!t->x.method && step(loop, t, err) < 0)
		return -1;
	if (t->state != TRANSFER_READY)
		return 0;
	if (!auth_needs_token(t->registry, &t->x)) {
		begin(loop, t);
	} else if (!loop->fetch) {
		loop->fetch = auth_fetch_new(t->registry, t->x.scope);
		*wake_usec = now;
	}
	return 0;
}

static int begin_all(struct loop *loop, uint64_t *wake_usec, struct error *err)
{
	while (loop->first_open < loop->count &&
	       loop->list[loop->first_open]->state == TRANSFER_ENDED)
		loop->first_open++;
	for (size_t i = loop->first_open; i < loop->count; i++) {
		struct transfer *t = loop->list[i];

		if (t->state == TRANSFER_READY && loop->running >= loop->width)
			continue;
		if (with_name(t, begin_ready(loop, t, wake_usec, err), err) < 0)
			return -1;
	}
	if (loop->fetch)
		return begin_ready(loop, loop->fetch, wake_usec, err);
	return 0;
}

static void take_off(struct loop *loop, struct transfer *t)
{
	curl_multi_remove_handle(loop->registry->multi, t->x.easy);
	loop->running--;
}

/* *any: whether an answer came, so that there may be something to begin. */
static int collect(struct loop *loop, bool *any, struct error *err)
{
	struct CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(loop->registry->multi, &left))) {
		struct transfer *t;
		CURLcode result = message->data.result;
		void *private;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&private);
		t = private;
		*any = true;
		take_off(loop, t);
		exchange_answered(&t->x, result);
		if (with_name(t, judge(loop, t, err), err) < 0)
			return -1;
		if (t == loop->fetch && t->state == TRANSFER_ENDED) {
			auth_fetch_free(t);
			loop->fetch = NULL;
		}
	}
	return 0;
}

static int turn(struct loop *loop, struct error *err)
{
	uint64_t wake = clock_usec() + INTERRUPT_POLL_MSEC * 1000ULL;
	bool any = false;
	int running;

	if (interrupt_check(err) < 0 || begin_all(loop, &wake, err) < 0)
		return -1;
	if (loop->ended == loop->count)
		return 0;
	curl_multi_perform(loop->registry->multi, &running);
	if (collect(loop, &any, err) < 0)
		return -1;
	if (!any)
		curl_multi_poll(loop->registry->multi, NULL, 0, clock_left_msec(wake), NULL);
	return 0;
}

/*
 * Tells the registry to drop the upload sessions that are still open (OCI distribution-spec 1.1,
 * "Canceling an upload"): it keeps their bytes for days otherwise. Failures do not matter. Short,
 * and not to be interrupted: this is the way out.
 */
static void abandon_sessions(struct loop *loop)
{
	uint64_t deadline = clock_usec() + ABANDON_SECONDS * 1000000ULL;
	int running = 1;

	for (size_t i = 0; i < loop->count; i++) {
		struct transfer *t = loop->list[i];

		if (!t->session.length)
			continue;
		if (t->session_registry)
			t->registry = t->session_registry;
		exchange_request(&t->x, "DELETE", "%s", t->session.text);
		if (!auth_needs_token(t->registry, &t->x))
			begin(loop, t);
	}
	while (loop->running && running && clock_usec() < deadline) {
		curl_multi_perform(loop->registry->multi, &running);
		if (running)
			curl_multi_poll(loop->registry->multi, NULL, 0, clock_left_msec(deadline),
					NULL);
	}
}

static void stop(struct loop *loop)
{
	for (size_t i = 0; i < loop->count; i++)
		if (loop->list[i]->state == TRANSFER_RUNNING) {
			take_off(loop, loop->list[i]);
			loop->list[i]->state = TRANSFER_ENDED;
		}
}

void transfer_wake(struct registry *registry)
{
	curl_multi_wakeup(registry->multi);
}

int transfer_run(struct registry *registry, struct transfer *const *list, size_t count,
		 size_t width, struct error *err)
{
	struct loop loop = {.registry = registry, .list = list, .count = count, .width = width};
	int rc = 0;

	while (rc == 0 && loop.ended < count)
		rc = turn(&loop, err);
	if (loop.fetch) {
		if (loop.fetch->state == TRANSFER_RUNNING)
			take_off(&loop, loop.fetch);
		auth_fetch_free(loop.fetch);
	}
	stop(&loop);
	if (rc < 0) {
		abandon_sessions(&loop);
		stop(&loop);
	}
	return rc;
}
