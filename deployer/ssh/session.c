/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/session.h"

#include "core/arena.h"
#include "core/str.h"
#include "deployer/ssh/keys/key_signer.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

/* A handshake takes less than 16 KiB; the rest is for greetings. */
#define HANDSHAKE_CEILING_BYTES (128 * KIB)

/*
 * What ssh(1) of OpenSSH 9 offers by itself, as far as libssh2 has it: libssh2's own lists still have CBC, SHA-1 and the group of
 * 1024 bits.
 */
#define KEY_EXCHANGES                                                                         \
	"curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,"                  \
	"ecdh-sha2-nistp384,ecdh-sha2-nistp521,diffie-hellman-group-exchange-sha256,"         \
	"diffie-hellman-group16-sha512,diffie-hellman-group18-sha512,diffie-hellman-group14-" \
	"sha256"
#define CIPHERS "aes128-gcm@openssh.com,aes256-gcm@openssh.com,aes128-ctr,aes192-ctr,aes256-ctr"
#define MACS                                                           \
	"hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com," \
	"hmac-sha2-256,hmac-sha2-512"

static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void library_init(void)
{
	libssh2_init(0);
}

/* libssh2's way to receive: a negative errno for an error (session.c, _libssh2_recv). */
static ssize_t session_receive(int fd, void *buffer, size_t length, int flags, void **abstract)
{
	struct session_peer *peer = *abstract;
	ssize_t got;

	if (!peer->is_past && peer->received_bytes > HANDSHAKE_CEILING_BYTES)
		return -EPROTO;
	got = recv(fd, buffer, length, flags);
	if (got < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	if (!peer->is_past)
		peer->received_bytes += (size_t)got;
	return got;
}

static bool session_has(const char *const *names, int count, const char *name, size_t length)
{
	for (int i = 0; i < count; i++)
		if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
			return true;
	return false;
}

/*
 * Allows those of the names that this libssh2 has. It would pass over the others by itself, by a memcpy onto the same bytes
 * (libssh2 1.10, session.c of libssh2_session_method_pref).
 */
static void session_allow(LIBSSH2_SESSION *session, int method, const char *names)
{
	_cleanup_(str_release) struct str known = STR_INIT;
	const char **supported = NULL;
	int count = libssh2_session_supported_algs(session, method, &supported);

	for (; *names && count > 0; names += *names == ',') {
		size_t length = strcspn(names, ",");

		if (session_has(supported, count, names, length))
			str_addf(&known, "%s%.*s", known.length ? "," : "", (int)length, names);
		names += length;
	}
	if (known.length)
		libssh2_session_method_pref(session, method, known.text);
	libssh2_free(session, supported);
}

static void session_allow_all(LIBSSH2_SESSION *session, const char *host_key_types)
{
	session_allow(session, LIBSSH2_METHOD_KEX, KEY_EXCHANGES);
	session_allow(session, LIBSSH2_METHOD_CRYPT_CS, CIPHERS);
	session_allow(session, LIBSSH2_METHOD_CRYPT_SC, CIPHERS);
	session_allow(session, LIBSSH2_METHOD_MAC_CS, MACS);
	session_allow(session, LIBSSH2_METHOD_MAC_SC, MACS);
	session_allow(session, LIBSSH2_METHOD_HOSTKEY, host_key_types);
}

LIBSSH2_SESSION *session_new(struct session_peer *peer, const char *host_key_types)
{
	LIBSSH2_SESSION *session;

	pthread_once(&library_once, library_init);
	session = libssh2_session_init_ex(NULL, NULL, NULL, peer);
	if (!session)
		oom();
	libssh2_session_set_blocking(session, 0);
	libssh2_session_callback_set(session, LIBSSH2_CALLBACK_RECV, (void *)session_receive);
	session_allow_all(session, host_key_types);
	return session;
}

int session_handshake(LIBSSH2_SESSION *session, int fd, struct session_peer *peer)
{
	int rc = libssh2_session_handshake(session, fd);

	peer->is_past = rc == 0;
	return rc;
}

/* For libssh2, which frees the signature. */
static int session_sign(LIBSSH2_SESSION *session, unsigned char **signature, size_t *length,
			const unsigned char *data, size_t data_length, void **abstract)
{
	(void)session;
	*signature = xmalloc(KEY_SIGNATURE_BYTES);
	*length = KEY_SIGNATURE_BYTES;
	return key_signer_sign(*abstract, data, data_length, *signature);
}

int session_login_by_file(LIBSSH2_SESSION *session, const char *user, const char *path)
{
	const struct key_signer *signer = key_signer_find(path);
	void *abstract = (void *)signer;

	if (!signer)
		return libssh2_userauth_publickey_fromfile(session, user, NULL, path, NULL);
	return libssh2_userauth_publickey(session, user, key_signer_blob(signer), KEY_BLOB_BYTES,
					  session_sign, &abstract);
}
