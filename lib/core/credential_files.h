/* SPDX-License-Identifier: MIT */
/*
 * credential_files.h - the files that a ringup server needs: a CA, a certificate from it, and a
 * password.
 *
 * openssl and htpasswd make them, in formats that every server reads. Existing files stay as they
 * are. Keys and passwords have mode 0600.
 */
#ifndef CORE_CREDENTIAL_FILES_H
#define CORE_CREDENTIAL_FILES_H

#include "core/error.h"

/* A certificate that expires sooner is renewed. */
#define CERTIFICATE_RENEW_DAYS 30

/*
 * Makes FOLDER/ca.pem, ca.key, server.key, server.pem (and server.csr, server.ext) with P-256 keys.
 * The server's certificate is valid for 825 days, the most that Apple's clients accept. The CA,
 * which clients must be given, is valid for ten years. `name` is the owner in the certificates
 * ("ringup registry"). `hosts` is a NULL-terminated list of IP addresses and DNS names for
 * subjectAltName; 127.0.0.1 adds localhost. The folder must exist. The server's certificate is
 * renewed for other hosts and before it expires; the CA only before it expires. Errors have
 * openssl's own message.
 */
int certificate_files_make(const char *folder, const char *name, const char *const *hosts,
			   struct error *err);

/* When the PEM file's certificate expires, in seconds since 1970. */
int certificate_expiry(const char *path, int64_t *seconds, struct error *err);

/* Whole days from now until `expires`; below 0 when it has expired. */
int certificate_days_left(int64_t expires);

/*
 * Makes FOLDER/password with 32 random hex digits, and FOLDER/htpasswd with their bcrypt hash for
 * `user`. Only htpasswd gets the password, on stdin. Errors have htpasswd's own message.
 */
int password_files_make(const char *folder, const char *user, struct error *err);

#endif
