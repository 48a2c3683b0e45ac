/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <string.h>

/* Whether the byte at @at, after @before, begins, ends or is a control character. In UTF-8 the
 * bytes 80 to 9f belong to a character if one above 7f comes before them, except after c2. */
static bool is_control(unsigned char before, unsigned char at)
{
	if (at < 0x20 || at == 0x7f)
		return true;
	return at >= 0x80 && at <= 0x9f && (before < 0x80 || before == 0xc2);
}

bool text_is_plain(const char *text, size_t bytes)
{
	unsigned char before = 0;

	if (!memchr(text, 0, bytes))
		return false;
	for (; *text; text++) {
		if (is_control(before, (unsigned char)*text))
			return false;
		before = (unsigned char)*text;
	}
	return true;
}

void text_tidy(char *text, size_t bytes)
{
	unsigned char before = 0;

	text[bytes - 1] = '\0';
	for (; *text; text++) {
		if (is_control(before, (unsigned char)*text))
			*text = '?';
		before = (unsigned char)*text;
	}
}
