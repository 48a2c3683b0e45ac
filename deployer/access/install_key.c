/* SPDX-License-Identifier: MIT */
#include "deployer/access/install_key.h"

#include "core/file.h"
#include "deployer/remote.h"
#include "deployer/ssh/keys/private_key.h"

#include <errno.h>
#include <string.h>

#define PUBLIC_CEILING_BYTES (64 * KIB)

/* "TYPE BASE64 COMMENT" of the first line. */
static int install_parse(char *text, const char *path, struct install_key *key, struct error *err)
{
	char *line = strsep(&text, "\r\n");

	key->type = strsep(&line, " \t");
	key->base64 = line ? strsep(&line, " \t") : "";
	key->comment = line ? line : "ringup";
	if (*key->base64 && !key->base64[strspn(key->base64, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
							     "abcdefghijklmnopqrstuvwxyz"
							     "0123456789+/=")])
		return 0;
	return error_set(err, ERROR_USAGE, "%s is no public key", path);
}

int install_read_key(const char *path, struct arena *arena, struct install_key *key,
		     struct error *err)
{
	const char *public_path =
		ends_with(path, ".pub") ? path : arena_printf(arena, "%s.pub", path);
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct proc proc = {.words = WORDS("ssh-keygen", "-y", "-P", "", "-f", path)};
	struct private_key private;
	char *text;

	if (file_exists(public_path)) {
		if (file_read(public_path, PUBLIC_CEILING_BYTES, arena, &text, NULL, err) < 0)
			return error_of_input(err);
		return install_parse(text, public_path, key, err);
	}
	private_key_look(path, arena, &private);
	if (private.state == PRIVATE_KEY_MISSING)
		return error_set(
			err, ERROR_USAGE,
			"there is no key %s; make one: ssh-keygen -t ed25519 -f %s, or set ssh.key in cluster.yaml",
			path, path);
	if (*private.public_base64) {
		*key = (struct install_key){private.type, private.public_base64, "ringup"};
		return 0;
	}
	if (proc_run(&proc, &result, err) < 0)
		return -1;
	if (result.status != 0)
		return error_set(
			err, ERROR_USAGE,
			"%s: its public half is unknown; write it: ssh-keygen -y -f %s >%s", path,
			path, public_path);
	return install_parse(arena_strdup(arena, result.out.text), path, key, err);
}

struct install {
	const struct install_key *key;
	const struct secret *password;
	enum install_state *states;
};

static int install_try(struct member *m, void *arg, struct error *err)
{
	struct install *install = arg;
	struct error why = {0};

	m->target.sudo = false; /* the key is for the user who logs in */
	if (member_connect(m, &why) == 0) {
		install->states[m->index] = INSTALL_THERE;
		return 0;
	}
	if (why.system == EACCES) /* the login, not the connection: a password is wanted */
		return 0;
	install->states[m->index] = INSTALL_FAILED;
	*err = why;
	return -1;
}

void install_try_keys(struct fleet *fleet, enum install_state *states)
{
	struct install install = {.states = states};

	fleet_each(fleet, install_try, &install);
}

static int install_add(struct member *m, const struct install_key *key, struct ssh *ssh,
		       struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {0};

	if (remote_script("authorize", WORDS(key->type, key->base64, key->comment), &words, err) <
	    0)
		return -1;
	command.words = words.list;
	return ssh_check(ssh, &command, "cannot add the key to ~/.ssh/authorized_keys", &result,
			 err);
}

static int install_one(struct member *m, void *arg, struct error *err)
{
	struct install *install = arg;
	_cleanup_(ssh_closep) struct ssh *ssh = NULL;
	struct ssh_target by_password = m->target;
	enum install_state *state = &install->states[m->index];

	if (*state != INSTALL_WAITING)
		return 0;
	by_password.password = install->password;
	if (ssh_open(&by_password, &ssh, &m->err) < 0) {
		if (m->err.system == EACCES)
			return 0;
		*state = INSTALL_FAILED;
		*err = m->err;
		return -1;
	}
	*state = INSTALL_FAILED;
	m->err = (struct error){0};
	if (install_add(m, install->key, ssh, err) < 0)
		return -1;
	if (member_connect(m, err) < 0)
		return error_advise(
			err,
			"the key is in ~/.ssh/authorized_keys there, and sshd does not take it: look at AuthorizedKeysFile and PubkeyAuthentication in sshd_config, and at its log");
	*state = INSTALL_ADDED;
	return 0;
}

void install_by_password(struct fleet *fleet, const struct install_key *key,
			 const struct secret *password, enum install_state *states)
{
	struct install install = {key, password, states};

	fleet_each(fleet, install_one, &install);
}
