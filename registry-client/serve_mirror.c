/* SPDX-License-Identifier: MIT */
#include "registry-client/serve.h"
#include "registry-client/session.h"

#include <string.h>

bool serve_mirror_wants_basic(struct registry *upstream)
{
	struct error err = {0};
	bool refused = registry_contact(upstream, &err) < 0 && strstr(err.text, "(HTTP 401)");

	/* Without a user no scheme is chosen; a token service lets one in without. */
	return upstream->auth.scheme == AUTH_BASIC || (refused && !upstream->auth.user);
}
