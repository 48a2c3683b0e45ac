/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/registry_access.h"

#include "core/clock.h"
#include "core/foreign.h"
#include "core/log.h"
#include "plan/credentials.h"

#include <poll.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define MORE_WAIT_MS 500

struct options {
	const char *user;
	struct access_options access;
};

static const struct opt options[] = {
	{'u', "username", "NAME", "user name", OPT_TEXT, offsetof(struct options, user)},
	ACCESS_OPTIONS(struct options, access),
	OPT_END,
};

/* Whether more comes on standard input soon: another program may write in pieces. */
static bool login_has_more(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&input, 1, MORE_WAIT_MS) > 0;
}

/*
 * Reads a line. What would be cut is refused: a NUL, too many bytes, a second line that comes with
 * the first or soon after it. Whoever writes a line and leaves the input open is not waited for.
 */
static int login_read_line(bool terminal, struct str *line, struct error *err)
{
	char buffer[16 * KIB];
	bool ended = false;

	for (;;) {
		ssize_t got = read(STDIN_FILENO, buffer, sizeof(buffer));
		char *end = got > 0 ? memchr(buffer, '\n', (size_t)got) : NULL;

		if (interrupt_check(err) < 0)
			return -1;
		if (got < 0)
			return error_errno(err, "cannot read the password");
		if (memchr(buffer, '\0', (size_t)got))
			return error_set(err, ERROR_USAGE, "the password holds a NUL");
		if ((end && end + 1 < buffer + got) || (ended && got))
			return error_set(err, ERROR_USAGE,
					 "the password has more than one line on standard input");
		str_add_bytes(line, buffer, end ? (size_t)(end - buffer) : (size_t)got);
		if (line->overflowed)
			return error_set(err, ERROR_USAGE,
					 "the password is too long: %llu bytes are the most",
					 LOGIN_BYTES_MAX);
		if (got == 0 && !line->length)
			return error_set(err, ERROR_USAGE, "no password on standard input");
		ended |= end != NULL;
		if (got == 0 || (ended && (terminal || !login_has_more())))
			return 0;
	}
}

/* One line from stdin, without echo on a terminal. */
static int read_password(struct arena *arena, struct secret *password, struct error *err)
{
	_cleanup_(str_release) struct str line = {0};
	bool terminal = isatty(STDIN_FILENO);
	struct termios old, quiet;
	int rc;

	str_init_ceiling(&line, LOGIN_BYTES_MAX);
	if (terminal && tcgetattr(STDIN_FILENO, &old) == 0) {
		say_to(stderr, "Password: ");
		quiet = old;
		quiet.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
	}
	rc = login_read_line(terminal, &line, err);
	if (terminal) {
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &old);
		say_to(stderr, "\n");
	}
	if (line.length && line.text[line.length - 1] == '\r')
		line.text[--line.length] = '\0';
	*password = (struct secret){arena_strdup(arena, line.text)};
	explicit_bzero(line.text, line.length);
	return rc;
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
