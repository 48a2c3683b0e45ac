/* SPDX-License-Identifier: MIT */
/* manifest_http.h - manifest requests as transfers, to run beside others in one loop. */
#ifndef REGISTRY_CLIENT_MANIFEST_HTTP_H
#define REGISTRY_CLIENT_MANIFEST_HTTP_H

#include "registry-client/manifest.h"
#include "registry-client/transfer.h"

struct manifest_request {
	struct transfer transfer; /* first: a step casts */
	const char *method;	  /* "HEAD", "GET" or "PUT" */
	const struct reference *ref;
	const char *bytes;	      /* PUT: the manifest, descriptor.size_bytes long */
	struct descriptor descriptor; /* PUT: given; HEAD and GET: what was found */
	bool found;		      /* HEAD and GET: 404 is false and no error */
	char scope[300];
};

/* `actions` is the token scope's last part: "pull" or "pull,push". Release .transfer at the end. */
void manifest_request_init(struct manifest_request *request, struct registry *registry,
			   const char *method, const struct reference *ref, const char *actions);

/* "repository:lab/train:pull,push" */
void scope_write(char scope[static 300], const struct reference *ref, const char *actions);

#endif
