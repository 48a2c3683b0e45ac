/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <stdio.h>

void json_write(FILE *to, const char *text)
{
	putc('"', to);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(to, "\\%c", *c);
		else if (*c < 0x20 || *c > 0x7e)
			fprintf(to, "\\u%04x", *c);
		else
			putc(*c, to);
	}
	putc('"', to);
}

void json_string(const char *text)
{
	json_write(stdout, text);
}

void json_pair(const char *name, const char *text)
{
	printf("\"%s\": ", name);
	json_string(text);
}
