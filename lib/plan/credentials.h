/* SPDX-License-Identifier: MIT */
/*
 * credentials.h - logins to registries, read from the files of Docker and Podman.
 *
 * The files are read in this order: .ringup/auth.json beside cluster.yaml (written by 'ringup
 * login' and 'ringup lab up'), $REGISTRY_AUTH_FILE, $DOCKER_CONFIG/config.json,
 * ~/.docker/config.json, $XDG_RUNTIME_DIR/containers/auth.json, ~/.config/containers/auth.json. The
 * form is Docker's:
 *
 *   {"auths": {"HOST:PORT": {"auth": base64("user:password"), "identitytoken": "..."}},
 *    "credHelpers": {"HOST:PORT": "NAME"}, "credsStore": "NAME"}
 *
 * Keys may be written as URLs ("https://HOST/v1/"). Sources: docs.docker.com, "docker login";
 * containers-auth.json(5).
 */
#ifndef PLAN_CREDENTIALS_H
#define PLAN_CREDENTIALS_H

#include "core/json.h"
#include "core/log.h"
#include "plan/cluster.h"

/* The longest user name and password together that login keeps. A longer one is refused, never cut. */
#define LOGIN_BYTES_MAX (8 * KIB)
/* The longest one that is read from a file: tokens that other tools keep reach some 100 KB. */
#define CREDENTIAL_BYTES_MAX (512 * KIB)

struct credentials {
	const char *user; /* NULL: no login in any file */
	struct secret password;
	struct secret identity; /* a refresh token, instead of a password */
	/*
	 * Name of the program docker-credential-HELPER when that program has the login and the file
	 * does not. registry-client/login/helper.h asks it. NULL otherwise.
	 */
	const char *helper;
	const char *path; /* of the file that they came from */
};

/*
 * Parses such a file. A wrong shape (a list for an object, a number for a text, null, one name
 * twice) is ERROR_USAGE and names the path and the key. Members that ringup does not know may be
 * anything. The caller frees *json.
 */
int credentials_parse(const char *path, const char *text, size_t length, cJSON **json,
		      struct error *err);

int credentials_find(const struct cluster *cluster, const char *registry, struct arena *arena,
		     struct credentials *credentials, struct error *err);

/* Whether there is a login. */
bool credentials_are_there(const struct credentials *credentials);

/*
 * The text of such a file with only this registry, in one line, for an engine on another host. In
 * the arena; the caller wipes it. "" without credentials.
 */
struct secret credentials_text(const struct credentials *credentials, const char *registry,
			       struct arena *arena);

/*
 * Writes them to .ringup/auth.json (mode 0600), keeping other registries' entries, members of other
 * programs, and a mode that is stricter. Logins at one time wait for each other.
 */
int credentials_store(const struct cluster *cluster, const char *registry,
		      const struct credentials *credentials, struct error *err);

/* Removes them from .ringup/auth.json. *was_there says whether there were any. */
int credentials_forget(const struct cluster *cluster, const char *registry, bool *was_there,
		       struct error *err);

#endif
