/* SPDX-License-Identifier: MIT */
/*
 * host_certificate.h - host keys that an authority vouches for: @cert-authority in known_hosts (sshd(8), "SSH_KNOWN_HOSTS FILE
 * FORMAT"). libssh2 knows no certificates, so the system's ssh checks them: authority, name, time and revocation.
 */
#ifndef DEPLOYER_SSH_KEYS_HOST_CERTIFICATE_H
#define DEPLOYER_SSH_KEYS_HOST_CERTIFICATE_H

#include "core/arena.h"
#include "deployer/ssh/ssh.h"

/*
 * "SHA256:..." of the host's own key, where it shows a certificate for it that the target's known_hosts accepts; "" where it
 * shows none, or ssh refuses it. Connects, and does not log in.
 */
const char *host_certificate_key(const struct ssh_target *target, struct arena *arena);

#endif
