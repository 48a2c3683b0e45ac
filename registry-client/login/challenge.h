/* SPDX-License-Identifier: MIT */
/* challenge.h - what a WWW-Authenticate header asks for: RFC 9110, section 11. */
#ifndef REGISTRY_CLIENT_LOGIN_CHALLENGE_H
#define REGISTRY_CLIENT_LOGIN_CHALLENGE_H

#include "core/arena.h"

/* One challenge of a WWW-Authenticate header. Texts live in the arena; NULL when not given. */
struct challenge {
	const char *scheme; /* as written: compare without case */
	const char *realm, *service, *scope, *error;
};

/*
 * Reads one header value, which may hold several challenges; quoted strings may hold commas and
 * backslash escapes. Adds to `list` (up to `max`) and *count. What cannot be read is passed over.
 */
void challenge_parse(const char *value, struct arena *arena, struct challenge *list, size_t max,
		     size_t *count);

#endif
