/* SPDX-License-Identifier: MIT */
/*
 * helper.h - credentials that a program keeps: docker-credential-NAME.
 *
 * Source: github.com/docker/docker-credential-helpers, README, "Development": `get` reads the
 * registry from stdin and prints {"ServerURL", "Username", "Secret"}; a user "<token>" means that
 * the secret is a refresh token. "credentials not found" is no error: then we go in without.
 */
#ifndef REGISTRY_CLIENT_LOGIN_HELPER_H
#define REGISTRY_CLIENT_LOGIN_HELPER_H

#include "plan/credentials.h"

/* credentials_find, and then what a helper says when it keeps them. Texts live in the arena. */
int registry_credentials(const struct cluster *cluster, const char *registry, struct arena *arena,
			 struct credentials *credentials, struct error *err);

#endif
