/* SPDX-License-Identifier: MIT */
#include "deployer/export/yaml_out.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* What plain scalars mean in YAML 1.1 (yaml.org, "Language-Independent Types") beside numbers. */
static bool yaml_is_word(const char *text)
{
	static const char *const words[] = {"y",  "n",	 "yes",	 "no", "true", "false",
					    "on", "off", "null", "~",  ".inf", ".nan"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	return false;
}

/* Whether the text may stand as it is: harmless characters, and nothing that reads as a number or a word. */
static bool yaml_is_plain(const char *text)
{
	static const char first[] = "_./$", other[] = "_./$()@=+,%-:";
	const char *begin = text + strspn(text, "-"); /* of an option, "--epochs" */

	if (begin > text + 2 || (begin > text && !isalpha((unsigned char)*begin)))
		return false;
	if (!isalpha((unsigned char)*begin) && !strchr(first, *begin))
		return false;
	if (!*text || yaml_is_word(text) || (*text == '.' && !strchr("/_", text[1])))
		return false;
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && (!strchr(other, *c) || (*c == ':' && !c[1])))
			return false;
	return true;
}

/* Whether it can be a block: several lines, which all begin with something to see, and end with a newline. */
static bool yaml_is_block(const char *text)
{
	if (!ends_with(text, "\n") || *text == ' ' || *text == '\n' || ends_with(text, "\n\n"))
		return false;
	for (const char *c = text; *c; c++)
		if (*c != '\n' && ((unsigned char)*c < ' ' || (unsigned char)*c >= 0x7f))
			return false;
	return true;
}

static void yaml_add_quoted(struct str *out, const char *text)
{
	str_add(out, "\"");
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			str_addf(out, "\\%c", *c);
		else if (*c == '\n')
			str_add(out, "\\n");
		else if (*c < ' ' || *c == 0x7f)
			str_addf(out, "\\x%02x", *c);
		else
			str_add_char(out, (char)*c);
	}
	str_add(out, "\"");
}

static void yaml_add_block(struct str *out, const char *text, int indent)
{
	str_add(out, "|");
	while (*text) {
		int length = (int)strcspn(text, "\n");

		str_addf(out, "\n%*s%.*s", length ? indent : 0, "", length, text);
		text += length + 1;
	}
}

void yaml_add_text(struct str *out, const char *text, int indent)
{
	if (yaml_is_plain(text))
		str_add(out, text);
	else if (yaml_is_block(text))
		yaml_add_block(out, text, indent);
	else
		yaml_add_quoted(out, text);
}

void yaml_add_list(struct str *out, const char *const *list, int indent)
{
	for (; *list; list++) {
		str_addf(out, "%*s- ", indent, "");
		yaml_add_text(out, *list, indent + 2);
		str_add(out, "\n");
	}
}

void yaml_add_pair(struct str *out, int indent, const char *key, const char *text)
{
	str_addf(out, "%*s", indent, "");
	yaml_add_text(out, key, indent);
	str_add(out, ": ");
	yaml_add_text(out, text, indent + 2);
	str_add(out, "\n");
}
