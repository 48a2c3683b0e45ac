/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* accept4 */
#include "net/net.h"
#include "clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACKLOG 1024

int net_split(const char *text, char *host, size_t host_bytes, char *port, size_t port_bytes)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;

	if (!colon || length == 0 || colon[1] == '\0')
		return -1;
	if (text[0] == '[' && text[length - 1] == ']') {
		text++;
		length -= 2;
	} else if (memchr(text, ':', length)) {
		return -1;
	}
	if (length >= host_bytes || strlen(colon + 1) >= port_bytes)
		return -1;
	memcpy(host, text, length);
	host[length] = '\0';
	memcpy(port, colon + 1, strlen(colon + 1) + 1);
	return strspn(port, "0123456789") == strlen(port) && strtoul(port, NULL, 10) <= 65535 ? 0
											      : -1;
}

int net_resolve_all(const char *host, const char *port, struct endpoint *list, int most, int *count)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
	int rc = getaddrinfo(host, port, &hints, &found);

	*count = 0;
	if (rc != 0)
		return rc;
	for (const struct addrinfo *at = found; at && *count < most; at = at->ai_next) {
		struct endpoint *endpoint = &list[(*count)++];

		memset(endpoint, 0, sizeof(*endpoint));
		memcpy(&endpoint->addr, at->ai_addr, at->ai_addrlen);
		endpoint->bytes = at->ai_addrlen;
	}
	freeaddrinfo(found);
	return 0;
}

int net_resolve(const char *host, const char *port, struct endpoint *endpoint)
{
	int count;

	return net_resolve_all(host, port, endpoint, 1, &count);
}

bool net_is_loopback(const struct endpoint *endpoint)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&endpoint->addr;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&endpoint->addr;

	if (endpoint->addr.ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	return endpoint->addr.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

uint16_t net_port(const struct endpoint *endpoint)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&endpoint->addr;

	return ntohs(v4->sin_port); /* sin6_port lies at the same place */
}

void net_set_port(struct endpoint *endpoint, uint16_t port)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&endpoint->addr;

	v4->sin_port = htons(port);
}

bool net_is_numeric(const char *name)
{
	char text[ADDRESS_BYTES];
	uint8_t bytes[16];

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(name, "%"), name);
	return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

void net_name(const struct endpoint *endpoint, char name[ADDRESS_BYTES])
{
	if (getnameinfo((const struct sockaddr *)&endpoint->addr, endpoint->bytes, name,
			ADDRESS_BYTES, NULL, 0, NI_NUMERICHOST) != 0)
		snprintf(name, ADDRESS_BYTES, "unknown");
}

static void tune(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

int net_listen(struct endpoint *endpoint)
{
	int on = 1,
	    fd = socket(endpoint->addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&endpoint->addr, endpoint->bytes) < 0 ||
	    listen(fd, BACKLOG) < 0 || net_local(fd, endpoint) < 0) {
		int error = errno;

		close(fd);
		return -error;
	}
	return fd;
}

int net_local(int fd, struct endpoint *endpoint)
{
	endpoint->bytes = sizeof(endpoint->addr);
	return getsockname(fd, (struct sockaddr *)&endpoint->addr, &endpoint->bytes);
}

int net_remote(int fd, struct endpoint *endpoint)
{
	endpoint->bytes = sizeof(endpoint->addr);
	return getpeername(fd, (struct sockaddr *)&endpoint->addr, &endpoint->bytes);
}

bool net_is_inside(int fd)
{
	struct endpoint here, there;
	char own[ADDRESS_BYTES], other[ADDRESS_BYTES];

	if (net_local(fd, &here) < 0 || net_remote(fd, &there) < 0)
		return false;
	net_name(&here, own);
	net_name(&there, other);
	return net_is_loopback(&there) || strcmp(own, other) == 0;
}

void net_limit_send(int fd, int bytes)
{
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

/* Waits until @fd is ready for @events. */
static int net_wait_ready(int fd, short events, int64_t deadline_usec)
{
	for (;;) {
		struct pollfd ready = {.fd = fd, .events = events};
		int rc = poll(&ready, 1, clock_left_msec(deadline_usec, 1000));

		if (rc > 0)
			return 0;
		if (rc < 0 && errno != EINTR)
			return -errno;
		if (clock_usec() >= deadline_usec)
			return -ETIMEDOUT;
	}
}

static int net_finish_connect(int fd, int64_t deadline_usec)
{
	int error = 0, rc = net_wait_ready(fd, POLLOUT, deadline_usec);
	socklen_t bytes = sizeof(error);

	if (rc < 0)
		return rc;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) < 0)
		return -errno;
	return -error;
}

int net_connect(const struct endpoint *endpoint, int64_t deadline_usec)
{
	int rc, fd = socket(endpoint->addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			    0);

	if (fd < 0)
		return -errno;
	tune(fd);
	rc = connect(fd, (const struct sockaddr *)&endpoint->addr, endpoint->bytes) < 0 ? -errno
											: 0;
	if (rc == -EINPROGRESS)
		rc = net_finish_connect(fd, deadline_usec);
	if (rc < 0) {
		close(fd);
		return rc;
	}
	return fd;
}

int net_accept(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	tune(fd);
	return fd;
}

ssize_t net_recv_some(int fd, void *data, size_t bytes)
{
	ssize_t got = recv(fd, data, bytes, MSG_DONTWAIT);

	if (got > 0)
		return got;
	if (got == 0)
		return bytes == 0 ? 0 : -ECONNRESET;
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -errno;
}

ssize_t net_send_some(int fd, const void *data, size_t bytes)
{
	ssize_t sent = send(fd, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent >= 0)
		return sent;
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -errno;
}

int net_send(int fd, const void *data, size_t bytes, int64_t deadline_usec)
{
	const char *next = data;

	while (bytes > 0) {
		ssize_t sent = net_send_some(fd, next, bytes);

		if (sent < 0)
			return (int)sent;
		next += sent;
		bytes -= (size_t)sent;
		if (sent == 0) {
			int rc = net_wait_ready(fd, POLLOUT, deadline_usec);

			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

int net_recv(int fd, void *data, size_t bytes, int64_t deadline_usec)
{
	char *next = data;

	while (bytes > 0) {
		ssize_t got = net_recv_some(fd, next, bytes);

		if (got < 0)
			return (int)got;
		next += got;
		bytes -= (size_t)got;
		if (got == 0) {
			int rc = net_wait_ready(fd, POLLIN, deadline_usec);

			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static void net_drain(int fd, int64_t deadline_usec)
{
	char waste[4096];

	while (clock_usec() < deadline_usec) {
		ssize_t got = net_recv_some(fd, waste, sizeof(waste));

		if (got < 0 || (got == 0 && net_wait_ready(fd, POLLIN, deadline_usec) < 0))
			return;
	}
}

void net_close_all(const int *fds, int count, int64_t most_usec)
{
	int64_t deadline = clock_usec() + most_usec;

	for (int i = 0; i < count; i++)
		if (fds[i] >= 0)
			shutdown(fds[i], SHUT_WR);
	for (int i = 0; i < count; i++) {
		if (fds[i] < 0)
			continue;
		net_drain(fds[i], deadline);
		close(fds[i]);
	}
}
