/* SPDX-License-Identifier: MIT */
/* ssh_transport.h - the record behind ssh.h; one per transport. For ssh*.c only. */
#ifndef DEPLOYER_SSH_SSH_TRANSPORT_H
#define DEPLOYER_SSH_SSH_TRANSPORT_H

#include "core/words.h"
#include "deployer/ssh/ssh.h"

#define SSH_SAID_BYTES 700 /* of a failed program's last words in an error */

/* Why there is no connection; it says what may be tried next. */
enum ssh_failure {
	SSH_FAILED_OTHERWISE,
	SSH_FAILED_BUSY,     /* sshd takes nobody at the moment (MaxStartups): later */
	SSH_FAILED_LOGIN,    /* the host refused every key: others */
	SSH_FAILED_HOST_KEY, /* only the system's ssh can check its host key: a certificate, or RSA */
};

struct ssh_transport {
	const char *name;
	/* *state belongs to the transport; `run` and `close` get it. *failure is set with the error. */
	int (*open)(const struct ssh_target *target, void **state, enum ssh_failure *failure,
		    struct error *err);
	/* `line` is the whole quoted command line. result is already initialized. */
	int (*run)(void *state, const char *line, const struct ssh_command *command,
		   uint64_t deadline_usec, struct proc_result *result, struct error *err);
	void (*close)(void *state);
};

extern const struct ssh_transport ssh_transport_libssh2, ssh_transport_openssh, ssh_transport_local;

/* The command for core/proc.h, but for its words. */
struct proc ssh_command_proc(const struct ssh_command *command, uint64_t deadline_usec);

/* The words of an open connection of the system's ssh; see ssh_open_words. */
const char *const *ssh_openssh_words(void *state);

/*
 * Adds the system's ssh with the options that reach the host as cluster.yaml and ~/.ssh/config say: keys, files of
 * host keys, user, port, jump hosts. The host itself is not among them.
 */
void ssh_openssh_add_way(const struct ssh_target *target, struct words *words);

/* The option with all jump hosts before the target: ProxyCommand=..., with their own keys. */
const char *ssh_openssh_proxy(const struct ssh_target *target, struct arena *arena);

#define SSH_TIMEOUT_DEFAULT_S 60
#define SSH_OUTPUT_CEILING_BYTES (8 * MIB)

/* Where the host is, for errors: "node01 (10.0.0.1 port 22)". */
const char *ssh_place(const struct ssh_target *target, char buffer[static 200]);

/*
 * Seconds without a sign of life, after which a host counts as lost. Both transports ask it four
 * times in that time (RFC 4254, section 4: a global request with want-reply), so a host that has
 * nothing to say still answers. $RINGUP_SILENCE_S stands for it in tests.
 */
int ssh_silence_s(void);
#define SSH_ASKS 4

#endif
