/* SPDX-License-Identifier: MIT */
/*
 * tunnel.h - bytes to the sshd of a host: a TCP connection, or where the host has jump hosts, the system's ssh to
 * the last of them (ssh -W), or the ProxyCommand of ~/.ssh/config, at the other end of a pair of sockets.
 */
#ifndef DEPLOYER_SSH_TUNNEL_H
#define DEPLOYER_SSH_TUNNEL_H

#include "core/str.h"
#include "core/words.h"
#include "deployer/ssh/ssh.h"

#include <sys/types.h>

struct tunnel {
	int fd;	   /* non-blocking */
	pid_t pid; /* of that program; 0: there is none */
};
#define TUNNEL_INIT      \
	{                \
		.fd = -1 \
	}

/* The program that stands for the connection; no words are added where it is a TCP connection. */
void tunnel_words(const struct ssh_target *target, struct words *words);

/* -1 with the cause when nothing answers there. A jump host that cannot be reached shows as an end of the bytes. */
int tunnel_open(const struct ssh_target *target, uint64_t deadline_usec, struct tunnel *tunnel,
		struct error *err);

/* Tries the program on the way once more, for at most timeout_s; true when it says why the host cannot be reached, added to *said. */
bool tunnel_ask(const struct ssh_target *target, struct str *said);

/* -1: "not reached by the jump host bastion: SAID", with what to do where its key is not known. */
int tunnel_fault(const struct ssh_target *target, const char *said, struct error *err);

/* The same behind "HOST: ". */
int tunnel_failed(const struct ssh_target *target, const char *said, struct error *err);

/* Closes it and ends the ssh; for _cleanup_, too. */
void tunnel_close(struct tunnel *tunnel);

#endif
