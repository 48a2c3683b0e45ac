/* SPDX-License-Identifier: MIT */
#include "registry-client/http/failure.h"

#include "core/json.h"
#include "registry-client/limits.h"
#include "registry-client/http/session.h"
#include "registry-client/http/url.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#define CLIENT_CERTIFICATE_ADVICE                                               \
	"it wants a client certificate: put one as client.cert and its key as " \
	"client.key into certs.d of that registry, ~/.config/docker/certs.d/HOST:PORT"

/* "Err":28 is Go's syscall.ENOSPC as Distribution's filesystem driver writes it. */
static bool says_enospc(const char *text)
{
	static const char key[] = "\"Err\":";
	const char *p = text;

	if (strcasestr(text, "no space left on device"))
		return true;
	while ((p = strstr(p, key))) {
		p += strlen(key);
		p += strspn(p, " ");
		if (strncmp(p, "28", 2) == 0 && !isdigit((unsigned char)p[2]))
			return true;
	}
	return false;
}

bool failure_is_disk_full(const struct exchange *x)
{
	return x->status == 507 || (x->status == 500 && says_enospc(x->answer.text));
}

static bool is_transient_result(CURLcode result)
{
	switch (result) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_CONNECT:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
	case CURLE_SEND_FAIL_REWIND:
		return true;
	default:
		return false;
	}
}

/*
 * In TLS 1.3 a server checks the client's certificate after the client has finished the handshake:
 * the first read gets the refusal (RFC 8446, 4.4.2.4 and 6.2).
 */
static bool refuses_certificate(const struct exchange *x)
{
	return x->result != CURLE_OK && strstr(x->problem, " alert ") &&
	       (strstr(x->problem, "certificate") || strstr(x->problem, "unknown ca") ||
		strstr(x->problem, "handshake failure"));
}

bool failure_is_transient(const struct exchange *x)
{
	if (x->result != CURLE_OK)
		return is_transient_result(x->result) && !refuses_certificate(x);
	if (failure_is_disk_full(x))
		return false;
	return x->status == 408 || x->status == 429 || x->status == 500 || x->status == 502 ||
	       x->status == 503 || x->status == 504;
}

bool failure_is_torn_handshake(const struct exchange *x)
{
	static const char *const words[] = {"Connection reset", "Broken pipe", "SSL_ERROR_SYSCALL",
					    "unexpected eof"};

	for (size_t i = 0; x->result == CURLE_SSL_CONNECT_ERROR && i < ARRAY_LEN(words); i++)
		if (strstr(x->problem, words[i]))
			return true;
	return false;
}

/* The error list of a registry's answer, in a document that the caller frees; or NULL. */
static const cJSON *read_errors(const struct exchange *x, cJSON **json)
{
	struct error ignored = {0};
	const cJSON *list;

	if (json_parse(x->answer.text, x->answer.length, "answer", json, &ignored) < 0)
		return NULL;
	list = json_member(*json, "errors");
	return cJSON_IsArray(list) ? list : NULL;
}

bool failure_has_code(const struct exchange *x, const char *code)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const cJSON *list = read_errors(x, &json), *item;

	cJSON_ArrayForEach (item, list) {
		const cJSON *found = json_member(item, "code");

		if (cJSON_IsString(found) && strcmp(found->valuestring, code) == 0)
			return true;
	}
	return false;
}

/* Foreign text may hold anything: only printable characters reach a terminal. */
static void add_words(struct str *out, const char *words)
{
	size_t room = REGISTRY_TEXT_MAX;

	for (; *words && room; words++, room--)
		str_add_char(out, iscntrl((unsigned char)*words) ? ' ' : *words);
	if (*words)
		str_add(out, "...");
}

static void add_first_error(struct str *out, const cJSON *error)
{
	const cJSON *code = json_member(error, "code"), *message = json_member(error, "message");
	const cJSON *detail = json_member(error, "detail");
	bool spoke = false;

	if (cJSON_IsString(code)) {
		add_words(out, code->valuestring);
		spoke = true;
	}
	if (cJSON_IsString(message) && *message->valuestring) {
		str_add(out, spoke ? ": " : "");
		add_words(out, message->valuestring);
	}
	if (cJSON_IsString(detail) && *detail->valuestring) {
		str_add(out, " ");
		add_words(out, detail->valuestring);
	} else if (cJSON_IsObject(detail) && detail->child) {
		_cleanup_(free_pointer) char *text = cJSON_PrintUnformatted(detail);

		str_add(out, " ");
		add_words(out, text ? text : "");
	}
}

/* "HTTP 403, DENIED: requested access to the resource is denied" */
static void describe_answer(const struct exchange *x, struct str *out)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const cJSON *list = read_errors(x, &json);
	const char *type = exchange_header(x, "Content-Type");

	str_addf(out, "HTTP %ld", x->status);
	if (list && list->child) {
		str_add(out, ", ");
		add_first_error(out, list->child);
	} else if (x->answer.text[0] == '<' || (type && strcasestr(type, "text/html"))) {
		str_add(out, " with a web page instead of a registry's answer");
	} else if (x->answer.length) {
		str_add(out, ", ");
		add_words(out, x->answer.text);
		str_trim(out);
	}
}

/* What to do about a status, as "; do this". */
static const char *advice(const struct exchange *x)
{
	if (x->answer.text[0] == '<')
		return "is a proxy or another web server in between? Check 'registry: address:' and the proxy settings";
	switch (x->status) {
	case 400:
		if (strstr(x->answer.text, "HTTP request to an HTTPS server"))
			return "it speaks TLS: leave out 'insecure: true' and --plain-http";
		if (strstr(x->answer.text, "No required SSL certificate"))
			return CLIENT_CERTIFICATE_ADVICE;
		return "its log says more";
	case 401:
		return "run 'ringup login' with a user that may do this";
	case 403:
		return "ask the registry's owner for the right to do this, or use another user";
	case 404:
		return "check the name and the registry's address";
	case 405:
		return "the registry is read-only or does not allow this";
	case 413:
		return "a proxy before the registry takes no bodies of this size: raise its limit (nginx: client_max_body_size 0)";
	case 429:
		return "the registry is busy: wait a little and run the same command again";
	default:
		return "look into the registry's log, then run the same command again: it sends only what is missing";
	}
}

static int set_status(const struct exchange *x, const char *url, struct error *err)
{
	_cleanup_(str_release) struct str what = STR_INIT;

	if (failure_is_disk_full(x))
		return error_set(
			err, ERROR_FAILED,
			"the registry's disk is full (HTTP %ld, no space left on device); free space there and run the same command again: it sends only what is missing",
			x->status);
	describe_answer(x, &what);
	return error_set(err, ERROR_FAILED, "%s %.300s answered %s; %s", x->method, url, what.text,
			 advice(x));
}

/* libcurl names the host that it tried, and that is not the URL's host. */
static bool is_proxy_gone(const struct exchange *x, const char *url)
{
	static const char words[] = "Failed to connect to ";
	const char *host = x->problem + strlen(words);

	return starts_with(x->problem, words) &&
	       !memmem(url, strlen(url), host, strcspn(host, " "));
}

/* The proxy answers, but opens no tunnel to a registry that speaks TLS. */
static bool is_tunnel_refused(const struct exchange *x)
{
	return x->result != CURLE_OK && starts_with(x->problem, "CONNECT tunnel failed");
}

static int set_tunnel(const struct exchange *x, const char *url, struct error *err)
{
	return error_set(
		err, ERROR_FAILED,
		"registry %.300s: the proxy does not let us through (%s); correct https_proxy (http://USER:PASSWORD@HOST:PORT where it asks for a login), or name the registry in NO_PROXY",
		url, x->problem);
}

static int set_connect(const struct exchange *x, const char *url, struct error *err)
{
	if (is_proxy_gone(x, url))
		return error_set(
			err, ERROR_FAILED,
			"registry %.300s: the proxy does not answer (%.100s); correct http_proxy or https_proxy, or name the registry in NO_PROXY",
			url, x->problem);
	if (x->os_errno == ECONNREFUSED)
		return error_set(
			err, ERROR_FAILED,
			"registry %.300s: connection refused; is the registry running? Start it, or correct 'registry: address:'",
			url);
	return error_set(
		err, ERROR_FAILED,
		"registry %.300s: no connection (%s); check the address, the network and firewalls in between",
		url, x->os_errno ? strerror((int)x->os_errno) : x->problem);
}

static int set_trust(const struct registry *registry, const struct exchange *x, const char *url,
		     struct error *err)
{
	const char *ca = registry->settings.ca_path;
	const char *why = x->problem;

	if (starts_with(why, "SSL certificate problem: "))
		why += strlen("SSL certificate problem: ");
	if (strstr(why, "subject name") || strstr(why, "does not match"))
		return error_set(
			err, ERROR_FAILED,
			"registry %.300s: its certificate is for another name (%s); use the name in the certificate, or make one for this address",
			url, why);
	if (strstr(why, "expired") || strstr(why, "not yet valid"))
		return error_set(
			err, ERROR_FAILED,
			"registry %.300s: %s; renew it, or correct the clock of this machine", url,
			why);
	return error_set(
		err, ERROR_FAILED,
		"registry %.300s: its certificate is not trusted by %s (%s); give the PEM file of the CA that signed it as 'registry: ca:'",
		url, ca ? ca : "the system's CAs", why);
}

static int set_tls(const struct exchange *x, const char *url, struct error *err)
{
	if (strstr(x->problem, "wrong version number") || strstr(x->problem, "packet length") ||
	    strstr(x->problem, "record layer"))
		return error_set(
			err, ERROR_FAILED,
			"registry %.300s does not speak TLS there (%s); if plain HTTP is meant, say 'insecure: true' or --plain-http",
			url, x->problem);
	return error_set(err, ERROR_FAILED,
			 "registry %.300s: TLS failed (%s); check its certificate and TLS settings",
			 url, x->problem);
}

/*
 * The refusal may be lost when the registry closes the connection before it has read the request.
 */
static bool hangs_up_at_once(const struct registry *registry, const struct exchange *x)
{
	return (x->result == CURLE_SEND_ERROR || x->result == CURLE_RECV_ERROR) &&
	       !registry->is_known && starts_with(x->url.text, "https:");
}

/* Only the names of the certificate and the key are shown. */
static int set_client(const struct registry *registry, const struct exchange *x, const char *url,
		      struct error *err)
{
	const struct exchange_settings *s = &registry->settings;
	const char *perhaps = refuses_certificate(x) ? "" : "perhaps ";

	if (x->result == CURLE_SSL_CERTPROBLEM)
		return error_set(
			err, ERROR_USAGE,
			"registry %.300s: the client certificate %s and the key %s cannot be used together (%s); put a pair there",
			url, s->cert_path, s->key_path, x->problem);
	if (s->cert_path)
		return error_set(
			err, ERROR_FAILED,
			"registry %.300s: %s; %sit does not take the client certificate %s; put one there that its CA has signed",
			url, x->problem, perhaps, s->cert_path);
	return error_set(err, ERROR_FAILED, "registry %.300s: %s; %s" CLIENT_CERTIFICATE_ADVICE,
			 url, x->problem, perhaps);
}

static int set_stall(const struct registry *registry, const struct exchange *x, const char *url,
		     struct error *err)
{
	return error_set(
		err, ERROR_FAILED,
		"registry %.300s: no progress for %d s (%s, %llu of %llu bytes sent); check the registry and the network, then run the same command again",
		url, registry->settings.stall_s, x->method, (unsigned long long)x->body_offset,
		(unsigned long long)x->body_bytes);
}

int failure_set(const struct registry *registry, const struct exchange *x, struct error *err)
{
	_cleanup_(str_release) struct str url = STR_INIT;

	url_for_people(x->url.text, &url);
	if (is_tunnel_refused(x))
		return set_tunnel(x, url.text, err);
	if (refuses_certificate(x) || hangs_up_at_once(registry, x))
		return set_client(registry, x, url.text, err);
	switch (x->result) {
	case CURLE_OK:
		return set_status(x, url.text, err);
	case CURLE_COULDNT_CONNECT:
		return set_connect(x, url.text, err);
	case CURLE_COULDNT_RESOLVE_HOST:
		return error_set(
			err, ERROR_FAILED,
			"registry %.300s: this machine cannot resolve the name; correct 'registry: address:', or add the name to DNS or /etc/hosts",
			url.text);
	case CURLE_OPERATION_TIMEDOUT:
		return set_stall(registry, x, url.text, err);
	case CURLE_PEER_FAILED_VERIFICATION:
		return set_trust(registry, x, url.text, err);
	case CURLE_SSL_CONNECT_ERROR:
		return set_tls(x, url.text, err);
	case CURLE_SSL_CERTPROBLEM:
		return set_client(registry, x, url.text, err);
	case CURLE_SSL_CACERT_BADFILE:
		return error_set(
			err, ERROR_USAGE,
			"the CA file %s holds no certificate in PEM form; correct 'registry: ca:'",
			registry->settings.ca_path ? registry->settings.ca_path : "");
	case CURLE_WRITE_ERROR:
		return error_set(
			err, ERROR_FAILED,
			"%s %.300s answered more than it may (%zu bytes of body, %llu of headers); is this a registry?",
			x->method, url.text, x->answer.ceiling_bytes,
			(unsigned long long)HEADER_BYTES_MAX);
	case CURLE_ABORTED_BY_CALLBACK:
		return error_set(
			err, ERROR_FAILED,
			"the file that was being sent to %.300s became shorter or unreadable; make the image again",
			url.text);
	default:
		return error_set(
			err, ERROR_FAILED,
			"%s %.300s: %s; check the network, then run the same command again: it sends only what is missing",
			x->method, url.text,
			x->problem[0] ? x->problem : curl_easy_strerror(x->result));
	}
}
