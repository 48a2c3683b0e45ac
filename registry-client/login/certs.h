/* SPDX-License-Identifier: MIT */
/*
 * certs.h - the CAs and the client certificate that this machine has for one registry.
 *
 * Docker and Podman read certs.d/HOST[:PORT]/: every *.crt is a CA to trust beside the system's,
 * and NAME.cert with NAME.key is a client certificate. Sources: docs.docker.com, "Verify repository
 * client with certificates"; containers-certs.d(5). The first folder that there is counts, of
 * ~/.config/containers/certs.d, /etc/containers/certs.d, ~/.config/docker/certs.d,
 * /etc/docker/certs.d.
 */
#ifndef REGISTRY_CLIENT_LOGIN_CERTS_H
#define REGISTRY_CLIENT_LOGIN_CERTS_H

#include "core/arena.h"
#include "core/error.h"

struct certs {
	const char *folder;		  /* where they come from; NULL: none */
	const char *ca_pem;		  /* all CAs as one PEM text; NULL: only the system's */
	const char *cert_path, *key_path; /* client certificate, PEM; NULL: none */
};

/* A missing folder is no error; a client certificate without its key is ERROR_USAGE. */
int certs_find(const char *address, struct arena *arena, struct certs *certs, struct error *err);

#endif
