/* SPDX-License-Identifier: MIT */
/*
 * credential_files.h - what a server of ours needs once: a CA with a certificate from it, and a
 * password.
 *
 * Made by openssl and htpasswd, whose formats every server reads. Files that are there are left as
 * they are; keys and passwords have mode 0600.
 */
#ifndef CORE_CREDENTIAL_FILES_H
#define CORE_CREDENTIAL_FILES_H

#include "core/error.h"

/* A certificate that ends sooner is made anew. */
#define CERTIFICATE_RENEW_DAYS 30

/*
 * FOLDER/ca.pem, ca.key, server.key, server.pem (and server.csr, server.ext): P-256 keys. The
 * server's is good for 825 days, the most that Apple's clients take; the CA, which clients must be
 * given, for ten years. `name`: whose they are ("ringup registry"); `hosts`: IP addresses and DNS
 * names, NULL-terminated, in subjectAltName; 127.0.0.1 is localhost as well. The folder must be
 * there. The server's is made anew for other hosts and before it ends; the CA only before it ends.
 * Errors say what openssl said.
 */
int certificate_files_make(const char *folder, const char *name, const char *const *hosts,
			   struct error *err);

/* When the PEM file's certificate ends, in seconds since 1970. */
int certificate_expiry(const char *path, int64_t *seconds, struct error *err);

/* Whole days from now until then; below 0 when it is over. */
int certificate_days_left(int64_t expires);

/*
 * FOLDER/password: 32 random hex digits, and FOLDER/htpasswd with their bcrypt hash for `user`. The
 * password goes to htpasswd on stdin, and nowhere else. Errors say what htpasswd said.
 */
int password_files_make(const char *folder, const char *user, struct error *err);

#endif
