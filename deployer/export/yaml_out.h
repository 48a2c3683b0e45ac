/* SPDX-License-Identifier: MIT */
/* yaml_out.h - YAML that a person reads: scalars are quoted only where they must be. */
#ifndef DEPLOYER_EXPORT_YAML_OUT_H
#define DEPLOYER_EXPORT_YAML_OUT_H

#include "core/str.h"

/*
 * Adds a text as a scalar: plain where YAML 1.1 and 1.2 read back the same text, else in double quotes. Texts of
 * several lines, with nothing but printable characters and tabs, become a block ("|") whose lines have `indent`
 * spaces before them. No newline follows.
 */
void yaml_add_text(struct str *out, const char *text, int indent);

/* Adds "INDENT- TEXT" lines. */
void yaml_add_list(struct str *out, const char *const *list, int indent);

/* Adds a line "INDENTKEY: TEXT". The key is quoted like the text. */
void yaml_add_pair(struct str *out, int indent, const char *key, const char *text);

#endif
