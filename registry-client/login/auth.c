/* SPDX-License-Identifier: MIT */
#include "registry-client/login/auth.h"
#include "registry-client/login/challenge.h"

#include "core/clock.h"
#include "core/json.h"
#include "registry-client/http/failure.h"
#include "registry-client/limits.h"
#include "registry-client/http/session.h"
#include "registry-client/http/transfer.h"
#include "registry-client/http/url.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void forget_token(struct auth_token *token)
{
	if (token->header) {
		explicit_bzero(token->header, strlen(token->header));
		free(token->header);
	}
	token->header = NULL;
}

static void auth_wipe(struct secret secret)
{
	if (secret.hidden)
		explicit_bzero((void *)(uintptr_t)secret.hidden, strlen(secret.hidden));
}

void auth_release(struct auth *auth)
{
	for (struct auth_token *t = auth->tokens; t; t = t->next)
		forget_token(t);
	auth_wipe(auth->password);
	auth_wipe(auth->identity);
	*auth = (struct auth){0};
}

/* The token for this scope; a new empty one when there is none yet. */
static struct auth_token *find_token(struct registry *registry, const char *scope)
{
	struct auth_token *token = registry->auth.tokens;

	while (token && strcmp(token->scope, scope) != 0)
		token = token->next;
	if (!token) {
		token = ARENA_NEW(&registry->arena, struct auth_token);
		token->scope = arena_strdup(&registry->arena, scope);
		token->next = registry->auth.tokens;
		registry->auth.tokens = token;
	}
	return token;
}

static bool is_ours(const struct registry *registry, const struct exchange *x)
{
	return x->credentials == CREDENTIALS_REGISTRY &&
	       url_same_origin(registry->base, x->url.text);
}

bool auth_needs_token(struct registry *registry, const struct exchange *x)
{
	struct auth_token *token;

	if (registry->auth.scheme != AUTH_BEARER || !x->scope || !is_ours(registry, x))
		return false;
	token = find_token(registry, x->scope);
	return !token->header || clock_usec() >= token->renew_usec;
}

/* Whether to ask with the refresh token, which takes a form of its own. */
static bool posts(const struct auth *auth)
{
	return auth->identity.hidden && !auth->takes_no_post;
}

/* What the token service gets when it takes no POST. */
static struct secret secret_for_service(const struct auth *auth)
{
	bool has_password = auth->password.hidden && *secret_reveal(auth->password);

	return has_password ? auth->password : auth->identity;
}

static void add_basic(const struct auth *auth, struct secret secret, struct str *header)
{
	_cleanup_(str_release) struct str pair = STR_INIT;
	size_t length;
	unsigned char *text;

	str_addf(&pair, "%s:%s", auth->user ? auth->user : "",
		 secret.hidden ? secret_reveal(secret) : "");
	text = xmalloc(pair.length * 4 / 3 + 8);
	EVP_EncodeBlock(text, (const unsigned char *)pair.text, (int)pair.length);
	str_addf(header, "Basic %s", (const char *)text);
	length = strlen((const char *)text);
	explicit_bzero(text, length);
	explicit_bzero(pair.text, pair.length);
	free(text);
}

void auth_header(struct registry *registry, const struct exchange *x, struct str *header)
{
	const struct auth *auth = &registry->auth;

	if (x->credentials == CREDENTIALS_TOKEN_SERVICE) {
		if (!posts(auth) && (auth->user || auth->identity.hidden))
			add_basic(auth, secret_for_service(auth), header);
		return;
	}
	if (!is_ours(registry, x))
		return;
	if (auth->scheme == AUTH_BASIC && auth->user)
		add_basic(auth, auth->password, header);
	if (auth->scheme == AUTH_BEARER && x->scope) {
		const struct auth_token *token = find_token(registry, x->scope);

		if (token->header)
			str_add(header, token->header);
	}
}

unsigned auth_token_number(struct registry *registry, const struct exchange *x)
{
	if (registry->auth.scheme != AUTH_BEARER || !x->scope || !is_ours(registry, x))
		return 0;
	return find_token(registry, x->scope)->number;
}

/* Drops a refused token; one that came meanwhile is another token and stays. */
static void drop_refused(struct registry *registry, const struct exchange *x)
{
	struct auth_token *token = x->scope ? find_token(registry, x->scope) : NULL;

	if (token && token->number == x->token_number)
		forget_token(token);
}

/* The challenge that we can answer: Bearer before Basic. */
static bool auth_choose(const struct exchange *x, struct arena *arena, struct challenge *chosen)
{
	struct challenge list[CHALLENGES_MAX];
	size_t count = 0;
	const char *value;
	bool found = false;

	for (size_t i = 0; (value = exchange_header_at(x, "WWW-Authenticate", i)); i++)
		challenge_parse(value, arena, list, ARRAY_LEN(list), &count);
	for (size_t i = 0; i < count; i++) {
		bool bearer = strcasecmp(list[i].scheme, "Bearer") == 0 && list[i].realm;

		if (!bearer && (found || strcasecmp(list[i].scheme, "Basic") != 0))
			continue;
		*chosen = list[i];
		found = true;
		if (bearer)
			break;
	}
	return found;
}

/*
 * Where tokens are asked for. TLS is never left: url_join refuses the step from https to http, and
 * makes https of http on the registry's own host and port, which a registry behind a TLS proxy
 * writes. Without TLS the registry's own host may be asked without TLS, too.
 */
static int auth_take_realm(const struct registry *registry, const char *realm, struct str *url,
			   struct error *err)
{
	struct error why;

	if (strstr(realm, "://") && url_join(registry->base, realm, url, &why) == 0 &&
	    (url_is_https(url->text) || url_same_host(registry->base, url->text)))
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"registry %s wants user and password to be sent to %.200s, which is neither https nor the registry itself; nothing was sent. Correct the realm in the registry's settings",
		registry->base, realm);
}

static int refused(const struct registry *registry, struct error *err)
{
	const char *user = registry->auth.user;

	if (registry->auth.identity.hidden)
		return error_set(
			err, ERROR_FAILED,
			"registry %s refused the refresh token on file (HTTP 401); run 'ringup login %s', or 'docker login %s', again",
			registry->base, registry->address, registry->address);
	if (!user)
		return error_set(
			err, ERROR_FAILED,
			"registry %s asks for a user and a password (HTTP 401); run 'ringup login %s' first",
			registry->base, registry->address);
	return error_set(
		err, ERROR_FAILED,
		"registry %s refused user '%s' or the password (HTTP 401); run 'ringup login %s' with the right ones",
		registry->base, user, registry->address);
}

/* Takes a Bearer challenge over; the token that was sent, if any, is no longer valid. */
static int learn_bearer(struct registry *registry, const struct exchange *x,
			const struct challenge *challenge, struct error *err)
{
	_cleanup_(str_release) struct str realm = STR_INIT;
	struct auth *auth = &registry->auth;

	if (auth_take_realm(registry, challenge->realm, &realm, err) < 0)
		return -1;
	auth->scheme = AUTH_BEARER;
	auth->realm = arena_strdup(&registry->arena, realm.text);
	auth->service =
		challenge->service ? arena_strdup(&registry->arena, challenge->service) : NULL;
	drop_refused(registry, x);
	return 0;
}

int auth_challenged(struct registry *registry, const struct exchange *x, bool is_second,
		    struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct challenge challenge = {0};

	if (!is_ours(registry, x))
		return failure_set(registry, x, err);
	/* Some registries answer an expired token without a usable challenge. */
	if (!auth_choose(x, &arena, &challenge) && registry->auth.scheme == AUTH_BEARER &&
	    x->scope && !is_second) {
		drop_refused(registry, x);
		return 0;
	}
	if (!challenge.scheme)
		return error_set(
			err, ERROR_FAILED,
			"registry %s answered 401 and offers neither Basic nor Bearer; ringup knows no other way to log in",
			registry->base);
	if (strcasecmp(challenge.scheme, "Bearer") == 0) {
		if (is_second)
			return refused(registry, err);
		return learn_bearer(registry, x, &challenge, err);
	}
	if (is_second || !registry->auth.user || x->sent_credentials)
		return refused(registry, err);
	registry->auth.scheme = AUTH_BASIC;
	return 0;
}

/* Fetching a token */

struct fetch {
	struct transfer transfer;
	char *scope;	 /* owned */
	struct str form; /* the body of a POST: holds the refresh token */
};

/* "name=value" of application/x-www-form-urlencoded. */
static void add_field(struct str *form, const char *name, const char *value)
{
	char *escaped = curl_easy_escape(NULL, value, 0);

	str_addf(form, "%s%s=%s", form->length ? "&" : "", name, escaped ? escaped : "");
	if (escaped)
		explicit_bzero(escaped, strlen(escaped));
	curl_free(escaped);
}

/* Docker token authentication, "Requesting a Token according to OAuth2". */
static void refresh_request(struct registry *registry, struct fetch *fetch)
{
	struct exchange *x = &fetch->transfer.x;

	str_clear(&fetch->form);
	add_field(&fetch->form, "grant_type", "refresh_token");
	add_field(&fetch->form, "service", registry->auth.service ? registry->auth.service : "");
	add_field(&fetch->form, "client_id", "ringup");
	add_field(&fetch->form, "scope", fetch->scope);
	add_field(&fetch->form, "refresh_token", secret_reveal(registry->auth.identity));
	exchange_request(x, "POST", "%s", registry->auth.realm);
	x->credentials = CREDENTIALS_TOKEN_SERVICE;
	x->content_type = "application/x-www-form-urlencoded";
	x->body = fetch->form.text;
	x->body_bytes = fetch->form.length;
}

static void fetch_request(struct registry *registry, struct exchange *x, const char *scope)
{
	_cleanup_(free_pointer) char *words = strdup(scope);
	char *rest = words, *word;

	if (!words)
		oom();
	exchange_request(x, "GET", "%s", registry->auth.realm);
	x->credentials = CREDENTIALS_TOKEN_SERVICE;
	if (registry->auth.service)
		url_add_query(&x->url, "service", registry->auth.service);
	while ((word = strsep(&rest, " ")))
		if (*word)
			url_add_query(&x->url, "scope", word);
}

/* A service may give a new refresh token each time, and then no longer accept the old one. */
static void keep_identity(struct registry *registry, const cJSON *json)
{
	const cJSON *text = json_member(json, "refresh_token");
	struct secret *identity = &registry->auth.identity;

	if (!posts(&registry->auth) || !cJSON_IsString(text) || !*text->valuestring ||
	    strlen(text->valuestring) > TOKEN_BYTES_MAX)
		return;
	auth_wipe(*identity);
	identity->hidden = arena_strdup(&registry->arena, text->valuestring);
}

/* Whether it can stand in a header line: visible characters, and not too many of them. */
static bool auth_is_token(const char *text)
{
	size_t length = 0;

	while (text[length] > ' ' && text[length] <= '~')
		length++;
	return length && !text[length] && length <= TOKEN_BYTES_MAX;
}

static int keep_token(struct registry *registry, const char *scope, const struct exchange *x,
		      struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	struct auth_token *token = find_token(registry, scope);
	const cJSON *text;
	double seconds;

	if (json_parse(x->answer.text, x->answer.length, "the token service's answer", &json, err))
		return error_wrap(err, "%s", registry->auth.realm);
	text = json_member(json, "token");
	if (!cJSON_IsString(text) || !*text->valuestring)
		text = json_member(json, "access_token");
	if (!cJSON_IsString(text) || !auth_is_token(text->valuestring))
		return error_set(
			err, ERROR_FAILED,
			"%s answered without a token, or with one that no header can hold; is it the token service of registry %s?",
			registry->auth.realm, registry->base);
	seconds = json_number(json, "expires_in", TOKEN_SECONDS_DEFAULT);
	if (!(seconds >= 2 && seconds < 1e8))
		seconds = TOKEN_SECONDS_DEFAULT;
	seconds = seconds > 2 * TOKEN_MARGIN_SECONDS ? seconds - TOKEN_MARGIN_SECONDS : seconds / 2;
	forget_token(token);
	if (asprintf(&token->header, "Bearer %s", text->valuestring) < 0)
		oom();
	keep_identity(registry, json);
	token->number++;
	token->renew_usec = clock_usec() + (uint64_t)(seconds * 1e6);
	return 0;
}

static enum transfer_next ask_token(struct fetch *fetch)
{
	struct registry *registry = fetch->transfer.registry;

	if (posts(&registry->auth))
		refresh_request(registry, fetch);
	else
		fetch_request(registry, &fetch->transfer.x, fetch->scope);
	return TRANSFER_SEND;
}

static enum transfer_next auth_fetch_step(struct transfer *transfer, struct error *err)
{
	struct fetch *fetch = (struct fetch *)transfer;
	struct auth *auth = &transfer->registry->auth;
	struct exchange *x = &transfer->x;

	if (!x->method)
		return ask_token(fetch);
	if (x->result == CURLE_OK && (x->status == 404 || x->status == 405) && posts(auth)) {
		auth->takes_no_post = true;
		return ask_token(fetch);
	}
	if (x->result == CURLE_OK && (x->status == 401 || x->status == 403)) {
		refused(transfer->registry, err);
		return TRANSFER_FAILED;
	}
	if (x->result != CURLE_OK || x->status != 200)
		return transfer_failed(transfer, err);
	return keep_token(transfer->registry, fetch->scope, x, err) < 0 ? TRANSFER_FAILED
									: TRANSFER_DONE;
}

struct transfer *auth_fetch_new(struct registry *registry, const char *scope)
{
	struct fetch *fetch = xmalloc(sizeof(*fetch));

	transfer_init(&fetch->transfer, registry, auth_fetch_step);
	str_init(&fetch->form);
	fetch->scope = strdup(scope);
	if (!fetch->scope)
		oom();
	return &fetch->transfer;
}

void auth_fetch_free(struct transfer *transfer)
{
	struct fetch *fetch = (struct fetch *)transfer;

	if (!fetch)
		return;
	explicit_bzero(transfer->x.answer.text, transfer->x.answer.length);
	explicit_bzero(fetch->form.text, fetch->form.length);
	str_release(&fetch->form);
	transfer_release(transfer);
	free(fetch->scope);
	free(fetch);
}
