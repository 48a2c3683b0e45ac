/* SPDX-License-Identifier: MIT */
/*
 * warning.h - messages of a registry for people.
 *
 * Source: OCI distribution-spec 1.1, "Warnings": Warning: 299 - "TEXT", to be shown and not to be
 * acted upon.
 */
#ifndef REGISTRY_CLIENT_HTTP_WARNING_H
#define REGISTRY_CLIENT_HTTP_WARNING_H

#include "registry-client/limits.h"

#include <stdbool.h>

struct registry;
struct exchange;

/*
 * The text of one header value, without characters that a terminal could interpret, cut where it is
 * too long. False: it has not this form, and is skipped.
 */
bool warning_text(const char *value, char text[static REGISTRY_TEXT_MAX]);

/* Logs the answer's warnings, each once for a registry. For the loop. */
void warning_show(struct registry *registry, const struct exchange *x);

#endif
