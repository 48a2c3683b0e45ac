/* SPDX-License-Identifier: MIT */
/*
 * SSH inside this process. All sockets are non-blocking. A call that returns EAGAIN is repeated
 * with the same arguments when poll says that the socket is ready, until a deadline. Both output
 * streams are always drained, because unread stderr hides the end of stdout.
 */
#include "deployer/ssh/ssh_transport.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/secret.h"
#include "core/str.h"
#include "deployer/ssh/keys/host_key_check.h"
#include "deployer/ssh/keys/known_hosts.h"
#include "deployer/ssh/keys/private_key.h"
#include "deployer/ssh/session.h"
#include "deployer/ssh/ssh_fault.h"
#include "deployer/ssh/tunnel.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct native {
	const struct ssh_target *target;
	struct tunnel tunnel;
	int fd; /* of the tunnel */
	struct session_peer peer;
	struct str greeting; /* what it says before it greets as sshd does, or nothing */
	LIBSSH2_SESSION *session;
	const struct ssh_command *command; /* that runs now, or NULL */
	int input_fd;			   /* that more of its stdin comes from, or -1 */
	bool input_waits;		   /* what came from there is not sent yet */
	bool had_channel;		   /* there was one before */
	bool pauses;			   /* the command's stdout is not read at the moment */
	uint64_t heard_usec; /* the host was not silent then: the command began, or paused */
};

/* Microseconds since the last byte came from the host (tcp(7), TCP_INFO), or since it was heard. */
static uint64_t ssh_libssh2_silence(const struct native *n)
{
	struct tcp_info info = {0};
	socklen_t length = sizeof(info);
	uint64_t silence = clock_usec() - n->heard_usec, tcp;

	if (getsockopt(n->fd, IPPROTO_TCP, TCP_INFO, &info, &length) < 0)
		return 0;
	tcp = (uint64_t)info.tcpi_last_data_recv * 1000;
	return tcp < silence ? tcp : silence;
}

/*
 * Asks a silent host for a sign of life, and gives up a host that gives none. A command that is
 * paused hears nothing, because nothing is read. The question goes only into a socket that takes it
 * whole: libssh2 cannot send another packet behind half a one.
 */
static int ssh_libssh2_check_alive(struct native *n, const char *doing, struct error *err)
{
	uint64_t limit = (uint64_t)ssh_silence_s() * 1000000, silence;
	struct pollfd ready = {.fd = n->fd, .events = POLLOUT};
	char place[200];
	int next;

	if (n->pauses)
		n->heard_usec = clock_usec();
	silence = ssh_libssh2_silence(n);
	if (silence >= limit)
		return error_set(
			err, ERROR_FAILED,
			"%s: no sign of life for %d s while %s: the host, its sshd or the network is stuck",
			ssh_place(n->target, place), ssh_silence_s(), doing);
	if (silence >= limit / SSH_ASKS &&
	    !(libssh2_session_block_directions(n->session) & LIBSSH2_SESSION_BLOCK_OUTBOUND) &&
	    poll(&ready, 1, 0) == 1 && ready.revents == POLLOUT)
		libssh2_keepalive_send(n->session, &next);
	return 0;
}

/* -1: what it means that the handshake or the login does not go on. */
static int ssh_libssh2_not_greeted(struct native *n, enum ssh_fault fault, struct error *err)
{
	return ssh_fault_set(n->target, n->greeting.length ? SSH_FAULT_NO_SSHD : fault,
			     n->greeting.text, err);
}

/*
 * Waits until the socket is ready for what the session wants. -1 past the deadline or after Ctrl-C.
 */
static int ssh_libssh2_wait_ready(struct native *n, uint64_t deadline_usec, const char *doing,
				  struct error *err)
{
	int directions = libssh2_session_block_directions(n->session);
	const struct ssh_command *command = n->command;
	struct pollfd fds[2] = {{.fd = n->fd},
				{.fd = n->input_waits ? -1 : n->input_fd, .events = POLLIN}};
	int left = clock_left_msec(deadline_usec);
	char place[200];

	if (!(command && command->even_when_interrupted) && interrupt_check(err) < 0)
		return -1;
	if (command && command->cancel && atomic_load(command->cancel))
		return error_set(err, ERROR_FAILED,
				 "%s: given up while %s, because another host failed",
				 ssh_place(n->target, place), doing);
	if (!left && !command)
		return ssh_libssh2_not_greeted(n, SSH_FAULT_STUCK, err);
	if (!left)
		return error_set(err, ERROR_FAILED, "%s: no answer in time while %s",
				 ssh_place(n->target, place), doing);
	if (command && ssh_libssh2_check_alive(n, doing, err) < 0)
		return -1;
	fds[0].events = (short)((directions & LIBSSH2_SESSION_BLOCK_INBOUND ? POLLIN : 0) |
				(directions & LIBSSH2_SESSION_BLOCK_OUTBOUND ? POLLOUT : 0));
	if (!fds[0].events)
		fds[0].events = POLLIN;
	if (n->pauses) { /* nothing is read, so the socket may stay ready */
		fds[0].events &= POLLOUT;
		left = PROC_PAUSE_MSEC;
	}
	poll(fds, 2, left < INTERRUPT_POLL_MSEC ? left : INTERRUPT_POLL_MSEC);
	return 0;
}

static bool ssh_libssh2_is_cut(int code)
{
	return code == LIBSSH2_ERROR_SOCKET_SEND || code == LIBSSH2_ERROR_SOCKET_RECV ||
	       code == LIBSSH2_ERROR_SOCKET_DISCONNECT || code == LIBSSH2_ERROR_SOCKET_NONE;
}

/* Of a command that runs, or begins. */
static int session_failed(struct native *n, const char *doing, struct error *err)
{
	char place[200], *message = NULL;

	if (ssh_libssh2_is_cut(libssh2_session_last_error(n->session, &message, NULL, 0)))
		return ssh_fault_set(n->target, SSH_FAULT_CUT, "", err);
	return error_set(err, ERROR_FAILED, "%s: %s failed: %s", ssh_place(n->target, place), doing,
			 message && *message ? message : "the connection was lost");
}

/* Whether an agent's key may be tried: all may, unless only those of the key files are wanted. */
static bool ssh_libssh2_may_try(const struct native *n,
				const struct libssh2_agent_publickey *identity, struct arena *arena)
{
	char *base64 = arena_alloc(arena, identity->blob_len * 4 / 3 + 8);

	if (!n->target->identities_only)
		return true;
	EVP_EncodeBlock((unsigned char *)base64, identity->blob, (int)identity->blob_len);
	for (const char *const *path = n->target->keys; *path; path++) {
		struct private_key key;

		private_key_look(*path, arena, &key);
		if (strcmp(key.public_base64, base64) == 0)
			return true;
	}
	return false;
}

/* 0 when the host takes it, 1 when not, -1 when there is no answer. */
static int ssh_libssh2_try_identity(struct native *n, LIBSSH2_AGENT *agent,
				    struct libssh2_agent_publickey *identity,
				    uint64_t deadline_usec, struct error *err)
{
	int rc;

	while ((rc = libssh2_agent_userauth(agent, n->target->user, identity)) ==
	       LIBSSH2_ERROR_EAGAIN)
		if (ssh_libssh2_wait_ready(n, deadline_usec, "logging in", err) < 0)
			return -1;
	return rc == 0 ? 0 : 1;
}

/* Tries the keys of an ssh-agent: 0, 1 and -1 as above. */
static int login_by_agent(struct native *n, uint64_t deadline_usec, struct arena *arena,
			  struct error *err)
{
	LIBSSH2_AGENT *agent = *n->target->agent ? libssh2_agent_init(n->session) : NULL;
	struct libssh2_agent_publickey *key = NULL;
	int done = 1;

	if (!agent)
		return 1;
	libssh2_agent_set_identity_path(agent, n->target->agent);
	if (libssh2_agent_connect(agent) == 0 && libssh2_agent_list_identities(agent) == 0) {
		while (done == 1 && libssh2_agent_get_identity(agent, &key, key) == 0)
			if (ssh_libssh2_may_try(n, key, arena))
				done = ssh_libssh2_try_identity(n, agent, key, deadline_usec, err);
		libssh2_agent_disconnect(agent);
	}
	libssh2_agent_free(agent);
	return done;
}

/* Tries the key files that can be read without a passphrase: 0, 1 and -1 as above. */
static int ssh_libssh2_login_by_files(struct native *n, uint64_t deadline_usec, struct arena *arena,
				      struct error *err)
{
	const struct ssh_target *t = n->target;

	for (const char *const *path = t->keys; *path; path++) {
		struct private_key key;
		int rc;

		private_key_look(*path, arena, &key);
		if (key.state != PRIVATE_KEY_FOUND || key.encrypted ||
		    !private_key_is_for_libssh2(key.type))
			continue;
		while ((rc = session_login_by_file(n->session, t->user, *path)) ==
		       LIBSSH2_ERROR_EAGAIN)
			if (ssh_libssh2_wait_ready(n, deadline_usec, "logging in", err) < 0)
				return -1;
		if (rc == 0)
			return 0;
	}
	return 1;
}

/* For sshd's questions that are not to be shown: the password. */
static void ssh_libssh2_answer(const char *name, int name_length, const char *instruction,
			       int instruction_length, int count,
			       const LIBSSH2_USERAUTH_KBDINT_PROMPT *prompts,
			       LIBSSH2_USERAUTH_KBDINT_RESPONSE *responses, void **abstract)
{
	const struct session_peer *peer = *abstract;

	(void)name;
	(void)name_length;
	(void)instruction;
	(void)instruction_length;
	for (int i = 0; i < count; i++) {
		responses[i].text = strdup(prompts[i].echo ? "" : secret_reveal(*peer->password));
		if (!responses[i].text)
			oom();
		responses[i].length = (unsigned int)strlen(responses[i].text);
	}
}

/* By a password, which sshd takes itself or has PAM ask for: 0, 1 and -1 as above. */
static int ssh_libssh2_login_by_password(struct native *n, uint64_t deadline_usec,
					 struct error *err)
{
	const char *user = n->target->user, *password = secret_reveal(*n->target->password);
	int rc;

	while ((rc = libssh2_userauth_password(n->session, user, password)) == LIBSSH2_ERROR_EAGAIN)
		if (ssh_libssh2_wait_ready(n, deadline_usec, "logging in", err) < 0)
			return -1;
	if (rc == 0)
		return 0;
	while ((rc = libssh2_userauth_keyboard_interactive(n->session, user, ssh_libssh2_answer)) ==
	       LIBSSH2_ERROR_EAGAIN)
		if (ssh_libssh2_wait_ready(n, deadline_usec, "logging in", err) < 0)
			return -1;
	return rc == 0 ? 0 : 1;
}

/* "publickey,password": by what the host would let the user in, as ssh says it, too. */
static const char *ssh_libssh2_methods(struct native *n, uint64_t deadline_usec)
{
	const char *user = n->target->user, *list;
	struct error ignored = {0};

	while (!(list = libssh2_userauth_list(n->session, user, (unsigned int)strlen(user))) &&
	       libssh2_session_last_errno(n->session) == LIBSSH2_ERROR_EAGAIN)
		if (ssh_libssh2_wait_ready(n, deadline_usec, "logging in", &ignored) < 0)
			break;
	return list ? list : "publickey";
}

static int log_in(struct native *n, uint64_t deadline_usec, struct arena *arena,
		  enum ssh_failure *failure, struct error *err)
{
	char place[200];
	int rc = n->target->password ? ssh_libssh2_login_by_password(n, deadline_usec, err)
				     : ssh_libssh2_login_by_files(n, deadline_usec, arena, err);

	if (rc == 1 && !n->target->password)
		rc = login_by_agent(n, deadline_usec, arena, err);
	if (rc <= 0)
		return rc;
	*failure = SSH_FAILED_LOGIN;
	return error_set(err, ERROR_FAILED, "%s: Permission denied (%s).",
			 ssh_place(n->target, place), ssh_libssh2_methods(n, deadline_usec));
}

static void close_native(void *state)
{
	struct native *n = state;

	if (n->session) {
		libssh2_session_set_blocking(n->session, 1);
		libssh2_session_set_timeout(n->session, 1000);
		libssh2_session_disconnect(n->session, "done");
		libssh2_session_free(n->session);
	}
	tunnel_close(&n->tunnel);
	str_release(&n->greeting);
	free(n);
}

/* Looks at the first bytes that the host says, and leaves them there. n->greeting has what is none of SSH. */
static int ssh_libssh2_check_greeting(struct native *n, uint64_t deadline_usec,
				      enum ssh_failure *failure, struct error *err)
{
	_cleanup_(str_release) struct str said = STR_INIT;
	enum ssh_fault fault = ssh_fault_look(n->fd, deadline_usec, &n->greeting);

	if (interrupt_check(err) < 0)
		return -1;
	if (fault == SSH_FAULT_NONE)
		return 0;
	if (fault == SSH_FAULT_BUSY && ssh_target_has_way(n->target) &&
	    tunnel_ask(n->target, &said))
		return tunnel_failed(n->target, said.text, err);
	if (fault == SSH_FAULT_BUSY)
		*failure = SSH_FAILED_BUSY;
	return ssh_fault_set(n->target, fault, n->greeting.text, err);
}

static int ssh_libssh2_handshake(struct native *n, const struct known_hosts *known,
				 uint64_t deadline_usec, enum ssh_failure *failure,
				 struct error *err)
{
	_cleanup_(str_release) struct str types = STR_INIT;
	int rc;

	host_key_types(known, &types);
	n->peer.password = n->target->password;
	n->session = session_new(&n->peer, types.text);
	libssh2_keepalive_config(n->session, 1, (unsigned int)(ssh_silence_s() / SSH_ASKS));
	while ((rc = session_handshake(n->session, n->fd, &n->peer)) == LIBSSH2_ERROR_EAGAIN)
		if (ssh_libssh2_wait_ready(n, deadline_usec, "logging in", err) < 0)
			return -1;
	if (rc == 0)
		str_clear(&n->greeting); /* a notice before the version (RFC 4253, section 4.2) */
	if (rc != LIBSSH2_ERROR_KEX_FAILURE && rc != LIBSSH2_ERROR_KEY_EXCHANGE_FAILURE)
		return rc ? ssh_libssh2_not_greeted(n, SSH_FAULT_BROKEN, err) : 0;
	*failure = SSH_FAILED_HOST_KEY; /* nothing in common: RSA alone, perhaps */
	return ssh_fault_set(n->target, SSH_FAULT_STRANGE, "", err);
}

static int start_session(struct native *n, uint64_t deadline_usec, enum ssh_failure *failure,
			 struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const struct ssh_target *t = n->target;
	struct known_hosts known;
	char place[200];

	if (known_hosts_load(t->known_hosts_all, host_key_known_name(t, &arena), &arena, &known,
			     err) < 0)
		return -1;
	if (tunnel_open(t, deadline_usec, &n->tunnel, err) < 0)
		return error_wrap(err, "%s", ssh_place(t, place));
	n->fd = n->tunnel.fd;
	if (ssh_libssh2_check_greeting(n, deadline_usec, failure, err) < 0 ||
	    ssh_libssh2_handshake(n, &known, deadline_usec, failure, err) < 0 ||
	    host_key_check(n->session, t, &known, &arena, failure, err) < 0)
		return -1;
	return log_in(n, deadline_usec, &arena, failure, err);
}

static int open_native(const struct ssh_target *target, void **state, enum ssh_failure *failure,
		       struct error *err)
{
	struct native *n = xmalloc(sizeof(*n));

	*n = (struct native){.target = target,
			     .fd = -1,
			     .tunnel = TUNNEL_INIT,
			     .input_fd = -1,
			     .greeting = STR_INIT};
	if (start_session(n, clock_usec() + (uint64_t)target->timeout_s * 1000000, failure, err) <
	    0) {
		close_native(n);
		return -1;
	}
	*state = n;
	return 0;
}

#define PIECE_BYTES (32 * KIB)
#define SLOT_TRIES 40
#define SLOT_PAUSE_USEC 25000

struct exchange {
	struct native *n;
	LIBSSH2_CHANNEL *channel;
	const struct ssh_command *command;
	struct proc_result *result;
	size_t sent, line_start;
	char *more; /* from command->input_fd, and not sent yet: PIECE_BYTES; NULL until there is some */
	size_t more_bytes;
	bool eof_sent;
	char *piece;	  /* what is read at once: PIECE_BYTES */
	int output_errno; /* of the descriptor that the output goes to */
};

static void ssh_libssh2_give_lines(struct exchange *x)
{
	struct str *text = &x->result->out;
	char *end;

	while (x->command->line &&
	       (end = memchr(text->text + x->line_start, '\n', text->length - x->line_start))) {
		*end = '\0';
		x->command->line(x->command->arg, text->text + x->line_start);
		*end = '\n';
		x->line_start = (size_t)(end - text->text) + 1;
	}
	if (!x->command->only_lines)
		return;
	str_drop(text, x->line_start);
	x->line_start = 0;
}

/* Whether the command's stdin ends, once all is sent that is there. */
static bool input_is_over(struct exchange *x)
{
	const struct ssh_command *c = x->command;

	return c->input_fd > 0 ? x->n->input_fd < 0 : !c->holds_input;
}

/* Sends what came from the descriptor; 1 when something moved. */
static int send_more(struct exchange *x)
{
	ssize_t done;

	if (!x->more_bytes) {
		struct pollfd ready = {.fd = x->n->input_fd, .events = POLLIN};

		if (poll(&ready, 1, 0) <= 0)
			return 0;
		if (!x->more)
			x->more = xmalloc(PIECE_BYTES);
		done = read(ready.fd, x->more, PIECE_BYTES);
		if (done <= 0) {
			x->n->input_fd = -1;
			return 1;
		}
		x->more_bytes = (size_t)done;
	}
	done = libssh2_channel_write(x->channel, x->more, x->more_bytes);
	x->n->input_waits = done == LIBSSH2_ERROR_EAGAIN;
	if (x->n->input_waits)
		return 0;
	if (done < 0) { /* the command ended without reading it all */
		x->n->input_fd = -1;
		x->more_bytes = 0;
		return 1;
	}
	x->more_bytes -= (size_t)done;
	memmove(x->more, x->more + done, x->more_bytes);
	return 1;
}

/* Sends what can be sent of the input; 1 when something moved. */
static int send_some(struct exchange *x)
{
	const struct ssh_command *c = x->command;
	ssize_t done;

	if (c->input && x->sent < c->input_bytes) {
		done = libssh2_channel_write(x->channel, (const char *)c->input + x->sent,
					     c->input_bytes - x->sent);
		if (done == LIBSSH2_ERROR_EAGAIN)
			return 0;
		if (done < 0) { /* the command ended without reading it all */
			x->sent = c->input_bytes;
			return 1;
		}
		x->sent += (size_t)done;
		return 1;
	}
	if (x->n->input_fd >= 0)
		return send_more(x);
	if (!x->eof_sent && input_is_over(x)) {
		if (libssh2_channel_send_eof(x->channel) == LIBSSH2_ERROR_EAGAIN)
			return 0;
		x->eof_sent = true;
		return 1;
	}
	return 0;
}

/* Reads the available bytes of one stream. 1 when something came, -1 when the connection broke. */
static int ssh_libssh2_read_some(struct exchange *x, int stream, struct str *text)
{
	ssize_t got = libssh2_channel_read_ex(x->channel, stream, x->piece, PIECE_BYTES);

	if (got == LIBSSH2_ERROR_EAGAIN || got == 0)
		return 0;
	if (got < 0)
		return -1;
	if (stream == 0 && x->command->output_fd > 0) {
		if (file_write_all(x->command->output_fd, x->piece, (size_t)got) < 0)
			x->output_errno = errno;
		return 1;
	}
	str_add_bytes(text, x->piece, (size_t)got);
	if (stream == 0)
		ssh_libssh2_give_lines(x);
	return 1;
}

/*
 * A command that ends without reading its whole input leaves a window that never opens again: it is the channel, closed by
 * the host, that says that nothing more comes.
 */
static bool host_closed_channel(struct exchange *x)
{
	return libssh2_channel_eof(x->channel) && libssh2_channel_wait_closed(x->channel) == 0;
}

/*
 * A packet is half sent. It must go before the channel ends: libssh2 sends nothing else before it, also not for the next
 * command on this connection.
 */
static bool ssh_libssh2_owes(const struct exchange *x)
{
	return libssh2_session_block_directions(x->n->session) & LIBSSH2_SESSION_BLOCK_OUTBOUND;
}

static int exchange_all(struct exchange *x, uint64_t deadline_usec, struct error *err)
{
	for (;;) {
		int moved = send_some(x);
		bool pauses = x->command->paused && x->command->paused(x->command->arg);
		int out = pauses ? 0 : ssh_libssh2_read_some(x, 0, &x->result->out);
		int errors = ssh_libssh2_read_some(x, SSH_EXTENDED_DATA_STDERR, &x->result->err);

		if (out < 0 || errors < 0)
			return session_failed(x->n, "reading from the host", err);
		if (x->output_errno) {
			errno = x->output_errno;
			return error_errno(err, "cannot write what the host sends");
		}
		if (moved || out || errors)
			continue;
		x->n->pauses = pauses;
		if (!pauses && !ssh_libssh2_owes(x) &&
		    ((libssh2_channel_eof(x->channel) &&
		      (x->eof_sent || x->command->holds_input || x->command->input_fd > 0)) ||
		     host_closed_channel(x)))
			return 0;
		if (ssh_libssh2_wait_ready(x->n, deadline_usec, "the command ran", err) < 0)
			return -1;
	}
}

static int finish_channel(struct exchange *x, uint64_t deadline_usec, struct error *err)
{
	char *signal = NULL;
	int rc;

	while ((rc = libssh2_channel_close(x->channel)) == LIBSSH2_ERROR_EAGAIN)
		if (ssh_libssh2_wait_ready(x->n, deadline_usec, "the command ended", err) < 0)
			return -1;
	while ((rc = libssh2_channel_wait_closed(x->channel)) == LIBSSH2_ERROR_EAGAIN)
		if (ssh_libssh2_wait_ready(x->n, deadline_usec, "the command ended", err) < 0)
			return -1;
	x->result->status = libssh2_channel_get_exit_status(x->channel);
	libssh2_channel_get_exit_signal(x->channel, &signal, NULL, NULL, NULL, NULL, NULL);
	if (signal) {
		x->result->status = 128;
		libssh2_free(x->n->session, signal);
	}
	return 0;
}

/*
 * sshd with MaxSessions 1 (sshd_config(5)) refuses the next channel for a moment: it counts the last one until it has
 * closed it, too.
 */
static int start_command(struct exchange *x, const char *line, uint64_t deadline_usec,
			 struct error *err)
{
	int rc, again = 0;

	while (!(x->channel = libssh2_channel_open_session(x->n->session))) {
		int code = libssh2_session_last_errno(x->n->session);

		if (code == LIBSSH2_ERROR_CHANNEL_FAILURE && x->n->had_channel &&
		    again++ < SLOT_TRIES)
			usleep(SLOT_PAUSE_USEC);
		else if (code == LIBSSH2_ERROR_CHANNEL_FAILURE)
			return ssh_fault_set(x->n->target, SSH_FAULT_SESSIONS, "", err);
		else if (code != LIBSSH2_ERROR_EAGAIN)
			return session_failed(x->n, "opening a channel", err);
		else if (ssh_libssh2_wait_ready(x->n, deadline_usec, "opening a channel", err) < 0)
			return -1;
	}
	x->n->had_channel = true;
	while ((rc = libssh2_channel_exec(x->channel, line)) == LIBSSH2_ERROR_EAGAIN)
		if (ssh_libssh2_wait_ready(x->n, deadline_usec, "starting a command", err) < 0)
			return -1;
	return rc ? session_failed(x->n, "starting a command", err) : 0;
}

static int run_native(void *state, const char *line, const struct ssh_command *command,
		      uint64_t deadline_usec, struct proc_result *result, struct error *err)
{
	struct exchange x = {.n = state, .command = command, .result = result};
	_cleanup_(free_pointer) char *piece = xmalloc(PIECE_BYTES);
	int rc;

	x.piece = piece;

	x.n->command = command;
	x.n->heard_usec = clock_usec();
	x.n->input_waits = x.n->pauses = false;
	x.n->input_fd = command->input_fd > 0 ? command->input_fd : -1;
	rc = start_command(&x, line, deadline_usec, err);
	if (rc == 0)
		rc = exchange_all(&x, deadline_usec, err);
	if (rc == 0)
		rc = finish_channel(&x, deadline_usec, err);
	if (x.channel)
		while (libssh2_channel_free(x.channel) == LIBSSH2_ERROR_EAGAIN)
			if (rc < 0 || ssh_libssh2_wait_ready(x.n, deadline_usec,
							     "closing a channel", err) < 0)
				break;
	x.n->command = NULL;
	x.n->pauses = false;
	x.n->input_fd = -1;
	if (x.more)
		secret_wipe_bytes(x.more, PIECE_BYTES);
	free(x.more);
	return rc;
}

const struct ssh_transport ssh_transport_libssh2 = {
	.name = "libssh2",
	.open = open_native,
	.run = run_native,
	.close = close_native,
};
