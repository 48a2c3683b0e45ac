/* SPDX-License-Identifier: MIT */
/* What the answer to a request means, the same for all transfers; the rest is the step's. */
#include "core/clock.h"
#include "core/progress.h"
#include "registry-client/failure.h"
#include "registry-client/limits.h"
#include "registry-client/retry.h"
#include "registry-client/session.h"
#include "registry-client/transfer.h"
#include "registry-client/transfer_parts.h"
#include "registry-client/url.h"
#include "registry-client/warning.h"

#include <stdio.h>
#include <string.h>

#define TRANSFER_WHY_BYTES 320

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

int transfer_step(struct transfer *t, struct error *err)
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
 * A 401. Where there is no answer to it, it may be a hiccup all the same: the registry let us in a
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

/* A registry that was not reached yet may not speak TLS at all: registry_contact. */
static bool is_torn_handshake(const struct transfer *t)
{
	return (t->registry->is_known || !t->registry->may_be_plain) &&
	       failure_is_torn_handshake(&t->x);
}

int transfer_judge(struct transfer *t, struct error *err)
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
