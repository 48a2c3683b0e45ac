/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_fleet.h"

#include "core/ask.h"
#include "core/foreign.h"
#include "core/json.h"
#include "deployer/access/install_key.h"
#include "plan/host_set.h"

#include <string.h>
#include <unistd.h>

#define PASSWORD_CEILING_BYTES (4 * KIB)

struct options {
	struct words hosts;
	bool from_stdin;
};

static const struct opt options[] = {
	HOSTS_OPTION(struct options, hosts),
	{0, "password-stdin", NULL, "read one password for all hosts from standard input", OPT_FLAG,
	 offsetof(struct options, from_stdin)},
	OPT_END,
};

/* The hosts in this state, folded; *count is how many. */
static const char *keys_hosts(const struct stages *s, const enum install_state *states,
			      enum install_state state, size_t *count)
{
	struct words names = WORDS_INIT(s->arena);

	for (size_t i = 0; i < s->fleet.count; i++)
		if (states[i] == state)
			words_add(&names, s->fleet.members[i].host->name);
	*count = names.count;
	return names.count ? host_set_fold(names.list, s->arena) : "";
}

static void keys_print(const struct stages *s, const enum install_state *states)
{
	static const struct {
		const char *text;
		enum install_state state;
	} lines[] = {{"the key logs in already", INSTALL_THERE},
		     {"the key was added, and logs in", INSTALL_ADDED},
		     {"no password was right", INSTALL_WAITING}};
	size_t count;

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		const char *hosts = keys_hosts(s, states, lines[i].state, &count);

		if (count)
			say("%s (%zu): %s\n", hosts, count, lines[i].text);
	}
}

static void keys_print_json(const struct stages *s, const enum install_state *states)
{
	static const char *const names[] = {[INSTALL_WAITING] = "refused",
					    [INSTALL_THERE] = "there",
					    [INSTALL_ADDED] = "added",
					    [INSTALL_FAILED] = "failed"};
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *list = cJSON_AddArrayToObject(json, "hosts");

	for (size_t i = 0; i < s->fleet.count; i++) {
		cJSON *item = cJSON_CreateObject();

		cJSON_AddItemToArray(list, item);
		cJSON_AddStringToObject(item, "host", s->fleet.members[i].host->name);
		cJSON_AddStringToObject(item, "key", names[states[i]]);
	}
	stage_json_failed(s, json);
	json_print(stdout, json);
}

/* The first line of standard input. */
static int keys_read_password(struct arena *arena, struct secret *password, struct error *err)
{
	char text[PASSWORD_CEILING_BYTES] = "";
	size_t length = 0;
	int rc = 0;

	while (length + 1 < sizeof(text) && read(STDIN_FILENO, text + length, 1) == 1 &&
	       text[length] != '\n')
		length++;
	if (length + 1 == sizeof(text))
		rc = error_set(err, ERROR_USAGE, "the password is too long");
	text[length] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	if (rc == 0 && !*text)
		rc = error_set(err, ERROR_USAGE, "there is no password on standard input");
	if (rc == 0)
		*password = secret_copy(text, arena);
	secret_wipe_bytes(text, sizeof(text));
	return rc;
}

static void keys_use(struct stages *s, const struct install_key *key, struct secret *password,
		     enum install_state *states)
{
	install_by_password(&s->fleet, key, password, states);
	secret_wipe(password);
}

static const char OTHERWISE[] = "give one password for all hosts by --password-stdin";

/*
 * One password for all, and for each host that does not take it one of its own. Nothing is asked for where the key
 * is there already.
 */
static int keys_ask(struct stages *s, const struct install_key *key, bool from_stdin,
		    enum install_state *states, struct error *err)
{
	struct secret password;
	size_t count;
	const char *hosts = keys_hosts(s, states, INSTALL_WAITING, &count);

	if (!count)
		return 0;
	if (from_stdin) {
		if (keys_read_password(s->arena, &password, err) < 0)
			return -1;
	} else if (ask_secret(arena_printf(s->arena, "Password of %s%s", hosts,
					   count > 1 ? " (a host that has another is asked about "
						       "alone)"
						     : ""),
			      OTHERWISE, s->arena, &password, err) < 0) {
		return -1;
	}
	keys_use(s, key, &password, states);
	for (size_t i = 0; i < s->fleet.count && !from_stdin && count > 1; i++) {
		const char *name = s->fleet.members[i].host->name;

		if (states[i] != INSTALL_WAITING || s->fleet.members[i].failed)
			continue;
		if (ask_secret(arena_printf(s->arena, "Password of %s", name), OTHERWISE, s->arena,
			       &password, err) < 0)
			return -1;
		for (size_t k = 0; k < s->fleet.count; k++)
			s->fleet.members[k].waits = k != i;
		keys_use(s, key, &password, states);
		for (size_t k = 0; k < s->fleet.count; k++)
			s->fleet.members[k].waits = false;
	}
	return 0;
}

static int keys_install(struct stages *s, bool from_stdin, struct error *err)
{
	enum install_state *states = ARENA_ARRAY(s->arena, s->fleet.count, enum install_state);
	struct install_key key;

	if (install_read_key(s->fleet.members[0].target.keys[0], s->arena, &key, err) < 0)
		return -1;
	install_try_keys(&s->fleet, states);
	if (keys_ask(s, &key, from_stdin, states, err) < 0)
		return -1;
	for (size_t i = 0; i < s->fleet.count; i++)
		if (states[i] == INSTALL_WAITING)
			s->fleet.members[i].failed = true;
	if (s->ctx->json)
		keys_print_json(s, states);
	else
		keys_print(s, states);
	return fleet_result(&s->fleet, err);
}

static int keys_run(struct context *ctx, void *values, const char *const *arguments,
		    struct error *err)
{
	struct options *o = values;
	struct stages s;
	int rc;

	if (strcmp(arguments[0], "install") != 0)
		return error_set(err, ERROR_USAGE, "keys: there is only 'install', and no '%s'",
				 arguments[0]);
	if (stage_cluster(&s, ctx, err) < 0 || stage_select(&s, &o->hosts, NULL, err) < 0)
		return -1;
	rc = keys_install(&s, o->from_stdin, err);
	fleet_close(&s.fleet);
	return rc;
}

const struct command command_keys = {
	.name = "keys",
	.arguments = "install",
	.summary = "puts your public key on hosts that want a password",
	.help = "'keys install' adds the public half of ssh.key to ~/.ssh/authorized_keys of the user on every\n"
		"host that does not take it yet, as ssh-copy-id does, and logs in with it then. It asks for one\n"
		"password for all hosts, and for the password of each host that has another one. Passwords are\n"
		"read from the terminal, or one for all from standard input; never from the command line. The\n"
		"hosts' keys must be in known_hosts: see 'ringup hosts trust'.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 1,
	.max_arguments = 1,
	.run = keys_run,
};
