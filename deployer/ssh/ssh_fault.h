/* SPDX-License-Identifier: MIT */
/*
 * ssh_fault.h - what a host does wrong between the connection and the first command, in the same words for both transports and
 * for whoever asks a host for its keys.
 */
#ifndef DEPLOYER_SSH_SSH_FAULT_H
#define DEPLOYER_SSH_SSH_FAULT_H

#include "core/str.h"
#include "deployer/ssh/ssh.h"

enum ssh_fault {
	SSH_FAULT_NONE,
	SSH_FAULT_SILENT,  /* it takes the connection and says nothing */
	SSH_FAULT_NO_SSHD, /* something else listens there: `said` is how it begins */
	SSH_FAULT_OLD,	   /* it speaks SSH 1 only: `said` is its version */
	SSH_FAULT_BUSY, /* it closes before it greets: MaxStartups, PerSourcePenalties (sshd_config(5)) */
	SSH_FAULT_STUCK,  /* it greets, and the login does not end within target->timeout_s */
	SSH_FAULT_BROKEN, /* it greets, and the connection ends or carries no SSH */
	SSH_FAULT_STRANGE, /* no key exchange, cipher or host key type in common: `said` has them, or is "" */
	SSH_FAULT_SESSIONS, /* the login works, and no session is opened: MaxSessions */
	SSH_FAULT_CUT,	    /* the connection ended while a command ran */
};

/* Sets the error without the host's name. */
int ssh_fault_explain(const struct ssh_target *target, enum ssh_fault fault, const char *said,
		      struct error *err);

/* The same with its name: "node01 (10.0.0.1 port 22): ...". */
int ssh_fault_set(const struct ssh_target *target, enum ssh_fault fault, const char *said,
		  struct error *err);

/*
 * Looks at the first bytes that a peer says, and leaves them to be read. SSH_FAULT_NONE where it may go on: it greets
 * as sshd does, or *said holds a line before that, as RFC 4253, section 4.2 allows it. SSH_FAULT_SILENT past the
 * deadline and after Ctrl-C.
 */
enum ssh_fault ssh_fault_look(int fd, uint64_t deadline_usec, struct str *said);

/*
 * Connects once more and looks, for a host that the system's ssh could not log in to: it tells a busy sshd from what is none.
 * SSH_FAULT_NONE where it greets as sshd does, or is not reached.
 */
enum ssh_fault ssh_fault_ask(const struct ssh_target *target, struct str *said);

#endif
