/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/ssh_fault.h"

#include "core/clock.h"
#include "core/file.h"
#include "deployer/ssh/ssh_transport.h"
#include "deployer/ssh/tcp.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOK_BYTES 64
#define VERSION_BYTES 9 /* "SSH-1.99-" */
#define ASK_S 2		/* a busy sshd closes at once, and a web server waits for more than that */
#define LOOK_PAUSE_USEC 10000

int ssh_fault_explain(const struct ssh_target *t, enum ssh_fault fault, const char *said,
		      struct error *err)
{
	switch (fault) {
	case SSH_FAULT_SILENT:
		return error_set(
			err, ERROR_FAILED,
			"it takes the connection and says nothing: its sshd is stuck, or this is no port of sshd");
	case SSH_FAULT_NO_SSHD:
		return error_set(
			err, ERROR_FAILED,
			"what listens there is no sshd: it begins with \"%s\"; is the port right?",
			said);
	case SSH_FAULT_OLD:
		return error_set(
			err, ERROR_FAILED,
			"it speaks SSH 1 only (\"%s\"), which is broken; it needs an sshd with SSH 2",
			said);
	case SSH_FAULT_BUSY:
		return error_set(
			err, ERROR_FAILED,
			"its sshd closes the connection before it says anything: too many logins at once (MaxStartups in sshd_config; try fewer with --jobs), or it does not like this address");
	case SSH_FAULT_STUCK:
		return error_set(
			err, ERROR_FAILED,
			"it greets, and the login does not end within %d s: its sshd is stuck, or what it waits for (PAM, a name server, the login shell, a home folder on the network)",
			t->timeout_s);
	case SSH_FAULT_BROKEN:
		return error_set(
			err, ERROR_FAILED,
			"it greets, and then the connection ends or carries no SSH; the log of its sshd says why (journalctl -u ssh or sshd)");
	case SSH_FAULT_STRANGE:
		return error_set(
			err, ERROR_FAILED,
			"it and this machine have no method in common%s%s%s; see KexAlgorithms, Ciphers, MACs and HostKeyAlgorithms of its sshd_config",
			*said ? " (" : "", said, *said ? ")" : "");
	case SSH_FAULT_SESSIONS:
		return error_set(
			err, ERROR_FAILED,
			"it lets user %s log in, and opens no session; see MaxSessions of its sshd_config",
			t->user);
	case SSH_FAULT_CUT:
	case SSH_FAULT_NONE:
		break;
	}
	return error_set(err, ERROR_FAILED, "the connection broke while the command ran");
}

int ssh_fault_set(const struct ssh_target *t, enum ssh_fault fault, const char *said,
		  struct error *err)
{
	char place[200];

	ssh_fault_explain(t, fault, said, err);
	return error_wrap(err, "%s", ssh_place(t, place));
}

/* What the first bytes mean, of which all or the first line are there. */
static enum ssh_fault fault_of_greeting(const char *text, size_t length, struct str *said)
{
	if (starts_with(text, "Exceeded MaxStartups") ||
	    starts_with(text, "Not allowed at this time"))
		return SSH_FAULT_BUSY;
	if (starts_with(text, "SSH-2.") || starts_with(text, "SSH-1.99-"))
		return SSH_FAULT_NONE;
	for (size_t i = 0; i < length && text[i] != '\r' && text[i] != '\n'; i++)
		str_add_char(said, text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
	return starts_with(text, "SSH-") && length >= VERSION_BYTES ? SSH_FAULT_OLD
								    : SSH_FAULT_NONE;
}

enum ssh_fault ssh_fault_look(int fd, uint64_t deadline_usec, struct str *said)
{
	for (;;) {
		char text[LOOK_BYTES + 1] = "";
		struct pollfd ready = {.fd = fd, .events = POLLIN | POLLRDHUP};
		ssize_t got = recv(fd, text, LOOK_BYTES, MSG_PEEK);
		int left = clock_left_msec(deadline_usec);

		if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
			return SSH_FAULT_BUSY;
		if (got >= VERSION_BYTES || (got > 0 && memchr(text, '\n', (size_t)got)))
			return fault_of_greeting(text, (size_t)got, said);
		if (interrupted() || !left)
			return got > 0 ? fault_of_greeting(text, (size_t)got, said)
				       : SSH_FAULT_SILENT;
		poll(&ready, 1, left < INTERRUPT_POLL_MSEC ? left : INTERRUPT_POLL_MSEC);
		if (got > 0 && (ready.revents & (POLLRDHUP | POLLHUP))) /* no more comes */
			return fault_of_greeting(text, (size_t)got, said);
		if (got > 0)
			usleep(LOOK_PAUSE_USEC); /* it stays readable while the line is not whole */
	}
}

enum ssh_fault ssh_fault_ask(const struct ssh_target *t, struct str *said)
{
	uint64_t deadline = clock_usec() + (uint64_t)ASK_S * 1000000;
	struct error ignored = {0};
	_cleanup_(fd_close) int fd = tcp_connect(t->address, t->port, deadline, &ignored);
	enum ssh_fault fault = fd < 0 ? SSH_FAULT_NONE : ssh_fault_look(fd, deadline, said);

	return fault == SSH_FAULT_NONE && said->length ? SSH_FAULT_NO_SSHD : fault;
}
