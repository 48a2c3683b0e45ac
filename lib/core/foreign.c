/* SPDX-License-Identifier: MIT */
#include "core/foreign.h"

#include "core/term.h"

#include <stdlib.h>
#include <string.h>

/*
 * The length of the UTF-8 character at `text` (NUL-terminated) and its number; 0 when the bytes are
 * none. Overlong forms, surrogates and numbers over U+10FFFF are none: RFC 3629, section 4.
 */
static size_t foreign_character(const char *text, uint32_t *number)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *byte = (const unsigned char *)text;
	size_t length = *byte < 0x80   ? 1
			: *byte < 0xc2 ? 0
			: *byte < 0xe0 ? 2
			: *byte < 0xf0 ? 3
			: *byte < 0xf5 ? 4
				       : 0;

	*number = length < 2 ? *byte : *byte & (0xffU >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		*number = *number << 6 | (byte[i] & 0x3f);
	}
	if (length && (*number < least[length] || *number > 0x10ffff ||
		       (*number >= 0xd800 && *number <= 0xdfff)))
		return 0;
	return length;
}

void foreign_make_utf8(char *text)
{
	while (*text) {
		uint32_t number;
		size_t length = foreign_character(text, &number);

		if (!length)
			*text = '?';
		text += length ? length : 1;
	}
}

/* Whether a terminal would obey the character. Newline and tab are the caller's affair. */
static bool foreign_controls(uint32_t c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static char *foreign_replace(char *text, const char *kept)
{
	char *to = text;

	/* most text is printable ASCII, and stays */
	while (*to >= ' ' && *to <= '~')
		to++;
	for (const char *from = to; *from;) {
		uint32_t number;
		size_t length = foreign_character(from, &number);

		if (*from == '\r' && (from[1] == '\n' || !from[1])) { /* a line end of DOS */
			from++;
			continue;
		}
		if (!length || (foreign_controls(number) && !strchr(kept, *from))) {
			*to++ = '?';
		} else {
			memmove(to, from, length);
			to += length;
		}
		from += length ? length : 1;
	}
	if (*to) /* "" may be a constant */
		*to = '\0';
	return text;
}

char *foreign_clean(char *text)
{
	return foreign_replace(text, "\n\t");
}

char *foreign_clean_line(char *text)
{
	return foreign_replace(text, "");
}

/*
 * Skips an escape sequence: "ESC [ ... LETTER", "ESC ] ... BEL", or ESC and a few bytes. ECMA-48,
 * 5.3 and 5.4.
 */
static const char *foreign_skip_escape(const char *text)
{
	if (*++text == '[') {
		for (text++; *text && (*text < '@' || *text > '~');)
			text++;
	} else if (*text == ']') {
		text += strcspn(text, "\a\n");
	} else {
		while (*text >= ' ' && *text <= '/')
			text++;
	}
	return text + (*text && *text != '\n');
}

void foreign_add_plain(struct str *out, const char *text)
{
	while (*text)
		if (*text == '\033')
			text = foreign_skip_escape(text);
		else
			str_add_char(out, *text++);
}

/* One character less, but for those before `start`. */
static void foreign_go_back(struct str *out, size_t start)
{
	while (out->length > start && (out->text[--out->length] & 0xc0) == 0x80)
		;
	out->text[out->length] = '\0';
}

void foreign_add_shown(struct str *out, const char *text)
{
	size_t start = out->length;
	bool returned = false; /* what comes now is written over the line */

	if (!strpbrk(text, "\033\r\b")) {
		str_add(out, text);
		return;
	}
	while (*text) {
		if (*text == '\033') {
			text = foreign_skip_escape(text);
			continue;
		}
		if (*text == '\r') {
			returned = true;
		} else if (*text == '\b') {
			if (!returned)
				foreign_go_back(out, start);
		} else {
			while (returned && out->length > start)
				foreign_go_back(out, start);
			returned = false;
			str_add_char(out, *text);
		}
		text++;
	}
}

static void foreign_print(FILE *out, const char *format, va_list args)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	str_vaddf(&text, format, args);
	fputs(foreign_clean(text.text), out);
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	foreign_print(stdout, format, args);
	va_end(args);
}

void say_to(FILE *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	foreign_print(out, format, args);
	va_end(args);
}

void say_value(const char *value)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	str_add(&text, value);
	fputs(foreign_clean_line(text.text), stdout);
}

void say_data(const void *bytes, size_t length)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	if (!term_is_tty(stdout)) {
		fwrite(bytes, 1, length, stdout);
		return;
	}
	str_add_bytes(&text, bytes, length);
	nuls_replace(text.text, text.length, '?');
	fputs(foreign_clean(text.text), stdout);
}

void foreign_add_json(struct str *out, const char *json)
{
	while (*json) {
		uint32_t number;
		size_t length = foreign_character(json, &number);

		if (!length)
			str_add(out, "\\ufffd");
		else if (foreign_controls(number) && !strchr("\n\t", *json))
			str_addf(out, "\\u%04x", number);
		else
			str_add_bytes(out, json, length);
		json += length ? length : 1;
	}
}
