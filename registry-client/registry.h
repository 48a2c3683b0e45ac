/* SPDX-License-Identifier: MIT */
/*
 * registry.h - one registry that the client talks to.
 *
 * All requests go through one curl_multi loop, which registries may share. Any thread may call: the
 * loop runs in the thread that came first, for all of them. Connections and tokens are kept until
 * registry_close.
 *
 * Errors of every function here name the URL, the cause and the next thing to do; they never hold a
 * password, a token or an upload session's key.
 */
#ifndef REGISTRY_CLIENT_REGISTRY_H
#define REGISTRY_CLIENT_REGISTRY_H

#include "core/error.h"
#include "core/log.h"
#include "registry-client/login/certs.h"

struct registry_config {
	const char *address; /* "10.0.0.254:5000", "registry.lab", "[::1]:5000" */
	const char *ca_path; /* PEM file of the only CA to trust; NULL: the system's CAs */
	struct certs certs;  /* what certs_find says, or nothing */
	bool plain_http;     /* no TLS; a mistake together with ca_path */
	bool must_be_tls;    /* somebody wrote https:// */
	/*
	 * It may be spoken to without TLS when it does not speak TLS. Loopback addresses always may.
	 * Neither counts once somebody asked for TLS, by ca_path, by a folder of certs.d or by
	 * must_be_tls: then nothing is ever sent without TLS, so that no other program on that port
	 * gets the password.
	 */
	bool may_be_plain;
	const char *user; /* NULL: anonymous */
	struct secret password;
	struct secret identity; /* a refresh token for the token service, instead of a password */
	int timeout_s;		/* a request without a byte for so long fails; 0: 60 */
	int connections;	/* blobs side by side; 0: 6 */
	uint64_t pause_usec;	/* before the second try, doubled each time; 0: half a second */
	uint64_t split_bytes;	/* a larger blob is pulled in several ranges; 0: 256 MiB */
	/*
	 * Another registry, whose loop this one joins: connections count together, and a blob that
	 * several images hold travels once. It must be closed after this one. NULL: a loop of its
	 * own.
	 */
	struct registry *beside;
};

struct registry; /* owned by the caller; registry_close */

/*
 * Copies the config. No traffic yet: the first operation asks GET /v2/ for scheme and credentials.
 * Fails on a malformed address, on a CA file that cannot be read, and on plain_http together with
 * ca_path or must_be_tls (ERROR_USAGE).
 */
int registry_open(const struct registry_config *config, struct registry **registry,
		  struct error *err);

/* Closes the connections and wipes the credentials. NULL is fine. */
void registry_close(struct registry *registry);

/* For _cleanup_ on a struct registry *. */
void registry_closep(struct registry **registry);

/*
 * Asks GET /v2/ once (OCI distribution-spec 1.1, "Determining Support"): whether a registry
 * answers, with TLS or without, and whether user and password are right when it wants Basic
 * authentication. Every operation does this first; call it to do only this.
 */
int registry_contact(struct registry *registry, struct error *err);

/*
 * The same. Where a token service answers for the registry, it must also give these credentials a
 * token (for no repository), which the registry must take: as `docker login` does.
 */
int registry_login(struct registry *registry, struct error *err);

#endif
