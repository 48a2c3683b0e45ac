/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/ssh.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/quote.h"
#include "deployer/ssh/ssh_transport.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_FILE_CEILING_BYTES (64 * KIB)
#define SAID_BYTES 700 /* of a failed command's last words in an error */

#define SILENCE_DEFAULT_S 60
#define SILENCE_LEAST_S 4

struct ssh {
	const struct ssh_target *target;
	const struct ssh_transport *transport;
	void *state;
};

static atomic_uint connections;

unsigned int ssh_connections_opened(void)
{
	return atomic_load(&connections);
}

int ssh_silence_s(void)
{
	const char *given = getenv("RINGUP_SILENCE_S");
	long seconds = given ? strtol(given, NULL, 10) : SILENCE_DEFAULT_S;

	return seconds >= SILENCE_LEAST_S && seconds < SILENCE_DEFAULT_S ? (int)seconds
									 : SILENCE_DEFAULT_S;
}

const char *ssh_place(const struct ssh_target *target, char buffer[static 200])
{
	if (strcmp(target->name, target->address) == 0)
		snprintf(buffer, 200, "%.90s (port %d)", target->name, target->port);
	else
		snprintf(buffer, 200, "%.90s (%.80s port %d)", target->name, target->address,
			 target->port);
	return buffer;
}

/*
 * Whether libssh2 1.10 can log in with this key to a current sshd. It can with Ed25519 and ECDSA
 * keys. It cannot with RSA keys (libssh2 before 1.11 has no rsa-sha2 signatures) or FIDO keys. The
 * public half names the type.
 */
static bool key_is_for_libssh2(const char *key)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct error ignored = {0};
	char *text;

	if (file_read(arena_printf(&arena, "%s.pub", key), KEY_FILE_CEILING_BYTES, &arena, &text,
		      NULL, &ignored) < 0)
		return true;
	return starts_with(text, "ssh-ed25519 ") || starts_with(text, "ecdsa-sha2-");
}

struct proc ssh_command_proc(const struct ssh_command *command, uint64_t deadline_usec)
{
	return (struct proc){.input = command->input,
			     .input_bytes = command->input_bytes,
			     .holds_input = command->holds_input,
			     .timeout_s = clock_left_msec(deadline_usec) / 1000 + 1,
			     .input_fd = command->input_fd,
			     .line = command->line,
			     .arg = command->arg,
			     .only_lines = command->only_lines,
			     .paused = command->paused,
			     .even_when_interrupted = command->even_when_interrupted,
			     .stop = command->cancel};
}

static const struct ssh_transport *choose_transport(const struct ssh_target *target)
{
	if (strcmp(target->transport, ssh_transport_local.name) == 0)
		return &ssh_transport_local;
	if (strcmp(target->transport, "libssh2") == 0)
		return &ssh_transport_libssh2;
	if (strcmp(target->transport, "openssh") == 0 || *target->jump)
		return &ssh_transport_openssh;
	return key_is_for_libssh2(target->key) ? &ssh_transport_libssh2 : &ssh_transport_openssh;
}

static int open_by(const struct ssh_transport *transport, const struct ssh_target *target,
		   struct ssh **ssh, struct error *err)
{
	void *state;

	atomic_fetch_add(&connections, 1);
	if (transport->open(target, &state, err) < 0)
		return -1;
	*ssh = xmalloc(sizeof(**ssh));
	**ssh = (struct ssh){target, transport, state};
	return 0;
}

int ssh_open(const struct ssh_target *target, struct ssh **ssh, struct error *err)
{
	return open_by(choose_transport(target), target, ssh, err);
}

int ssh_open_words(const struct ssh_target *target, struct ssh **ssh, const char *const **words,
		   struct error *err)
{
	if (open_by(&ssh_transport_openssh, target, ssh, err) < 0)
		return -1;
	*words = ssh_openssh_words((*ssh)->state);
	return 0;
}

void ssh_close(struct ssh *ssh)
{
	if (!ssh)
		return;
	ssh->transport->close(ssh->state);
	free(ssh);
}

void ssh_command_line(const struct ssh_target *target, const char *const *words, struct str *out)
{
	if (target->sudo)
		str_add(out, "sudo -n ");
	quote_words(out, words);
}

int ssh_run(struct ssh *ssh, const struct ssh_command *command, struct proc_result *result,
	    struct error *err)
{
	int seconds = command->timeout_s ? command->timeout_s : SSH_TIMEOUT_DEFAULT_S;
	_cleanup_(str_release) struct str line = STR_INIT;

	ssh_command_line(ssh->target, command->words, &line);
	*result = (struct proc_result){0};
	str_init_ceiling(&result->out, SSH_OUTPUT_CEILING_BYTES);
	str_init_ceiling(&result->err, SSH_OUTPUT_CEILING_BYTES);
	return ssh->transport->run(ssh->state, line.text, command,
				   clock_usec() + (uint64_t)seconds * 1000000, result, err);
}

void ssh_drop_hints(struct str *said)
{
	static const char *const hints[] = {"\nSee '", "\nRun '"};

	for (size_t i = 0; i < ARRAY_LEN(hints); i++) {
		char *hint = strstr(said->text, hints[i]);

		if (hint) {
			*hint = '\0';
			said->length = strlen(said->text);
		}
	}
}

int ssh_check(struct ssh *ssh, const struct ssh_command *command, const char *what,
	      struct proc_result *result, struct error *err)
{
	_cleanup_(str_release) struct str said = STR_INIT;

	if (ssh_run(ssh, command, result, err) < 0)
		return error_wrap(err, "%s", what);
	if (result->out.overflowed)
		return error_set(err, ERROR_FAILED, "%s: it answered with more than %zu bytes",
				 what, result->out.length);
	if (result->status == 0)
		return 0;
	/* a copy: the caller may read what the command printed */
	str_add(&said, result->err.length ? result->err.text : result->out.text);
	ssh_drop_hints(&said);
	str_one_line(&said, SAID_BYTES);
	return error_set(err, ERROR_FAILED, "%s: %s (status %d)", what,
			 said.length ? said.text : "failed without a word", result->status);
}

void ssh_command_place(const struct ssh_target *target, struct str *out)
{
	str_addf(out, "ssh -p %d -i ", target->port);
	quote_word(out, target->key);
	str_add(out, " -o ");
	quote_word(out, "StrictHostKeyChecking=yes");
	str_add(out, " -o UserKnownHostsFile=");
	quote_word(out, target->known_hosts);
	if (*target->jump)
		str_addf(out, " -J %s", target->jump);
	str_addf(out, " %s@%s ", target->user, target->address);
}

void ssh_command_text(const struct ssh_target *target, const char *const *words, struct str *out)
{
	_cleanup_(str_release) struct str line = STR_INIT;

	ssh_command_line(target, words, &line);
	ssh_command_place(target, out);
	quote_word(out, line.text);
}
