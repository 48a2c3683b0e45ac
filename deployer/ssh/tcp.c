/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/tcp.h"

#include "core/clock.h"
#include "core/file.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int tcp_explain(int code, int port, struct error *err)
{
	switch (code) {
	case ECONNREFUSED:
		return error_set(
			err, ERROR_FAILED,
			"connection refused: nothing listens on port %d there; is sshd running?",
			port);
	case ETIMEDOUT:
		return error_set(err, ERROR_FAILED,
				 "no answer: the host is down, or a firewall drops port %d", port);
	case EHOSTUNREACH:
	case ENETUNREACH:
		return error_set(err, ERROR_FAILED,
				 "%s: the host is down or there is no route to it", strerror(code));
	default:
		return error_set(err, ERROR_FAILED, "cannot connect: %s", strerror(code));
	}
}

/* 0, or the errno that ended the attempt; EINTR when the person interrupted. */
static int tcp_finish_connect(int fd, uint64_t deadline_usec)
{
	struct pollfd poller = {.fd = fd, .events = POLLOUT};
	int code = 0;
	socklen_t length = sizeof(code);

	for (;;) {
		int left = clock_left_msec(deadline_usec);

		if (interrupted())
			return EINTR;
		if (!left)
			return ETIMEDOUT;
		if (poll(&poller, 1, left < INTERRUPT_POLL_MSEC ? left : INTERRUPT_POLL_MSEC) > 0)
			break;
	}
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &length);
	return code;
}

static int connect_one(const struct addrinfo *where, uint64_t deadline_usec, int *code)
{
	int on = 1;
	int fd = socket(where->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		*code = errno;
		return -1;
	}
	*code = connect(fd, where->ai_addr, where->ai_addrlen) == 0 ? 0 : errno;
	if (*code == EINPROGRESS)
		*code = tcp_finish_connect(fd, deadline_usec);
	if (*code) {
		fd_close(&fd);
		return -1;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	return fd;
}

int tcp_connect(const char *address, int port, uint64_t deadline_usec, struct error *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
	char service[16];
	int fd = -1, code = 0, rc;

	snprintf(service, sizeof(service), "%d", port);
	rc = getaddrinfo(address, service, &hints, &list);
	if (rc)
		return error_set(
			err, ERROR_FAILED,
			"the name cannot be resolved (%s); use an address in cluster.yaml or add the name to DNS",
			gai_strerror(rc));
	for (struct addrinfo *one = list; one && fd < 0; one = one->ai_next)
		fd = connect_one(one, deadline_usec, &code);
	freeaddrinfo(list);
	if (fd >= 0)
		return fd;
	if (code == EINTR)
		return interrupt_check(err);
	return tcp_explain(code, port, err);
}
