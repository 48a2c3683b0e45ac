/* SPDX-License-Identifier: MIT */
/* tcp.h - a TCP connection by a deadline. */
#ifndef DEPLOYER_SSH_TCP_H
#define DEPLOYER_SSH_TCP_H

#include "core/error.h"

/*
 * Connects to a name or address and tries each of its addresses. Returns a non-blocking descriptor
 * with TCP_NODELAY and keep-alive, or -1 with the cause: not resolved, refused, unreachable, no
 * answer in time.
 */
int tcp_connect(const char *address, int port, uint64_t deadline_usec, struct error *err);

/* -1, with what the errno of a connection that was not made means for a person. */
int tcp_explain(int code, int port, struct error *err);

#endif
