/* SPDX-License-Identifier: MIT */
/*
 * ssh.h - one connection to one host, and commands on it.
 *
 * Each ringup command opens one connection per host and keeps it, because sshd spends about 0.12 s
 * of CPU on each login. There are two transports. ssh_libssh2.c uses libssh2 inside the process.
 * ssh_openssh.c runs the system's `ssh` with a shared connection, for what libssh2 cannot do: jump
 * hosts, RSA and FIDO keys, certificates, some options of ~/.ssh/config. `auto` chooses one of them;
 * their results are the same. Only one thread may use a connection at a time.
 *
 * Host keys are always checked against known_hosts; nothing here ever adds to that file.
 */
#ifndef DEPLOYER_SSH_SSH_H
#define DEPLOYER_SSH_SSH_H

#include "core/error.h"
#include "core/log.h"
#include "core/proc.h"

#include <stdatomic.h>

struct ssh_target {
	const char *name; /* for errors: as cluster.yaml spells it */
	const char *host; /* what the system's ssh is told: ~/.ssh/config knows it by that */
	const char *address, *user;
	int port;
	const char *const *keys; /* private key files, in the order in which they are tried */
	bool keys_given;	 /* cluster.yaml names the key */
	bool identities_only;	 /* of an agent's keys only those of `keys` */
	const char *agent;	 /* socket of an ssh-agent, or "" */
	const char *const *known_hosts;	    /* files of the user; the first is named in errors */
	const char *const *known_hosts_all; /* and of the machine */
	bool is_lax;		    /* ~/.ssh/config takes any new key, which ringup does not */
	bool known_hosts_given;	    /* cluster.yaml names the file */
	const char *host_key_alias; /* its name in these files, or "" */
	const char *config;	    /* for ssh -F: a file, none, or "" for ssh's own */
	const char *
		beyond; /* what only the system's ssh can do for it, "ProxyCommand in FILE:LINE"; or "" */
	/* the way of ~/.ssh/config to it, with all values in their places; "" for none. Not where `via` is the way */
	const char *proxy_jump, *proxy_command;
	bool has_remote_command;      /* ~/.ssh/config has a command for its logins */
	bool names_ciphers;	      /* ~/.ssh/config or the machine's file names ciphers */
	const struct ssh_target *via; /* the last jump host before it; NULL: none */
	const char *jump;	      /* all of them, USER@HOST:PORT,...; "" when none */
	bool direct; /* cluster.yaml says how to reach it: no jump host of ~/.ssh/config */
	const char *transport; /* auto, libssh2, openssh; local: this machine, no connection */
	const struct secret *password; /* to log in with, in place of keys; or NULL */
	bool sudo;		       /* prefix every command with sudo */
	int keep_s;    /* the connection stays open that long for the next process; 0: not */
	int timeout_s; /* to connect and log in */
};

/* Whether it is reached by way of a jump host or a program, and not by a connection from here. */
static inline bool ssh_target_has_way(const struct ssh_target *target)
{
	return target->via || *target->proxy_jump || *target->proxy_command;
}

struct ssh;

/*
 * Connects, checks the host key, logs in. Errors name the host, address and port, the cause (not
 * resolved, refused, no answer, wrong or unknown host key, key refused) and what to do. Where the host
 * let nobody in, err->system is EACCES.
 */
int ssh_open(const struct ssh_target *target, struct ssh **ssh, struct error *err);

/*
 * The same with the system's ssh, for programs that reach the host by a command. The caller appends
 * one word to *words: the command line for the host's shell. *words are valid until ssh_close.
 */
int ssh_open_words(const struct ssh_target *target, struct ssh **ssh, const char *const **words,
		   struct error *err);

/* Closes and frees; NULL is fine. */
void ssh_close(struct ssh *ssh);

/* For _cleanup_. */
static inline void ssh_closep(struct ssh **ssh)
{
	ssh_close(*ssh);
}

struct ssh_command {
	const char *const *words; /* quoted by core/quote.h; never a format string */
	const void *input;	  /* for its stdin; NULL: empty */
	size_t input_bytes;
	/*
	 * The command's stdin stays open after `input` until it ends. So the command can tell that
	 * ringup or the connection is gone: its stdin ends.
	 */
	bool holds_input;
	/*
	 * > 0: what comes from this descriptor follows `input`, until its end. So two threads can hold
	 * a conversation with a program on the host.
	 */
	int input_fd;
	/* > 0: stdout goes to this descriptor in place of result->out; writing there may block. */
	int output_fd;
	bool output_is_ours; /* only this process has that descriptor: whoever writes there may make it non-blocking */
	int timeout_s; /* 0: 60 */
	/* Called for each whole line of stdout as it comes; may be NULL. */
	void (*line)(void *arg, const char *line);
	void *arg;
	bool (*paused)(void *arg);  /* while it says true, stdout is not read; may be NULL */
	bool only_lines;	    /* result->out keeps no line, and has no ceiling */
	bool even_when_interrupted; /* Ctrl-C does not end the wait */
	/* The wait ends when it becomes true; may be NULL. The command may go on on the host. */
	const atomic_bool *cancel;
};

/*
 * Runs it to its end. Returns 0 for every exit status, and -1 when the connection broke, the
 * deadline passed or the person interrupted. The caller always releases *result.
 */
int ssh_run(struct ssh *ssh, const struct ssh_command *command, struct proc_result *result,
	    struct error *err);

/* Like ssh_run, but -1 unless the status is 0. The error is `what` and the last lines of output. */
int ssh_check(struct ssh *ssh, const struct ssh_command *command, const char *what,
	      struct proc_result *result, struct error *err);

/*
 * Drops the last line of an engine's error that points to the engine's own help: ringup adds its
 * own advice.
 */
void ssh_drop_hints(struct str *said);

/* The command line a person could paste to do the same: "ssh -p 22 root@10.0.0.1 'docker ps'". */
void ssh_command_text(const struct ssh_target *target, const char *const *words, struct str *out);

/* Its two parts: "ssh -p 22 root@10.0.0.1 ", and the line for the host's shell, which is one more word. */
void ssh_command_place(const struct ssh_target *target, struct str *out);
void ssh_command_line(const struct ssh_target *target, const char *const *words, struct str *out);

/* How many connections this process has opened so far. */
unsigned int ssh_connections_opened(void);

#endif
