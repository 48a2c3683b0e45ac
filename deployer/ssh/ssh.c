/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/ssh.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/quote.h"
#include "deployer/ssh/ssh_way.h"
#include "deployer/ssh/sudo.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SILENCE_DEFAULT_S 60
#define SILENCE_LEAST_S 4

/* Pauses between logins to an sshd that takes nobody at the moment: doubled, with some chance in them. */
#define BUSY_PAUSE_MSEC 200
#define BUSY_PAUSE_MAX_MSEC 4000

struct ssh {
	struct arena arena;
	struct ssh_target target; /* with the agent that has the keys */
	const struct ssh_transport *transport;
	void *state;
	enum { SUDO_UNKNOWN, SUDO_FREE, SUDO_BY_PASSWORD } sudo;
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

struct proc ssh_command_proc(const struct ssh_command *command, uint64_t deadline_usec)
{
	return (struct proc){.input = command->input,
			     .input_bytes = command->input_bytes,
			     .holds_input = command->holds_input,
			     .timeout_s = clock_left_msec(deadline_usec) / 1000 + 1,
			     .input_fd = command->input_fd,
			     .output_fd = command->output_fd,
			     .line = command->line,
			     .arg = command->arg,
			     .only_lines = command->only_lines,
			     .paused = command->paused,
			     .even_when_interrupted = command->even_when_interrupted,
			     .stop = command->cancel};
}

/* Waits before the next login to a busy sshd, longer each time. -1 after Ctrl-C. */
static int ssh_pause(int *pause_msec, uint64_t deadline_usec, struct error *err)
{
	unsigned int seed = (unsigned int)clock_usec();
	int left = clock_left_msec(deadline_usec);
	int pause = *pause_msec / 2 + rand_r(&seed) % *pause_msec;

	if (*pause_msec < BUSY_PAUSE_MAX_MSEC)
		*pause_msec *= 2;
	for (pause = pause < left ? pause : left; pause > 0; pause -= INTERRUPT_POLL_MSEC) {
		if (interrupt_check(err) < 0)
			return -1;
		usleep(1000 *
		       (unsigned int)(pause < INTERRUPT_POLL_MSEC ? pause : INTERRUPT_POLL_MSEC));
	}
	return 0;
}

/* One transport, until the host is no longer too busy or the deadline passes. */
static int ssh_open_by(struct ssh *ssh, enum ssh_failure *failure, struct error *err)
{
	uint64_t deadline = clock_usec() + (uint64_t)ssh->target.timeout_s * 1000000;
	int pause_msec = BUSY_PAUSE_MSEC;

	for (;;) {
		struct error none = {0};

		*failure = SSH_FAILED_OTHERWISE;
		atomic_fetch_add(&connections, 1);
		if (ssh->transport->open(&ssh->target, &ssh->state, failure, err) == 0)
			return 0;
		if (*failure != SSH_FAILED_BUSY || !clock_left_msec(deadline))
			return -1;
		log_debug("%s; it is tried again", err->text);
		*err = none;
		if (ssh_pause(&pause_msec, deadline, err) < 0)
			return -1;
	}
}

/* By the chosen transport, and with `auto` by the system's ssh where only that can do more. */
static int ssh_open_way(struct ssh *ssh, const struct ssh_way *way, struct error *err)
{
	enum ssh_failure failure;
	struct error first;

	ssh->transport = way->transport;
	if (*way->because)
		log_debug("%s: by the system's ssh: %s", ssh->target.name, way->because);
	if (ssh_open_by(ssh, &failure, err) == 0)
		return 0;
	first = *err;
	if (ssh->transport == &ssh_transport_libssh2 && way->may_change &&
	    (failure == SSH_FAILED_HOST_KEY || (failure == SSH_FAILED_LOGIN && way->has_more))) {
		log_debug("%s: now by the system's ssh", first.text);
		*err = (struct error){0};
		ssh->transport = &ssh_transport_openssh;
		if (ssh_open_by(ssh, &failure, err) == 0)
			return 0;
	}
	if (failure == SSH_FAILED_LOGIN)
		ssh_way_refused(way, &ssh->target, err);
	return -1;
}

static int ssh_open_target(const struct ssh_target *target, bool by_openssh, struct ssh **ssh,
			   struct error *err)
{
	struct ssh *s = xmalloc(sizeof(*s));
	struct ssh_way way;

	*s = (struct ssh){.arena = ARENA_INIT, .target = *target};
	if (by_openssh)
		s->target.transport = ssh_transport_openssh.name;
	if (ssh_way_choose(&s->target, &s->arena, &way, err) == 0 &&
	    ssh_open_way(s, &way, err) == 0) {
		*ssh = s;
		return 0;
	}
	arena_release(&s->arena);
	free(s);
	return -1;
}

int ssh_open(const struct ssh_target *target, struct ssh **ssh, struct error *err)
{
	return ssh_open_target(target, false, ssh, err);
}

int ssh_open_words(const struct ssh_target *target, struct ssh **ssh, const char *const **words,
		   struct error *err)
{
	if (ssh_open_target(target, true, ssh, err) < 0)
		return -1;
	*words = ssh_openssh_words((*ssh)->state);
	return 0;
}

void ssh_close(struct ssh *ssh)
{
	if (!ssh)
		return;
	ssh->transport->close(ssh->state);
	arena_release(&ssh->arena);
	free(ssh);
}

void ssh_command_line(const struct ssh_target *target, const char *const *words, struct str *out)
{
	if (target->sudo)
		sudo_add_line(false, words, out);
	else
		quote_words(out, words);
}

/* Runs a line for the host's shell. */
static int ssh_run_line(struct ssh *ssh, const char *text, const struct ssh_command *command,
			struct proc_result *result, struct error *err)
{
	int seconds = command->timeout_s ? command->timeout_s : SSH_TIMEOUT_DEFAULT_S;
	_cleanup_(str_release) struct str line = STR_INIT;

	if (ssh->transport == &ssh_transport_local)
		str_add(&line, text);
	else
		quote_for_login_shell(&line, text);
	*result = (struct proc_result){0};
	str_init_ceiling(&result->out, SSH_OUTPUT_CEILING_BYTES);
	str_init_ceiling(&result->err, SSH_OUTPUT_CEILING_BYTES);
	return ssh->transport->run(ssh->state, line.text, command,
				   clock_usec() + (uint64_t)seconds * 1000000, result, err);
}

/* With the password as the first line of its input. */
static int ssh_run_by_password(struct ssh *ssh, const struct ssh_command *command,
			       struct proc_result *result, struct error *err)
{
	struct ssh_command with = *command;
	_cleanup_(str_release) struct str line = STR_INIT;
	struct secret password;
	char *input, place[200];
	int rc;

	if (sudo_password(ssh_place(&ssh->target, place), &password, err) < 0)
		return error_wrap(err, "%s: sudo wants a password", place);
	input = sudo_input(password, command->input, command->input_bytes, &with.input_bytes);
	with.input = input;
	sudo_add_line(true, command->words, &line);
	rc = ssh_run_line(ssh, line.text, &with, result, err);
	secret_wipe_bytes(input, with.input_bytes);
	free(input);
	return rc;
}

/* Finds out whether sudo wants a password there, and whether it takes the one that there is. */
static int ssh_try_sudo(struct ssh *ssh, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result without = {0}, with = {0};
	struct ssh_command command = {.words = WORDS("true")};
	char place[200];

	if (ssh_run_line(ssh, "sudo -n true", &command, &without, err) < 0)
		return -1;
	ssh->sudo = SUDO_FREE;
	if (!sudo_wants_password(&without))
		return 0;
	if (ssh_run_by_password(ssh, &command, &with, err) < 0)
		return -1;
	ssh->sudo = SUDO_BY_PASSWORD;
	if (with.status == 0)
		return 0;
	str_one_line(&with.err, SSH_SAID_BYTES);
	return error_set(err, ERROR_FAILED, "%s: sudo as %s did not take the password: %s",
			 ssh_place(&ssh->target, place), ssh->target.user, with.err.text);
}

int ssh_run(struct ssh *ssh, const struct ssh_command *command, struct proc_result *result,
	    struct error *err)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	int rc;

	*result = (struct proc_result){0};
	/* a conversation cannot be begun twice */
	if (ssh->target.sudo && ssh->sudo == SUDO_UNKNOWN && command->input_fd > 0 &&
	    ssh_try_sudo(ssh, err) < 0)
		return -1;
	if (ssh->sudo == SUDO_BY_PASSWORD)
		return ssh_run_by_password(ssh, command, result, err);
	ssh_command_line(&ssh->target, command->words, &line);
	rc = ssh_run_line(ssh, line.text, command, result, err);
	if (rc < 0 || !ssh->target.sudo || ssh->sudo == SUDO_FREE || !sudo_wants_password(result))
		return rc;
	proc_result_release(result);
	*result = (struct proc_result){0};
	if (ssh_try_sudo(ssh, err) < 0)
		return -1;
	return ssh->sudo == SUDO_BY_PASSWORD ? ssh_run_by_password(ssh, command, result, err)
					     : ssh_run_line(ssh, line.text, command, result, err);
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
	str_one_line(&said, SSH_SAID_BYTES);
	return error_set(err, ERROR_FAILED, "%s: %s (status %d)", what,
			 said.length ? said.text : "failed without a word", result->status);
}

void ssh_command_place(const struct ssh_target *target, struct str *out)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;

	str_addf(out, "ssh -p %d -i ", target->port);
	quote_word(out, target->keys[0]);
	if (*target->config)
		str_add(out, " -F ");
	if (*target->config)
		quote_word(out, target->config);
	str_add(out, " -o StrictHostKeyChecking=yes -o UserKnownHostsFile=");
	quote_word(out, target->known_hosts[0]);
	/* -J takes neither a key nor a file of host keys along (ssh(1)) */
	if (target->via && (target->keys_given || target->known_hosts_given)) {
		str_add(out, " -o ");
		quote_word(out, ssh_openssh_proxy(target, &arena));
	} else if (target->via) {
		str_addf(out, " -J %s", target->jump);
	}
	str_addf(out, " %s@%s ", target->user, target->host);
}

void ssh_command_text(const struct ssh_target *target, const char *const *words, struct str *out)
{
	_cleanup_(str_release) struct str line = STR_INIT;

	ssh_command_line(target, words, &line);
	ssh_command_place(target, out);
	quote_word(out, line.text);
}
