/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/keys/host_key.h"

#include "core/clock.h"
#include "core/file.h"
#include "deployer/ssh/session.h"
#include "deployer/ssh/ssh_fault.h"
#include "deployer/ssh/ssh_transport.h"
#include "deployer/ssh/tunnel.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

const char *host_key_type(int type)
{
	switch (type) {
	case LIBSSH2_HOSTKEY_TYPE_ED25519:
		return "ssh-ed25519";
	case LIBSSH2_HOSTKEY_TYPE_ECDSA_256:
		return "ecdsa-sha2-nistp256";
	case LIBSSH2_HOSTKEY_TYPE_ECDSA_384:
		return "ecdsa-sha2-nistp384";
	case LIBSSH2_HOSTKEY_TYPE_ECDSA_521:
		return "ecdsa-sha2-nistp521";
	case LIBSSH2_HOSTKEY_TYPE_RSA:
		return "ssh-rsa";
	default:
		return "unknown";
	}
}

void host_key_fingerprint(const void *key, size_t length, char text[static HOST_KEY_PRINT_BYTES])
{
	unsigned char hash[SHA256_DIGEST_LENGTH];
	char base64[64];

	SHA256(key, length, hash);
	EVP_EncodeBlock((unsigned char *)base64, hash, sizeof(hash));
	base64[strcspn(base64, "=")] = '\0';
	snprintf(text, HOST_KEY_PRINT_BYTES, "SHA256:%.50s", base64);
}

size_t host_key_decode(const char *base64, unsigned char *bytes)
{
	size_t length = strlen(base64);
	int got = length > INT_MAX
			  ? 0
			  : EVP_DecodeBlock(bytes, (const unsigned char *)base64, (int)length);

	/* it counts the padding as bytes */
	for (size_t end = length; got > 0 && end > 0 && base64[end - 1] == '='; end--)
		got--;
	return got > 0 ? (size_t)got : 0;
}

bool host_key_of(LIBSSH2_SESSION *session, struct arena *arena, struct host_key *key)
{
	size_t length = 0;
	int type;
	const char *bytes = libssh2_session_hostkey(session, &length, &type);
	char *base64;

	if (!bytes)
		return false;
	base64 = arena_alloc(arena, length * 4 / 3 + 8);
	EVP_EncodeBlock((unsigned char *)base64, (const unsigned char *)bytes, (int)length);
	key->base64 = base64;
	key->type = host_key_type(type);
	host_key_fingerprint(bytes, length, key->fingerprint);
	return true;
}

/* Waits for the socket. False past the deadline and after Ctrl-C. */
static bool host_key_wait(LIBSSH2_SESSION *session, int fd, uint64_t deadline_usec)
{
	int directions = libssh2_session_block_directions(session);
	struct pollfd ready = {.fd = fd};
	int left = clock_left_msec(deadline_usec);

	ready.events = (short)((directions & LIBSSH2_SESSION_BLOCK_OUTBOUND ? POLLOUT : 0) |
			       (directions & LIBSSH2_SESSION_BLOCK_INBOUND ? POLLIN : 0));
	if (!ready.events)
		ready.events = POLLIN;
	poll(&ready, 1, left < INTERRUPT_POLL_MSEC ? left : INTERRUPT_POLL_MSEC);
	return left && !interrupted();
}

/* Why the host could not be asked: -1. */
static int host_key_failed(const struct ssh_target *t, enum ssh_fault fault, const char *greeting,
			   struct error *err)
{
	_cleanup_(str_release) struct str said = STR_INIT;

	if (interrupt_check(err) < 0)
		return -1;
	if (ssh_target_has_way(t) && tunnel_ask(t, &said))
		return tunnel_fault(t, said.text, err);
	return ssh_fault_explain(t, *greeting ? SSH_FAULT_NO_SSHD : fault, greeting, err);
}

/* 1 with a key of these types, 0 when the host has none, -1 when it cannot be asked. */
static int host_key_fetch(const struct ssh_target *t, const char *types, struct arena *arena,
			  struct host_key *key, struct error *err)
{
	uint64_t deadline = clock_usec() + (uint64_t)t->timeout_s * 1000000;
	_cleanup_(tunnel_close) struct tunnel tunnel = TUNNEL_INIT;
	_cleanup_(str_release) struct str greeting = STR_INIT;
	struct session_peer peer = {0};
	LIBSSH2_SESSION *session;
	enum ssh_fault fault;
	int rc;

	if (tunnel_open(t, deadline, &tunnel, err) < 0)
		return -1;
	fault = ssh_fault_look(tunnel.fd, deadline, &greeting);
	if (fault == SSH_FAULT_OLD)
		return ssh_fault_explain(t, fault, greeting.text, err);
	if (fault != SSH_FAULT_NONE)
		return host_key_failed(t, fault, "", err);
	session = session_new(&peer, types);
	while ((rc = session_handshake(session, tunnel.fd, &peer)) == LIBSSH2_ERROR_EAGAIN &&
	       host_key_wait(session, tunnel.fd, deadline))
		;
	if (rc == 0)
		rc = host_key_of(session, arena, key);
	else if (rc == LIBSSH2_ERROR_KEY_EXCHANGE_FAILURE || rc == LIBSSH2_ERROR_KEX_FAILURE)
		rc = 0;
	else
		rc = host_key_failed(
			t, rc == LIBSSH2_ERROR_EAGAIN ? SSH_FAULT_STUCK : SSH_FAULT_BROKEN,
			greeting.text, err);
	libssh2_session_free(session);
	return rc;
}

/* A line of ssh-keyscan: "HOST TYPE BASE64". */
static bool host_key_of_line(char *line, struct arena *arena, struct host_key *key)
{
	char *host = strsep(&line, " "), *type = strsep(&line, " "), *base64 = line;
	unsigned char *bytes;
	size_t length;

	if (!host || *host == '#' || !type || !base64 || strcmp(type, "ssh-rsa") != 0)
		return false;
	base64[strcspn(base64, " \r\n")] = '\0';
	bytes = arena_alloc(arena, strlen(base64) + 1);
	length = host_key_decode(base64, bytes);
	if (!length)
		return false;
	*key = (struct host_key){.type = "ssh-rsa", .base64 = arena_strdup(arena, base64)};
	host_key_fingerprint(bytes, length, key->fingerprint);
	return true;
}

/* The host's RSA key by ssh-keyscan: libssh2 before 1.11 is not shown it (RFC 8332). Whether there is one. */
static bool host_key_scan(const struct ssh_target *t, struct arena *arena, struct host_key *key)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct error ignored = {0};
	struct proc proc = {
		.words = WORDS("ssh-keyscan", "-t", "rsa", "-T",
			       arena_printf(arena, "%d", t->timeout_s), "-p",
			       arena_printf(arena, "%d", t->port), t->address),
		.timeout_s = t->timeout_s + 5,
	};
	bool found = false;

	if (ssh_target_has_way(t) || proc_run(&proc, &result, &ignored) < 0)
		return false;
	for (char *text = result.out.text, *line; !found && (line = strsep(&text, "\n"));)
		found = host_key_of_line(line, arena, key);
	return found;
}

int host_keys_fetch(const struct ssh_target *target, struct arena *arena,
		    struct host_key keys[static HOST_KEY_KINDS], size_t *count, struct error *err)
{
	static const char *const kinds[HOST_KEY_KINDS] = {
		"ssh-ed25519", "ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521",
		"rsa-sha2-512,rsa-sha2-256,ssh-rsa"};
	char place[200];

	*count = 0;
	for (size_t i = 0; i < HOST_KEY_KINDS; i++) {
		int rc = host_key_fetch(target, kinds[i], arena, &keys[*count], err);

		if (rc < 0)
			return error_wrap(err, "%s", ssh_place(target, place));
		*count += (size_t)rc;
	}
	if (*count || (*count = host_key_scan(target, arena, &keys[0])))
		return 0;
	return error_set(err, ERROR_FAILED, "%s: it shows no host key that ringup knows",
			 ssh_place(target, place));
}
