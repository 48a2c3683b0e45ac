/* SPDX-License-Identifier: MIT */
#include "upstream/python/simple_html.h"

#include "core/str.h"
#include "upstream/limits.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What is left of the page. */
struct html {
	const char *at, *end;
};

/* --- text ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	char byte;
} html_entities[] = {{"&amp;", '&'},   {"&lt;", '<'},	{"&gt;", '>'}, {"&quot;", '"'},
		     {"&apos;", '\''}, {"&#39;", '\''}, {"&#43;", '+'}};

/* Adds the bytes with the entities that an index uses written out. */
static void html_add_text(struct str *out, const char *text, size_t length)
{
	const char *end = text + length;

	str_clear(out);
	while (text < end) {
		size_t i = 0, width = 1;
		char byte = *text;

		for (; byte == '&' && i < ARRAY_LEN(html_entities); i++) {
			width = strlen(html_entities[i].name);
			if (width <= (size_t)(end - text) &&
			    strncmp(text, html_entities[i].name, width) == 0) {
				byte = html_entities[i].byte;
				break;
			}
			width = 1;
		}
		str_add_bytes(out, &byte, 1);
		text += width;
	}
}

static void html_skip_blank(struct html *h)
{
	while (h->at < h->end && isspace((unsigned char)*h->at))
		h->at++;
}

/* Goes behind the text, or to the end. */
static void html_skip_past(struct html *h, const char *text)
{
	const char *found = memmem(h->at, (size_t)(h->end - h->at), text, strlen(text));

	h->at = found ? found + strlen(text) : h->end;
}

/* --- a link --------------------------------------------------------------------------------- */

/* NAME, NAME=VALUE, NAME="VALUE" or NAME='VALUE' of a tag. False at the tag's end. */
static bool html_attribute(struct html *h, struct str *name, struct str *value)
{
	const char *begin;

	html_skip_blank(h);
	str_clear(name);
	str_clear(value);
	for (begin = h->at;
	     h->at < h->end && !isspace((unsigned char)*h->at) && !strchr("=>", *h->at);)
		h->at++;
	str_add_bytes(name, begin, (size_t)(h->at - begin));
	html_skip_blank(h);
	if (h->at == h->end || *h->at != '=')
		return name->length > 0;
	h->at++;
	html_skip_blank(h);
	begin = h->at;
	if (h->at < h->end && (*h->at == '"' || *h->at == '\'')) {
		const char *close = memchr(h->at + 1, *h->at, (size_t)(h->end - h->at - 1));

		begin++;
		h->at = close ? close : h->end;
		html_add_text(value, begin, (size_t)(h->at - begin));
		h->at += h->at < h->end;
		return true;
	}
	while (h->at < h->end && !isspace((unsigned char)*h->at) && *h->at != '>')
		h->at++;
	html_add_text(value, begin, (size_t)(h->at - begin));
	return true;
}

static void html_take_address(cJSON *item, const char *href)
{
	static const char sum[] = "sha256=";
	const char *fragment = strchr(href, '#');

	cJSON_AddStringToObject(item, "url", href);
	if (fragment && strncmp(fragment + 1, sum, strlen(sum)) == 0)
		cJSON_AddStringToObject(cJSON_AddObjectToObject(item, "hashes"), "sha256",
					fragment + 1 + strlen(sum));
}

static void html_take_attribute(cJSON *item, const char *name, const char *value)
{
	if (strcasecmp(name, "href") == 0 && !cJSON_HasObjectItem(item, "url"))
		html_take_address(item, value);
	else if (strcasecmp(name, "data-yanked") == 0)
		cJSON_AddTrueToObject(item, "yanked");
	else if (strcasecmp(name, "data-requires-python") == 0)
		cJSON_AddStringToObject(item, "requires-python", value);
	else if (strcasecmp(name, "data-core-metadata") == 0)
		cJSON_AddBoolToObject(item, "core-metadata", strcmp(value, "false") != 0);
	else if (strcasecmp(name, "data-dist-info-metadata") == 0)
		cJSON_AddBoolToObject(item, "dist-info-metadata", strcmp(value, "false") != 0);
}

/* The link whose tag begins behind "<a"; NULL when it has no address or no text. */
static cJSON *html_link(struct html *h)
{
	_cleanup_(str_release) struct str name = STR_INIT, value = STR_INIT;
	cJSON *item = cJSON_CreateObject();
	const char *begin;

	while (html_attribute(h, &name, &value))
		html_take_attribute(item, name.text, value.text);
	html_skip_past(h, ">");
	html_skip_blank(h);
	for (begin = h->at; h->at < h->end && *h->at != '<';)
		h->at++;
	html_add_text(&value, begin, (size_t)(h->at - begin));
	str_trim(&value);
	if (!value.length || !cJSON_HasObjectItem(item, "url")) {
		cJSON_Delete(item);
		return NULL;
	}
	cJSON_AddStringToObject(item, "filename", value.text);
	return item;
}

/* Goes to the next link, behind its "<a"; what stands in comments does not count. */
static bool html_next_link(struct html *h)
{
	static const char comment[] = "<!--";

	while (h->at < h->end) {
		size_t left;

		h->at = memchr(h->at, '<', (size_t)(h->end - h->at));
		if (!h->at)
			break;
		left = (size_t)(h->end - h->at);
		if (left >= strlen(comment) && strncmp(h->at, comment, strlen(comment)) == 0) {
			html_skip_past(h, "-->");
			continue;
		}
		h->at++;
		if (left > 2 && tolower((unsigned char)h->at[0]) == 'a' &&
		    isspace((unsigned char)h->at[1])) {
			h->at++;
			return true;
		}
	}
	return false;
}

int simple_html_parse(const char *text, size_t length, size_t most, cJSON **json, struct error *err)
{
	struct html h = {.at = text, .end = text + length};
	_cleanup_(json_free) cJSON *page = cJSON_CreateObject();
	cJSON *files = cJSON_AddArrayToObject(page, "files");
	size_t count = 0;

	while (html_next_link(&h)) {
		cJSON *item = html_link(&h);

		if (!item)
			continue;
		cJSON_AddItemToArray(files, item);
		if (++count > most)
			return error_set(err, ERROR_FAILED, "the page has more than %zu links",
					 most);
	}
	if (!count)
		return error_set(err, ERROR_FAILED,
				 "the page links to no file; is it an index of Python packages?");
	*json = page;
	page = NULL;
	return 0;
}
