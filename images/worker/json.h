/* SPDX-License-Identifier: MIT */
/*
 * The few words of JSON (RFC 8259) that this program writes.
 */
#ifndef WORKER_JSON_H
#define WORKER_JSON_H

#include <stdio.h>

/* To @to, and to standard output: a string in quotes; what is not ASCII becomes \u00XX, byte by byte. */
void json_write(FILE *to, const char *text);
void json_string(const char *text);

/* "name": "text" */
void json_pair(const char *name, const char *text);

#endif
