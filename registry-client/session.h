/* SPDX-License-Identifier: MIT */
/* session.h - the inside of struct registry, for this folder only. */
#ifndef REGISTRY_CLIENT_SESSION_H
#define REGISTRY_CLIENT_SESSION_H

#include "core/arena.h"
#include "registry-client/auth.h"
#include "registry-client/exchange.h"
#include "registry-client/registry.h"

struct registry {
	struct arena arena; /* holds every text below */
	const char *address;
	const char *base; /* "https://ADDRESS" */
	bool is_loopback;
	bool is_known; /* registry_contact went well */
	int connections;
	struct exchange_settings settings;
	struct auth auth;
	CURLM *multi;
	uint64_t quiet_until_usec; /* the registry asked for a pause (429 and Retry-After) */
};

#endif
