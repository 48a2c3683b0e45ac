/* SPDX-License-Identifier: MIT */
#include "registry-client/http/transfer.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/progress.h"
#include "registry-client/http/failure.h"
#include "registry-client/limits.h"
#include "registry-client/http/loop.h"
#include "registry-client/http/retry.h"
#include "registry-client/http/session.h"
#include "registry-client/http/url.h"
#include "registry-client/http/warning.h"

#include <stdio.h>
#include <string.h>

#define TRANSFER_WHY_BYTES 320

/* One call of transfer_run. */
struct run {
	struct run *next;
	struct loop *loop;
	struct transfer *const *list;
	size_t count, width;
	size_t first_open; /* transfers before this one have ended */
	size_t ended;
	struct transfer *fetch; /* the token request under way, or NULL */
	struct error *err;
	int rc;
	uint64_t deadline_usec; /* it failed: until then it may clean up; 0: it did not fail */
	bool is_done;
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

static int with_name(const struct transfer *t, int rc, struct error *err)
{
	return rc < 0 && t->name && err->kind != ERROR_INTERRUPTED ? error_wrap(err, "%s", t->name)
								   : rc;
}

/*
 * --- what the answer to a request means, the same for all transfers; the rest is the step's
 */

/* Reports a long pause, and with -v every pause. */
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

/* After a transient failure: another try after a pause, or the error. */
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
	_cleanup_(str_release) struct str url = STR_INIT, plain = STR_INIT;

	if (!location || ++t->redirects > REDIRECTS_MAX) {
		failure_set(t->registry, &t->x, err);
		return error_advise(err, location ? "it redirects in circles"
						  : "it redirects to nowhere");
	}
	if (url_join(t->x.url.text, location, &url, err) < 0) {
		url_for_people(t->x.url.text, &plain);
		return error_wrap(err, "redirect from %s", plain.text);
	}
	str_clear(&t->x.url);
	str_add(&t->x.url, url.text);
	t->state = TRANSFER_READY;
	return 0;
}

/* Calls the step, which says what comes next; -1: it failed. */
static int transfer_step(struct transfer *t, struct error *err)
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
	return 0;
}

/*
 * Handles a 401. When the credentials cannot answer it, it may still pass: the registry took them a
 * moment ago.
 */
static int challenged(struct transfer *t, struct error *err)
{
	const struct exchange *x = &t->x;

	if (auth_challenged(t->registry, x, t->is_second, err) < 0) {
		if (t->takes_refusal) {
			*err = (struct error){0};
			return transfer_step(t, err);
		}
		if (!t->registry->has_let_in || ++t->refusals > REFUSALS_MAX)
			return -1;
		*err = (struct error){0};
		return try_again(t, err);
	}
	/* Without a scope a Bearer challenge is all there is to learn. */
	if (t->registry->auth.scheme == AUTH_BEARER && !x->scope)
		return transfer_step(t, err);
	t->is_second = true;
	t->state = TRANSFER_READY;
	return 0;
}

/* A registry that has not answered yet may not speak TLS at all: registry_contact. */
static bool is_torn_handshake(const struct transfer *t)
{
	return (t->registry->is_known || !t->registry->may_be_plain) &&
	       failure_is_torn_handshake(&t->x);
}

/* The same after an answer: redirects, challenges and transient failures never reach the step. */
static int transfer_judge(struct transfer *t, struct error *err)
{
	struct exchange *x = &t->x;

	if (x->result == CURLE_OK)
		warning_show(t->registry, x);
	if (is_redirect(x))
		return follow(t, err);
	if (failure_is_transient(x) || is_torn_handshake(t))
		return try_again(t, err);
	if (x->result == CURLE_OK && x->status == 401 && x->credentials == CREDENTIALS_REGISTRY)
		return challenged(t, err);
	if (x->result == CURLE_OK && x->status >= 200 && x->status <= 299 &&
	    x->credentials == CREDENTIALS_REGISTRY)
		t->registry->has_let_in = true;
	return transfer_step(t, err);
}

/* --- the loop's part */

static void transfer_begin(struct run *run, struct transfer *t)
{
	_cleanup_(str_release) struct str header = STR_INIT;
	struct exchange_settings settings = t->registry->settings;

	/* What only the registry itself gets: its client certificate, ... */
	if (!url_same_origin(t->registry->base, t->x.url.text))
		settings.cert_path = settings.key_path = NULL;
	/* ... and its exception from the proxy. */
	if (!url_same_host(t->registry->base, t->x.url.text))
		settings.no_proxy = false;
	auth_header(t->registry, &t->x, &header);
	exchange_prepare(&t->x, &settings, header.length ? header.text : NULL);
	explicit_bzero(header.text, header.length);
	t->x.token_number = auth_token_number(t->registry, &t->x);
	curl_easy_setopt(t->x.easy, CURLOPT_PRIVATE, t);
	t->state = TRANSFER_RUNNING;
	t->run = run;
	if (curl_multi_add_handle(run->loop->multi, t->x.easy) != CURLM_OK)
		oom();
	run->loop->running++;
}

static void take_off(struct transfer *t)
{
	curl_multi_remove_handle(t->run->loop->multi, t->x.easy);
	t->run->loop->running--;
	t->state = TRANSFER_READY;
}

static void transfer_end(struct run *run, struct transfer *t)
{
	if (t->state == TRANSFER_RUNNING)
		take_off(t);
	t->state = TRANSFER_ENDED;
	run->ended += t != run->fetch;
}

static int step(struct run *run, struct transfer *t, struct error *err)
{
	int rc = transfer_step(t, err);

	if (rc == 0 && t->state == TRANSFER_ENDED)
		transfer_end(run, t);
	return rc;
}

static void end_fetch(struct run *run)
{
	if (run->fetch && run->fetch->state == TRANSFER_RUNNING)
		take_off(run->fetch);
	auth_fetch_free(run->fetch);
	run->fetch = NULL;
}

/* Begins a transfer if it may begin now; *wake_usec becomes the next moment to look again. */
static int begin_ready(struct run *run, struct transfer *t, uint64_t *wake_usec, struct error *err)
{
	uint64_t now = clock_usec(), when;

	if (t->state == TRANSFER_WAITING && step(run, t, err) < 0)
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
	if (!t->x.method && step(run, t, err) < 0)
		return -1;
	if (t->state != TRANSFER_READY)
		return 0;
	if (!auth_needs_token(t->registry, &t->x)) {
		transfer_begin(run, t);
	} else if (!run->fetch) {
		run->fetch = auth_fetch_new(t->registry, t->x.scope);
		*wake_usec = now;
	}
	return 0;
}

/*
 * The width counts what other runs of the loop have in flight as well: they share the connections.
 */
static int begin_all(struct run *run, uint64_t *wake_usec, struct error *err)
{
	while (run->first_open < run->count && run->list[run->first_open]->state == TRANSFER_ENDED)
		run->first_open++;
	for (size_t i = run->first_open; i < run->count; i++) {
		struct transfer *t = run->list[i];

		if (t->state == TRANSFER_READY && run->loop->running >= run->width)
			continue;
		if (with_name(t, begin_ready(run, t, wake_usec, err), err) < 0)
			return -1;
	}
	return run->fetch ? begin_ready(run, run->fetch, wake_usec, err) : 0;
}

/*
 * Tells the registry to drop an upload session that is still open (OCI distribution-spec 1.1,
 * "Canceling an upload"), whose bytes it would keep for days. The answer does not matter.
 */
static void abandon(struct run *run, struct transfer *t)
{
	bool was_ended = t->state == TRANSFER_ENDED;

	if (t->state == TRANSFER_RUNNING)
		take_off(t);
	t->state = TRANSFER_ENDED;
	if (t->session.length) {
		if (t->session_registry)
			t->registry = t->session_registry;
		exchange_request(&t->x, "DELETE", "%s", t->session.text);
		if (!auth_needs_token(t->registry, &t->x))
			transfer_begin(run, t);
	}
	if (was_ended && t->state == TRANSFER_RUNNING)
		run->ended--;
	if (!was_ended && t->state == TRANSFER_ENDED)
		run->ended++;
}

/* Cleans up within a short deadline, without looking at interrupted(). run->err is set. */
static void transfer_fail(struct run *run)
{
	run->rc = -1;
	run->deadline_usec = clock_usec() + ABANDON_SECONDS * 1000000ULL;
	end_fetch(run);
	for (size_t i = 0; i < run->count; i++)
		abandon(run, run->list[i]);
}

static void transfer_answered(struct run *run, struct transfer *t)
{
	if (run->deadline_usec) {
		transfer_end(run, t);
	} else if (with_name(t, transfer_judge(t, run->err), run->err) < 0) {
		transfer_fail(run);
	} else if (t->state == TRANSFER_ENDED) {
		transfer_end(run, t);
		if (t == run->fetch)
			end_fetch(run);
	}
}

/* Whether an answer came, so that there may be something to begin. */
static bool transfer_collect(struct loop *loop)
{
	struct CURLMsg *message;
	bool any = false;
	int left;

	while ((message = curl_multi_info_read(loop->multi, &left))) {
		struct transfer *t;
		CURLcode result = message->data.result;
		void *private;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&private);
		t = private;
		any = true;
		take_off(t);
		exchange_answered(&t->x, result);
		transfer_answered(t->run, t);
	}
	return any;
}

/* Lets a run continue, and finds out whether it is done. */
static void look_after(struct run *run, uint64_t *wake_usec)
{
	bool is_late;

	if (!run->deadline_usec && run->ended < run->count &&
	    (interrupt_check(run->err) < 0 || begin_all(run, wake_usec, run->err) < 0))
		transfer_fail(run);
	is_late = run->deadline_usec && clock_usec() >= run->deadline_usec;
	if (run->ended < run->count && !is_late)
		return;
	for (size_t i = 0; i < run->count; i++)
		if (run->list[i]->state == TRANSFER_RUNNING)
			transfer_end(run, run->list[i]);
	end_fetch(run);
	run->is_done = true;
}

/* One turn for all runs. The lock is held, except during the wait. */
static void turn(struct loop *loop)
{
	uint64_t wake = clock_usec() + INTERRUPT_POLL_MSEC * 1000ULL;
	bool is_one_done = false;
	int running;

	for (struct run *run = loop->runs; run; run = run->next)
		if (!run->is_done) {
			look_after(run, &wake);
			is_one_done |= run->is_done;
		}
	if (is_one_done) {
		pthread_cond_broadcast(&loop->turned);
		return;
	}
	curl_multi_perform(loop->multi, &running);
	if (transfer_collect(loop))
		return;
	pthread_mutex_unlock(&loop->lock);
	curl_multi_poll(loop->multi, NULL, 0, clock_left_msec(wake), NULL);
	pthread_mutex_lock(&loop->lock);
}

void transfer_wake(struct registry *registry)
{
	curl_multi_wakeup(registry->loop->multi);
}

/* Waits until this run is done: drives the loop for all, or waits while another thread does. */
static void await(struct loop *loop, struct run *run)
{
	while (!run->is_done) {
		if (loop->is_driven) {
			pthread_cond_wait(&loop->turned, &loop->lock);
			continue;
		}
		loop->is_driven = true;
		while (!run->is_done)
			turn(loop);
		loop->is_driven = false;
		pthread_cond_broadcast(&loop->turned);
	}
}

int transfer_run(struct registry *registry, struct transfer *const *list, size_t count,
		 size_t width, struct error *err)
{
	struct loop *loop = registry->loop;
	struct run run = {.loop = loop, .list = list, .count = count, .width = width, .err = err};
	struct run **place;

	pthread_mutex_lock(&loop->lock);
	for (place = &loop->runs; *place; place = &(*place)->next)
		;
	*place = &run;
	if (loop->is_driven)
		curl_multi_wakeup(loop->multi);
	await(loop, &run);
	for (place = &loop->runs; *place != &run; place = &(*place)->next)
		;
	*place = run.next;
	pthread_mutex_unlock(&loop->lock);
	return run.rc;
}
