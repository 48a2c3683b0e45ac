/* SPDX-License-Identifier: MIT */
/*
 * session.h - a session of libssh2 whose peer may send only so much before the handshake is over.
 *
 * A server may send any lines before its version (RFC 4253, section 4.2). libssh2 reads them in a loop of its own
 * that looks at no deadline while more comes, so a peer that never stops would hold us for ever.
 */
#ifndef DEPLOYER_SSH_SESSION_H
#define DEPLOYER_SSH_SESSION_H

#include "core/log.h"

#include <libssh2.h>

/* What the callbacks of a session find; it must live as long as the session. */
struct session_peer {
	size_t received_bytes;	       /* before the handshake was over */
	bool is_past;		       /* it is */
	const struct secret *password; /* for sshd's questions, or NULL */
};

/* A non-blocking session. It prefers these types of host keys. Never NULL. */
LIBSSH2_SESSION *session_new(struct session_peer *peer, const char *host_key_types);

/* libssh2_session_handshake with the ceiling. */
int session_handshake(LIBSSH2_SESSION *session, int fd, struct session_peer *peer);

/* One try with a key file, which is read once for all sessions (key_signer.h) or by libssh2; libssh2's status. */
int session_login_by_file(LIBSSH2_SESSION *session, const char *user, const char *path);

#endif
