/* SPDX-License-Identifier: MIT */
#include "registry-client/http/url.h"

#include <curl/curl.h>
#include <string.h>
#include <strings.h>

#define LOCATION_SHOWN_MAX 120

static void url_release(CURLU **url)
{
	curl_url_cleanup(*url);
}

static void text_release(char **text)
{
	curl_free(*text);
}

/* The parsed form, or NULL when it is not an http or https URL without a user in it. */
static CURLU *url_parse(const char *text)
{
	CURLU *url = curl_url();
	_cleanup_(text_release) char *user = NULL;

	if (url && curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
	    curl_url_get(url, CURLUPART_USER, &user, 0) == CURLUE_NO_USER &&
	    (strncasecmp(text, "http://", 7) == 0 || strncasecmp(text, "https://", 8) == 0))
		return url;
	curl_url_cleanup(url);
	return NULL;
}

static bool same_part(CURLU *a, CURLU *b, CURLUPart part)
{
	_cleanup_(text_release) char *x = NULL;
	_cleanup_(text_release) char *y = NULL;

	return curl_url_get(a, part, &x, CURLU_DEFAULT_PORT) == CURLUE_OK &&
	       curl_url_get(b, part, &y, CURLU_DEFAULT_PORT) == CURLUE_OK && strcasecmp(x, y) == 0;
}

static bool same_parts(const char *a, const char *b, bool scheme, bool port)
{
	_cleanup_(url_release) CURLU *x = url_parse(a);
	_cleanup_(url_release) CURLU *y = url_parse(b);

	return x && y && same_part(x, y, CURLUPART_HOST) &&
	       (!scheme || same_part(x, y, CURLUPART_SCHEME)) &&
	       (!port || same_part(x, y, CURLUPART_PORT));
}

bool url_same_origin(const char *a, const char *b)
{
	return same_parts(a, b, true, true);
}

bool url_is_https(const char *url)
{
	_cleanup_(url_release) CURLU *parsed = url_parse(url);

	return parsed && strncasecmp(url, "https://", 8) == 0;
}

bool url_same_host(const char *a, const char *b)
{
	return same_parts(a, b, false, false);
}

/* "lab:5000", ".lab:5000" and "*.lab:5000" for registry.lab:5000 */
static bool url_covers(const char *entry, size_t length, const char *host, const char *port)
{
	_cleanup_(str_release) struct str whole = STR_INIT;
	size_t dots = strspn(entry, "*.");

	str_addf(&whole, ".%s:%s", host, port);
	if (dots >= length || length - dots >= whole.length)
		return false;
	entry += dots;
	length -= dots;
	return strncasecmp(whole.text + whole.length - length, entry, length) == 0 &&
	       whole.text[whole.length - length - 1] == '.';
}

bool url_is_excepted(const char *url, const char *no_proxy)
{
	_cleanup_(url_release) CURLU *parsed = url_parse(url);
	_cleanup_(text_release) char *host = NULL;
	_cleanup_(text_release) char *port = NULL;

	if (!parsed || curl_url_get(parsed, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
	    curl_url_get(parsed, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) != CURLUE_OK)
		return false;
	for (const char *p = no_proxy; *p; p += strspn(p, ", \t")) {
		size_t length = strcspn(p, ", \t");

		if (url_covers(p, length, host, port))
			return true;
		p += length;
	}
	return false;
}

/* Resolves a location that is neither absolute nor an absolute path. */
static int join_relative(const char *base, const char *location, struct str *url)
{
	_cleanup_(url_release) CURLU *parsed = url_parse(base);
	_cleanup_(text_release) char *text = NULL;

	if (!parsed || curl_url_set(parsed, CURLUPART_URL, location, 0) != CURLUE_OK ||
	    curl_url_get(parsed, CURLUPART_URL, &text, 0) != CURLUE_OK)
		return -1;
	str_add(url, text);
	return 0;
}

/* "https://host:port" of an absolute URL: the length of that part. */
static size_t origin_length(const char *url)
{
	const char *host = strstr(url, "://");

	return host ? (size_t)(host + 3 - url) + strcspn(host + 3, "/?#") : 0;
}

/*
 * A registry behind a TLS proxy writes http:// for its own address: keeps https on the same host.
 */
static bool keep_https(const char *base, struct str *url)
{
	size_t from = strlen("https://"), length = origin_length(base) - from;
	_cleanup_(str_release) struct str fixed = STR_INIT;

	if (strncasecmp(base, "https://", from) != 0 ||
	    strncasecmp(url->text, "http://", from - 1) != 0)
		return true;
	if (origin_length(url->text) != length + from - 1 ||
	    strncasecmp(base + from, url->text + from - 1, length) != 0)
		return false;
	str_addf(&fixed, "https%s", url->text + 4);
	str_clear(url);
	str_add(url, fixed.text);
	return true;
}

int url_join(const char *base, const char *location, struct str *url, struct error *err)
{
	_cleanup_(url_release) CURLU *check = NULL;
	/* for the message: a query may hold a session's key, "USER:PASSWORD@" a password */
	const char *shown = strchr(location, '@') ? "(hidden)" : location;
	int shown_bytes = (int)strcspn(shown, "?#"), rc = 0;

	if (shown_bytes > LOCATION_SHOWN_MAX)
		shown_bytes = LOCATION_SHOWN_MAX;

	str_clear(url);
	if (strstr(location, "://"))
		str_add(url, location);
	else if (location[0] == '/' && location[1] != '/')
		str_addf(url, "%.*s%s", (int)origin_length(base), base, location);
	else
		rc = join_relative(base, location, url);
	url->length = strcspn(url->text, "#");
	url->text[url->length] = '\0';
	if (rc == 0)
		check = url_parse(url->text);
	if (!check)
		return error_set(
			err, ERROR_FAILED,
			"it points to '%.*s', which is not an http or https address without a password in it",
			shown_bytes, shown);
	if (!keep_https(base, url))
		return error_set(
			err, ERROR_FAILED,
			"it points from https to the unprotected %.*s; correct the registry's own address in its settings",
			shown_bytes, shown);
	return 0;
}

void url_add_query(struct str *url, const char *name, const char *value)
{
	char *escaped = curl_easy_escape(NULL, value, 0);

	str_addf(url, "%s%s=%s", strchr(url->text, '?') ? "&" : "?", name, escaped ? escaped : "");
	curl_free(escaped);
}

void url_for_people(const char *url, struct str *text)
{
	str_clear(text);
	str_add_bytes(text, url, strcspn(url, "?"));
}
