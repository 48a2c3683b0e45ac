/* SPDX-License-Identifier: MIT */
/*
 * serve.h - a private registry on this machine: the real Distribution server (docker-registry), set
 * up with a CA and certificate of its own, one user, deletes allowed, and abandoned uploads
 * cleared.
 *
 * Everything lies in one folder (mode 0700): config.yml, ca.pem, server.pem, htpasswd, password,
 * data/, registry.log, registry.pid. Starting twice is harmless: what is there stays, and a server
 * that runs goes on. Source of the settings: distribution 2.8, docs/configuration.md.
 */
#ifndef REGISTRY_CLIENT_SERVE_H
#define REGISTRY_CLIENT_SERVE_H

#include "core/arena.h"
#include "core/error.h"

struct serve {
	const char *folder;  /* absolute, or from here */
	const char *address; /* HOST:PORT that clients use; HOST goes into the certificate */
	const char *user;
	const char *mirror; /* URL of the registry to pull through, or NULL */
};

struct served {
	bool was_running;
	const char *ca_path, *password_path, *data_path;
	int64_t expires;		  /* seconds since 1970: the server's certificate */
	uint64_t free_bytes, total_bytes; /* of the data's file system */
};

/*
 * Sets up what is missing and starts the server, waiting until it answers. A folder that was set up
 * for another address is ERROR_USAGE, as a malformed address is.
 */
int serve_start(const struct serve *serve, struct arena *arena, struct served *served,
		struct error *err);

/* What is known of a folder that was set up; `address` and so on come from it. */
int serve_read(const char *folder, struct arena *arena, struct serve *serve, struct served *served,
	       struct error *err);

/* Ends the server; *was_running. */
int serve_stop(const char *folder, bool *was_running, struct error *err);

/*
 * Frees the space of blobs that nothing names any more. The server must not take pushes meanwhile:
 * it is stopped, and started again.
 */
int serve_collect(const char *folder, struct arena *arena, struct error *err);

#endif
