/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <stdio.h>

void json_string(const char *text)
{
	putchar('"');
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			printf("\\%c", *c);
		else if (*c < 0x20 || *c > 0x7e)
			printf("\\u%04x", *c);
		else
			putchar(*c);
	}
	putchar('"');
}

void json_pair(const char *name, const char *text)
{
	printf("\"%s\": ", name);
	json_string(text);
}
