/* SPDX-License-Identifier: MIT */
/*
 * simple_html.h - the simple index as a web page, for servers that have no JSON form: PyTorch's, and some mirrors.
 *
 * Source: PyPA specifications, "Simple repository API" (PEP 503, 592, 658, 714): one link for each file. Its text is
 * the file's name, #sha256=DIGITS its checksum, and data-yanked, data-requires-python and data-core-metadata (or
 * data-dist-info-metadata) say the rest.
 */
#ifndef UPSTREAM_PYTHON_SIMPLE_HTML_H
#define UPSTREAM_PYTHON_SIMPLE_HTML_H

#include "core/error.h"
#include "core/json.h"

#include <stddef.h>

/*
 * The page in the form of PEP 691: {"files": [{"filename", "url", "hashes", ...}]}. The caller frees *json. Links without
 * a text or an address are left out. -1 when there is no link, or when there are more than `most`.
 */
int simple_html_parse(const char *text, size_t length, size_t most, cJSON **json,
		      struct error *err);

#endif
