/* SPDX-License-Identifier: MIT */
/* host_key_check.h - whether the host that libssh2 talks to is the one that known_hosts knows. */
#ifndef DEPLOYER_SSH_KEYS_HOST_KEY_CHECK_H
#define DEPLOYER_SSH_KEYS_HOST_KEY_CHECK_H

#include "deployer/ssh/keys/known_hosts.h"
#include "deployer/ssh/ssh_transport.h"

#include <libssh2.h>

/* Adds the types of host keys to ask for, the known ones first, with ',' between. */
void host_key_types(const struct known_hosts *known, struct str *types);

/* The host's name in known_hosts. In the arena, or the target's own. */
const char *host_key_known_name(const struct ssh_target *target, struct arena *arena);

/* Adds to the error of an unknown key that ~/.ssh/config would take it, where it would. -1. */
int host_key_say_lax(const struct ssh_target *target, struct error *err);

/*
 * Whether known_hosts has the key that the host has shown. The error says what is wrong with it and what to do; *failure
 * is set where the system's ssh can tell more.
 */
int host_key_check(LIBSSH2_SESSION *session, const struct ssh_target *target,
		   const struct known_hosts *known, struct arena *arena, enum ssh_failure *failure,
		   struct error *err);

#endif
