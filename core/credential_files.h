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

/*
 * FOLDER/ca.pem, ca.key, server.key, server.pem (and server.csr, server.ext): P-256 keys, 825 days,
 * the most that Apple's clients take. `name`: whose they are ("ringup registry"); `host`: an IP
 * address or a DNS name, in subjectAltName; 127.0.0.1 is localhost as well. The folder must be
 * there. Errors say what openssl said.
 */
int certificate_files_make(const char *folder, const char *name, const char *host,
			   struct error *err);

/*
 * FOLDER/password: 32 random hex digits, and FOLDER/htpasswd with their bcrypt hash for `user`. The
 * password goes to htpasswd on stdin, and nowhere else. Errors say what htpasswd said.
 */
int password_files_make(const char *folder, const char *user, struct error *err);

#endif
