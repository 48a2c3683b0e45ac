/* SPDX-License-Identifier: MIT */
/*
 * serve.h - the files of a private registry: the real Distribution server with a CA, a certificate
 * and one user of its own, deletes allowed, abandoned uploads cleared. Who starts it, where and how
 * is deployer/registry/registry_host.h.
 *
 * All is made in one folder on this machine, which is never the server's own: ca.pem, ca.key,
 * password and htpasswd, server.pem and server.key, config.yml, and registry.json, which says what
 * it was made for. The server is given only what serve_files names; the CA's key and the password
 * stay here. Making them again keeps what is there and makes anew what no longer fits: other
 * settings, another address, a certificate about to end.
 *
 * Source of the settings: distribution 2.8, docs/configuration.md.
 */
#ifndef REGISTRY_CLIENT_SERVE_H
#define REGISTRY_CLIENT_SERVE_H

#include "core/arena.h"
#include "core/error.h"
#include "plan/credentials.h"

struct serve {
	const char *folder;	  /* here, absolute */
	const char *address;	  /* HOST:PORT that clients use; HOST goes into the certificate */
	bool is_usual;		  /* nobody asked for that address: it may follow the host's */
	const char *const *names; /* names of its host, also for the certificate; NULL: none */
	const char *on;		  /* how ssh reaches its host, USER@ADDRESS:PORT; NULL: not told */
	const char *user;	  /* the user in htpasswd */
	const char
		*mirror; /* URL of the registry behind a mirror; NULL: no mirror, it takes pushes */
	const char *mirror_ca; /* PEM file of the CA of that registry; NULL: the system's CAs */
	struct credentials mirror_login;
	bool mirror_is_basic; /* that registry takes the login by Basic authentication alone */
	const char *home;     /* absolute: the folder of the server's files on its own machine */
	const char *storage;  /* absolute: where it keeps the images */
};

struct served {
	const char *ca_path, *password_path;
	int64_t expires; /* seconds since 1970: the server's certificate */
};

/* The files that the server gets, FOLDER/NAME here and HOME/NAME there; NULL-terminated. */
extern const char *const serve_files[];
#define SERVE_MIRROR_CA "upstream.pem" /* only mirrors with a CA of their own have this one */

#define SERVE_USER_DEFAULT "ringup"

bool serve_exists(const char *folder, struct arena *arena);

/*
 * Refuses what is impossible before anything is made: a malformed address or URL, another user than
 * the existing one, a registry with images that would become a mirror. ERROR_USAGE.
 */
int serve_check(const struct serve *serve, struct arena *arena, struct error *err);

/*
 * Checks, and makes what is missing or no longer fits. The caller keeps other processes from the
 * folder.
 */
int serve_make(const struct serve *serve, struct arena *arena, struct served *served,
	       struct error *err);

/*
 * Reads what a folder was made for, except `names` and `mirror_login`. ERROR_USAGE: nothing was
 * made there.
 */
int serve_read(const char *folder, struct arena *arena, struct serve *serve, struct served *served,
	       struct error *err);

/* HOST of HOST:PORT or [HOST]:PORT, and the port; NULL: it is not one. */
const char *serve_host_of(const char *address, struct arena *arena, int *port);

/*
 * Whether the registry behind a mirror asks for a password by Basic authentication. Distribution 2 does not send the user and
 * password of its configuration then: its mirror has none of the images, and does not say why. Source:
 * github.com/distribution/distribution, issue 3153. What stands in the URL itself is sent (Go, net/http, Request.URL), which
 * `mirror_is_basic` asks for. False when the registry does not answer.
 */
struct registry;
bool serve_mirror_wants_basic(struct registry *upstream);

#endif
