/* SPDX-License-Identifier: MIT */
/*
 * known_hosts.h - OpenSSH's known_hosts file, read for one host at a time.
 *
 * Source of the format: sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT". Plain names, [name]:port, lists,
 * wildcards, negation, hashed names and @revoked are supported. @cert-authority lines are only noticed: the
 * system's ssh checks certificates.
 */
#ifndef DEPLOYER_SSH_KEYS_KNOWN_HOSTS_H
#define DEPLOYER_SSH_KEYS_KNOWN_HOSTS_H

#include "core/arena.h"
#include "core/error.h"

enum known_hosts_answer {
	KNOWN_HOSTS_MATCH,
	KNOWN_HOSTS_UNKNOWN,
	KNOWN_HOSTS_CHANGED,
	KNOWN_HOSTS_REVOKED
};

struct known_hosts {
	const char *path; /* the first file, where a person would add a key */
	size_t count;
	struct known_host_key {
		const char *type, *base64;
		bool revoked;
		const char *path; /* of the file, and the line there */
		int line;
	} * keys;	    /* the host's keys in all files */
	bool has_authority; /* a @cert-authority is for this host */
};

/*
 * Reads the keys of the host of this name (known_hosts_name, or the HostKeyAlias) from the files, of which there
 * is at least one. A missing file counts as empty.
 */
int known_hosts_load(const char *const *paths, const char *name, struct arena *arena,
		     struct known_hosts *known, struct error *err);

/*
 * What the files say about this key (base64 of its wire form). *where is the line of CHANGED and REVOKED.
 */
enum known_hosts_answer known_hosts_check(const struct known_hosts *known, const char *type,
					  const char *base64, const struct known_host_key **where);

/* How the host is spelled in the file: "name" for port 22, else "[name]:port". */
const char *known_hosts_name(const char *address, int port, struct arena *arena);

#endif
