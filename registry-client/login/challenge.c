/* SPDX-License-Identifier: MIT */
#include "registry-client/login/challenge.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* RFC 9110, 5.6.2 */
static bool is_token_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static const char *challenge_skip_space(const char *p)
{
	return p + strspn(p, " \t");
}

/* A quoted string from its opening quote; *end is behind the closing one, or at the end. */
static const char *challenge_quoted(const char *p, struct arena *arena, const char **end)
{
	const char *closing = p + 1;
	char *text, *out;

	while (*closing && *closing != '"')
		closing += *closing == '\\' && closing[1] ? 2 : 1;
	text = out = arena_alloc(arena, (size_t)(closing - p));
	for (p++; *p && *p != '"'; p++) {
		if (*p == '\\' && p[1])
			p++;
		*out++ = *p;
	}
	*out = '\0';
	*end = *p ? p + 1 : p;
	return text;
}

static const char *token(const char *p, struct arena *arena, const char **end)
{
	const char *start = p;

	while (is_token_char(*p))
		p++;
	*end = p;
	return arena_strndup(arena, start, (size_t)(p - start));
}

static void keep_parameter(struct challenge *challenge, const char *name, const char *value)
{
	if (strcasecmp(name, "realm") == 0)
		challenge->realm = value;
	else if (strcasecmp(name, "service") == 0)
		challenge->service = value;
	else if (strcasecmp(name, "scope") == 0)
		challenge->scope = value;
	else if (strcasecmp(name, "error") == 0)
		challenge->error = value;
}

/* What follows a name and '=': the value of a parameter, or the padding of a token68. */
static const char *challenge_read_value(const char *p, struct arena *arena,
					struct challenge *challenge, const char *name)
{
	const char *value = NULL;

	p = challenge_skip_space(p + 1);
	if (*p == '"')
		value = challenge_quoted(p, arena, &p);
	else if (is_token_char(*p))
		value = token(p, arena, &p);
	else
		p += strspn(p, "=");
	if (value && challenge)
		keep_parameter(challenge, name, value);
	return p;
}

void challenge_parse(const char *value, struct arena *arena, struct challenge *list, size_t max,
		     size_t *count)
{
	const char *p = value;
	struct challenge *current = NULL;

	while (*p) {
		const char *name, *after;

		if (!is_token_char(*p)) {
			p++;
			continue;
		}
		name = token(p, arena, &p);
		after = challenge_skip_space(p);
		if (*after == '=') {
			p = challenge_read_value(after, arena, current, name);
		} else if (*count < max) {
			current = &list[(*count)++];
			*current = (struct challenge){.scheme = name};
		} else {
			break;
		}
	}
}
