/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/keys/host_key_check.h"

#include "deployer/ssh/keys/host_certificate.h"
#include "deployer/ssh/keys/host_key.h"

#include <string.h>

/*
 * Asks first for the key types that known_hosts has for this host. A host has several keys, and a
 * key of another type would look like a changed host.
 */
void host_key_types(const struct known_hosts *known, struct str *types)
{
	for (size_t i = 0; i < known->count; i++) {
		bool rsa = strcmp(known->keys[i].type, "ssh-rsa") == 0;

		if (!known->keys[i].revoked)
			str_addf(types, "%s,",
				 rsa ? "rsa-sha2-512,rsa-sha2-256" : known->keys[i].type);
	}
	str_add(types, "ssh-ed25519,ecdsa-sha2-nistp256,rsa-sha2-512,rsa-sha2-256");
}

const char *host_key_known_name(const struct ssh_target *t, struct arena *arena)
{
	return *t->host_key_alias ? t->host_key_alias
				  : known_hosts_name(t->address, t->port, arena);
}

int host_key_say_lax(const struct ssh_target *t, struct error *err)
{
	return t->is_lax
		       ? error_advise(
				 err,
				 "StrictHostKeyChecking of ~/.ssh/config is not followed: ringup never takes a key by itself")
		       : -1;
}

/* The host has no key in known_hosts. */
static int host_key_stranger(const struct ssh_target *t, const struct known_hosts *known,
			     const char *type, const char *print, enum ssh_failure *failure,
			     struct error *err)
{
	char place[200];

	if (known->has_authority)
		*failure = SSH_FAILED_HOST_KEY;
	if (starts_with(known->path, "/dev/"))
		return error_set(
			err, ERROR_FAILED,
			"%s: its host key (%s %s) is not known, and %s, the UserKnownHostsFile of ~/.ssh/config, keeps none; name a file by ssh.known_hosts in the cluster file, then: ringup hosts trust",
			ssh_place(t, place), type, print, known->path);
	/* ssh-keyscan writes the address, and goes by no jump host */
	if (*t->host_key_alias || ssh_target_has_way(t))
		error_set(
			err, ERROR_FAILED,
			"%s: its host key (%s %s) is not in %s%s%s; compare the fingerprint with the host's own, then add it: ringup hosts trust",
			ssh_place(t, place), type, print, known->path,
			*t->host_key_alias ? " under the name " : "", t->host_key_alias);
	else
		error_set(
			err, ERROR_FAILED,
			"%s: its host key (%s %s) is not in %s; compare the fingerprint with the host's own, then add it: ringup hosts trust, or ssh-keyscan -p %d %s >>%s",
			ssh_place(t, place), type, print, known->path, t->port, t->address,
			known->path);
	return host_key_say_lax(t, err);
}

/*
 * Whether known_hosts has a key of that type. RSA keys come by rsa-sha2-256 and -512 (RFC 8332), which libssh2 has from 1.11
 * on: an older one is shown another key of the host, and that is no changed key.
 */
static bool host_key_knows_type(const struct known_hosts *known, const char *type)
{
	for (size_t i = 0; i < known->count; i++)
		if (!known->keys[i].revoked && strcmp(known->keys[i].type, type) == 0)
			return true;
	return false;
}

static int host_key_other_type(const struct ssh_target *t, const struct known_host_key *where,
			       const char *type, enum ssh_failure *failure, struct error *err)
{
	char place[200];

	*failure = SSH_FAILED_HOST_KEY;
	return error_set(
		err, ERROR_FAILED,
		"%s: %s:%d has its %s key, and it shows libssh2 its %s key; set ssh.transport to auto or openssh, or add the other key: ringup hosts trust",
		ssh_place(t, place), where->path, where->line, where->type, type);
}

int host_key_check(LIBSSH2_SESSION *session, const struct ssh_target *t,
		   const struct known_hosts *known, struct arena *arena, enum ssh_failure *failure,
		   struct error *err)
{
	const struct known_host_key *where = NULL;
	struct host_key key;
	char place[200];

	if (!host_key_of(session, arena, &key))
		return error_set(err, ERROR_FAILED, "%s: reading the host key failed",
				 ssh_place(t, place));
	switch (known_hosts_check(known, key.type, key.base64, &where)) {
	case KNOWN_HOSTS_MATCH:
		return 0;
	case KNOWN_HOSTS_UNKNOWN:
		/* passwords go by libssh2 alone */
		if (known->has_authority && t->password &&
		    strcmp(host_certificate_key(t, arena), key.fingerprint) == 0)
			return 0;
		return host_key_stranger(t, known, key.type, key.fingerprint, failure, err);
	case KNOWN_HOSTS_REVOKED:
		return error_set(
			err, ERROR_FAILED,
			"%s: its host key is marked as revoked in %s:%d; give the host a new key",
			ssh_place(t, place), where->path, where->line);
	default:
		if (!host_key_knows_type(known, key.type))
			return host_key_other_type(t, where, key.type, failure, err);
		return error_set(
			err, ERROR_FAILED,
			"%s: its host key (%s %s) differs from the one in %s:%d: someone may be in between; if the host was installed anew, remove the old key: ssh-keygen -R '%s' -f %s",
			ssh_place(t, place), key.type, key.fingerprint, where->path, where->line,
			host_key_known_name(t, arena), where->path);
	}
}
