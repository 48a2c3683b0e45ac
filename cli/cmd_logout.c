/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"

#include "core/foreign.h"
#include "core/json.h"
#include "plan/credentials.h"

static int logout_run(struct context *ctx, void *values, const char *const *arguments,
		      struct error *err)
{
	const struct cluster *cluster;
	const char *address = *arguments;
	bool was_there;

	(void)values;
	if (context_cluster_or_defaults(ctx, &cluster, err) < 0)
		return -1;
	if (!address)
		address = cluster->registry.address;
	if (!*address)
		return error_set(err, ERROR_USAGE, "name the registry: ringup logout HOST[:PORT]");
	if (credentials_forget(cluster, address, &was_there, err) < 0)
		return -1;
	if (ctx->json)
		say("{\"schema\": 1, \"ok\": true}\n");
	else
		say(was_there ? "logged out of %s\n" : "%s: nothing was kept\n", address);
	return 0;
}

const struct command command_logout = {
	.name = "logout",
	.arguments = "[REGISTRY]",
	.summary = "forgets a registry's user and password",
	.help = "They are taken out of .ringup/auth.json. What Docker keeps in its own config.json stays.\n",
	.max_arguments = 1,
	.run = logout_run,
};
