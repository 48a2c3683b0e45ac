/* SPDX-License-Identifier: MIT */
/* manifest_http.h - manifest requests as transfers, to run beside others in one loop. */
#ifndef REGISTRY_CLIENT_MANIFEST_HTTP_H
#define REGISTRY_CLIENT_MANIFEST_HTTP_H

#include "registry-client/manifest.h"
#include "registry-client/http/transfer.h"

#define SCOPE_BYTES 640 /* two repositories of at most 255 characters */

struct manifest_request {
	struct transfer transfer; /* first: a step casts */
	const char *method;	  /* "HEAD", "GET" or "PUT" */
	const struct reference *ref;
	const char *bytes;		/* PUT: the manifest, descriptor.size_bytes long */
	const struct descriptor *named; /* GET: what the document that names it says; or NULL */
	struct descriptor descriptor;	/* PUT: given; HEAD and GET: what was found */
	bool found;			/* HEAD and GET: false after a 404, which is no error */
	bool knows_subject; /* PUT: the registry entered it into the list of referrers */
	char scope[SCOPE_BYTES];
};

/* `actions` is the token scope's last part: "pull" or "pull,push". Release .transfer at the end. */
void manifest_request_init(struct manifest_request *request, struct registry *registry,
			   const char *method, const struct reference *ref, const char *actions);

/* registry_get_manifest without the error when there is none: *found is false. */
int manifest_get(struct registry *registry, const struct reference *ref, struct arena *arena,
		 struct descriptor *descriptor, const char **bytes, bool *found, struct error *err);

/* registry_put_manifest, and whether the registry keeps lists of referrers (OCI-Subject). */
int manifest_put(struct registry *registry, const struct reference *ref,
		 const struct descriptor *descriptor, const char *bytes, bool *knows_subject,
		 struct error *err);

/* "repository:lab/train:pull,push" */
void scope_write(char scope[static SCOPE_BYTES], const struct reference *ref, const char *actions);

#endif
