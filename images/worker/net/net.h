/* SPDX-License-Identifier: MIT */
/*
 * TCP sockets with deadlines. Every socket made here is non-blocking, close-on-exec and has
 * TCP_NODELAY; every call that waits takes an absolute deadline of clock_usec() and nothing waits
 * without one.
 *
 * Functions return 0 (or a descriptor, owned by the caller) on success and -errno on failure; an
 * orderly end of stream counts as -ECONNRESET.
 */
#ifndef WORKER_NET_H
#define WORKER_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define ADDRESS_BYTES 64 /* a numeric address with its NUL */

struct endpoint {
	struct sockaddr_storage addr;
	socklen_t bytes;
};

/* Splits "host:port" or "[v6]:port" in place of the two buffers. Returns -1 if it is neither. */
int net_split(const char *text, char *host, size_t host_bytes, char *port, size_t port_bytes);

/* Looks @host and @port (may be "0") up. Returns 0 or an EAI_ number for gai_strerror(). */
int net_resolve(const char *host, const char *port, struct endpoint *endpoint);

/* The same of all its addresses, in the order in which they are to be tried; up to @most of them. */
int net_resolve_all(const char *host, const char *port, struct endpoint *list, int most,
		    int *count);

bool net_is_loopback(const struct endpoint *endpoint);
uint16_t net_port(const struct endpoint *endpoint);
void net_set_port(struct endpoint *endpoint, uint16_t port);

/* Whether @name is a numeric address, with or without a %interface: nobody has to be asked for it. */
bool net_is_numeric(const char *name);

/* Numeric address of @endpoint without its port. */
void net_name(const struct endpoint *endpoint, char name[ADDRESS_BYTES]);

/* Listens on *@endpoint and stores the port the kernel chose, if it was 0. */
int net_listen(struct endpoint *endpoint);

/* The local or remote address of a connection. */
int net_local(int fd, struct endpoint *endpoint);
int net_remote(int fd, struct endpoint *endpoint);

/* Whether a connection does not leave this machine: both ends have one address, or a loopback's. */
bool net_is_inside(int fd);

/* No more than about @bytes are under way on @fd from now on, instead of what the kernel finds best
 * for the network (socket(7), SO_SNDBUF). */
void net_limit_send(int fd, int bytes);

/* One attempt to connect. */
int net_connect(const struct endpoint *endpoint, int64_t deadline_usec);

/* Takes one connection from @listener; -EAGAIN if none is there. */
int net_accept(int listener);

/* Sends or receives exactly @bytes. */
int net_send(int fd, const void *data, size_t bytes, int64_t deadline_usec);
int net_recv(int fd, void *data, size_t bytes, int64_t deadline_usec);

/* Receives what is there, at most @bytes: more than 0, 0 if nothing is there now, or -errno. */
ssize_t net_recv_some(int fd, void *data, size_t bytes);
ssize_t net_send_some(int fd, const void *data, size_t bytes);

/* Closes @count connections (-1 is skipped) so that the far ends can read what was sent last:
 * closing with unread input would reset them. Waits for the far ends to close, at most
 * @most_usec in all. */
void net_close_all(const int *fds, int count, int64_t most_usec);

#endif
