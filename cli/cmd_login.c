/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/registry_access.h"

#include "core/foreign.h"
#include "core/log.h"
#include "plan/credentials.h"

#include <string.h>
#include <termios.h>
#include <unistd.h>

#define PASSWORD_LENGTH_MAX 1024

struct options {
	const char *user;
	struct access_options access;
};

static const struct opt options[] = {
	{'u', "username", "NAME", "user name", OPT_TEXT, offsetof(struct options, user)},
	ACCESS_OPTIONS(struct options, access),
	OPT_END,
};

/* One line from stdin, without echo on a terminal. */
static int read_password(struct arena *arena, struct secret *password, struct error *err)
{
	char *line = arena_alloc(arena, PASSWORD_LENGTH_MAX);
	bool terminal = isatty(STDIN_FILENO);
	struct termios old, quiet;
	char *got;

	if (terminal && tcgetattr(STDIN_FILENO, &old) == 0) {
		say_to(stderr, "Password: ");
		quiet = old;
		quiet.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
	}
	got = fgets(line, PASSWORD_LENGTH_MAX, stdin);
	if (terminal) {
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &old);
		say_to(stderr, "\n");
	}
	if (!got)
		return error_set(err, ERROR_USAGE, "no password on standard input");
	line[strcspn(line, "\r\n")] = '\0';
	*password = (struct secret){line};
	return 0;
}

static int login_run(struct context *ctx, void *values, const char *const *arguments,
		     struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	struct options *o = values;
	struct credentials credentials = {.user = o->user};
	const struct cluster *cluster;
	const char *address = *arguments;

	if (!o->user)
		return error_set(
			err, ERROR_USAGE,
			"give the user name with --username; the password is read from standard input");
	if (context_cluster_or_defaults(ctx, &cluster, err) < 0 ||
	    read_password(ctx->arena, &credentials.password, err) < 0)
		return -1;
	if (!address)
		address = cluster->registry.address;
	if (!*address)
		return error_set(err, ERROR_USAGE,
				 "name the registry: ringup login -u %s HOST[:PORT]", o->user);
	o->access.credentials = &credentials;
	if (access_open(ctx, &o->access, &(struct reference){.registry = address}, &registry, err) <
		    0 ||
	    registry_login(registry, err) < 0 ||
	    credentials_store(cluster, address, &credentials, err) < 0)
		return -1;
	if (!ctx->json)
		say("logged in to %s as %s\n", address, credentials.user);
	else
		say("{\"schema\": 1, \"ok\": true}\n");
	return 0;
}

const struct command command_login = {
	.name = "login",
	.arguments = "[REGISTRY]",
	.summary = "checks and keeps a registry's user and password",
	.help = "The password is read from standard input, never from the command line. It is kept in\n"
		".ringup/auth.json (mode 0600) beside cluster.yaml, in the form of Docker's config.json.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = 1,
	.run = login_run,
};
