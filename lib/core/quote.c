/* SPDX-License-Identifier: MIT */
#include "core/quote.h"

#include <string.h>

static const char SAFE[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+";

static void quote_always(struct str *out, const char *word)
{
	str_add_char(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			str_add(out, "'\\''");
		else
			str_add_char(out, *word);
	}
	str_add_char(out, '\'');
}

void quote_word(struct str *out, const char *word)
{
	if (*word && !word[strspn(word, SAFE)])
		str_add(out, word);
	else
		quote_always(out, word);
}

/* Words that a shell does not read as a program's name. */
static bool is_reserved(const char *word)
{
	static const char *const reserved[] = {
		"if",	 "then", "else", "elif", "fi", "do", "done", "case",	 "esac",  "while",
		"until", "for",	 "in",	 "{",	 "}",  "!",  "time", "function", "select"};

	for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
		if (strcmp(word, reserved[i]) == 0)
			return true;
	return strchr(word, '=') != NULL; /* would be read as an assignment */
}

void quote_words(struct str *out, const char *const *words)
{
	for (size_t i = 0; words[i]; i++) {
		if (i)
			str_add_char(out, ' ');
		if (i == 0 && is_reserved(words[i]))
			quote_always(out, words[i]);
		else
			quote_word(out, words[i]);
	}
}

static bool is_same_in_all_shells(char c)
{
	return c >= ' ' && c <= '~' && c != '\\' && c != '!';
}

/*
 * csh cannot have a line end in quotes, and replaces '!' there; fish takes a backslash in single quotes. So
 * these, quotes and '%' go as %0ooo. tr makes backslashes of '%' there, and printf %b (POSIX) characters of
 * \\0ooo.
 */
void quote_for_login_shell(struct str *out, const char *line)
{
	static const char decode[] =
		"sh -c 'eval \"exec $(printf %b \"$(printf %s \"$1\" | tr % \"\\134\")\")\"' sh '";
	const char *at = line;

	while (*at && is_same_in_all_shells(*at))
		at++;
	if (!*at) {
		str_add(out, line);
		return;
	}
	str_add(out, decode);
	for (; *line; line++)
		if (is_same_in_all_shells(*line) && *line != '\'' && *line != '%')
			str_add_char(out, *line);
		else
			str_addf(out, "%%0%03o", (unsigned char)*line);
	str_add_char(out, '\'');
}
