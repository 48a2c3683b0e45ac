/* SPDX-License-Identifier: MIT */
/*
 * ssh_config.h - what ~/.ssh/config says of one host, as far as it can be said without running anything.
 *
 * Source: ssh_config(5) of OpenSSH 9.2. The first value that is found wins; IdentityFile collects. Host with
 * wildcards and negation, Include, and Match by all, host, originalhost, user, localuser and canonical are
 * decided here. What is not (Match exec, ProxyCommand, ProxyJump, algorithms, certificates, any option that
 * this reader does not know) is named in `beyond`: then only the system's ssh does what the file says.
 */
#ifndef DEPLOYER_SSH_SSH_CONFIG_H
#define DEPLOYER_SSH_SSH_CONFIG_H

#include "core/error.h"
#include "core/words.h"

struct ssh_config {
	const char *hostname; /* "" where the file says nothing, as for the others */
	const char *user;     /* a value that is there before the file is read wins */
	int port;	      /* 0; the same */
	const char *host_key_alias;
	const char *identity_agent;    /* a path, none or SSH_AUTH_SOCK */
	struct words identity_files;   /* paths as ssh would open them */
	struct words user_known_hosts; /* the same; "none" where the file says so */
	struct words global_known_hosts;
	const char *identities_only; /* yes or no */
	const char *strict_keys;     /* StrictHostKeyChecking: yes, ask, accept-new, no or off */
	bool jump_given;	     /* before the file is read: its jump hosts do not count */
	const char *beyond;	     /* "ProxyCommand in FILE:LINE"; "" when nothing is */
	bool is_unsure; /* another user, port or address may follow from what `beyond` names: ask ssh -G */
	const char *proxy_jump, *proxy_command; /* as the file has them; none counts */
	bool has_remote_command;
	bool names_ciphers; /* for any host: which of them count may hang on what is not decided here */
};

/* Nothing is known of the host. */
void ssh_config_init(struct ssh_config *config, struct arena *arena);

/*
 * Reads one file for `host`, the name that a person would give to ssh. `usual_user` is who logs in when
 * nobody says it. A missing file says nothing. ERROR_USAGE with file and line when ssh would refuse it,
 * too. Call it for the user's file first, then for /etc/ssh/ssh_config, then ssh_config_finish.
 */
int ssh_config_read(struct ssh_config *config, const char *path, const char *host,
		    const char *usual_user, struct error *err);

/* Puts tokens (%h, %d ...) and "~" into the paths, once all files are read. */
void ssh_config_finish(struct ssh_config *config, const char *host, const char *usual_user);

#endif
