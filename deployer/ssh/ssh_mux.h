/* SPDX-License-Identifier: MIT */
/*
 * ssh_mux.h - a command on the connection of an ssh that runs already, over its control socket.
 *
 * A client of OpenSSH's PROTOCOL.mux, version 4 (OpenSSH 5.4 and newer): it hands its three descriptors to the
 * master, which then does all the work. So a command costs no ssh process here, which takes 11 ms.
 */
#ifndef DEPLOYER_SSH_SSH_MUX_H
#define DEPLOYER_SSH_SSH_MUX_H

#include "core/proc.h"

#include <stdint.h>

struct ssh_mux {
	int fd;
	int timeout_s;	  /* for an answer of the master */
	const char *line; /* for the host's shell; borrowed */
	uint32_t session;
	bool is_refused; /* the master or the host takes no further session, so the command did not run */
};

/* Connects to the control socket. False when no master answers there; then there is nothing to close. */
bool ssh_mux_open(struct ssh_mux *mux, const char *path, const char *line, int timeout_s);
void ssh_mux_close(struct ssh_mux *mux);

/*
 * Runs the line of a struct ssh_mux, its state. The status is 255 when the master ends without one, as that of
 * ssh(1) is. The master makes the descriptors non-blocking, so they must be of nobody else.
 */
extern const struct proc_runner ssh_mux_runner;

#endif
