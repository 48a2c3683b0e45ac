/* SPDX-License-Identifier: MIT */
#include "registry-client/http/link.h"

#include "registry-client/limits.h"
#include "registry-client/http/url.h"

#include <string.h>
#include <strings.h>

static const char *link_skip_space(const char *p)
{
	return p + strspn(p, " \t");
}

/* A parameter's value, which may be a quoted string; returns the text behind it. */
static const char *link_read_value(const char *p, const char **value, size_t *length)
{
	if (*p != '"') {
		*value = p;
		*length = strcspn(p, " \t;,");
		return p + *length;
	}
	*value = ++p;
	while (*p && *p != '"')
		p += *p == '\\' && p[1] ? 2 : 1;
	*length = (size_t)(p - *value);
	return *p ? p + 1 : p;
}

/* rel="next prev" holds several relations. */
static bool link_has_word(const char *words, size_t length, const char *word)
{
	const char *end = words + length;

	while (words < end) {
		size_t n = strcspn(words, " \t\"");

		if (n > (size_t)(end - words))
			n = (size_t)(end - words);
		if (n == strlen(word) && strncasecmp(words, word, n) == 0)
			return true;
		words += n + 1;
	}
	return false;
}

/* One ";name=value"; *found when it is the relation. */
static const char *read_parameter(const char *p, const char *relation, bool *found)
{
	const char *name = p = link_skip_space(p + 1), *value;
	size_t name_length = strcspn(p, " \t=;,"), length;

	p = link_skip_space(p + name_length);
	if (*p != '=')
		return p;
	p = link_read_value(link_skip_space(p + 1), &value, &length);
	if (name_length == 3 && strncasecmp(name, "rel", 3) == 0)
		*found |= link_has_word(value, length, relation);
	return link_skip_space(p);
}

const char *link_target(const char *value, const char *relation, size_t *length)
{
	const char *p = value + strspn(value, " \t,");

	while (*p == '<') {
		const char *target = p + 1;
		bool found = false;

		*length = strcspn(target, ">");
		if (!target[*length])
			return NULL;
		p = link_skip_space(target + *length + 1);
		while (*p == ';')
			p = read_parameter(p, relation, &found);
		if (found)
			return target;
		p += strcspn(p, ",");
		p += strspn(p, " \t,");
	}
	return NULL;
}

int exchange_next_page(const struct exchange *x, struct str *url, struct error *err)
{
	_cleanup_(str_release) struct str target = STR_INIT;
	const char *value, *found = NULL;
	size_t length = 0;

	for (size_t i = 0; !found && (value = exchange_header_at(x, "Link", i)); i++)
		found = link_target(value, "next", &length);
	if (!found || !length)
		return 0;
	str_add_bytes(&target, found, length);
	if (url_join(x->url.text, target.text, url, err) < 0)
		return error_wrap(err, "next page of %s", x->url.text);
	return 1;
}

void paging_release(struct paging *paging)
{
	str_release(&paging->mark);
}

/* A circle is found by Brent's rule: the page that is remembered is another one ever less often. */
int paging_next(struct paging *paging, const struct exchange *x, struct str *url, struct error *err)
{
	int more;

	paging->pages++;
	paging->bytes += x->answer.length;
	more = exchange_next_page(x, url, err);
	if (more <= 0 || strcmp(url->text, x->url.text) == 0)
		return more < 0 ? -1 : 0;
	if (paging->pages >= LIST_PAGES_MAX || paging->bytes > LIST_BYTES_MAX)
		return error_set(
			err, ERROR_FAILED,
			"%.300s goes on for more than %d pages or %llu MiB; look into the registry",
			x->url.text, LIST_PAGES_MAX, LIST_BYTES_MAX / MIB);
	if (paging->mark.length && strcmp(paging->mark.text, url->text) == 0)
		return error_set(err, ERROR_FAILED,
				 "the pages of %.300s go in a circle; look into the registry",
				 x->url.text);
	if ((paging->pages & (paging->pages - 1)) == 0) {
		str_release(&paging->mark);
		str_init(&paging->mark);
		str_add(&paging->mark, url->text);
	}
	return 1;
}
