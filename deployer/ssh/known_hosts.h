/* SPDX-License-Identifier: MIT */
/*
 * known_hosts.h - OpenSSH's known_hosts file, read for one host at a time.
 *
 * Source of the format: sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT". Plain names, [name]:port, lists,
 * wildcards, negation, hashed names and @revoked are supported; @cert-authority lines are skipped.
 */
#ifndef DEPLOYER_SSH_KNOWN_HOSTS_H
#define DEPLOYER_SSH_KNOWN_HOSTS_H

#include "core/arena.h"
#include "core/error.h"

enum known_hosts_answer {
	KNOWN_HOSTS_MATCH,
	KNOWN_HOSTS_UNKNOWN,
	KNOWN_HOSTS_CHANGED,
	KNOWN_HOSTS_REVOKED
};

struct known_hosts {
	const char *path;
	size_t count;
	struct known_host_key {
		const char *type, *base64;
		bool revoked;
		int line;
	} * keys; /* the host's keys in the file */
};

/* Reads the host's keys from the file. A missing file counts as empty. */
int known_hosts_load(const char *path, const char *address, int port, struct arena *arena,
		     struct known_hosts *known, struct error *err);

/*
 * What the file says about this key (base64 of its wire form). *line is its line in the file, for
 * CHANGED and REVOKED.
 */
enum known_hosts_answer known_hosts_check(const struct known_hosts *known, const char *type,
					  const char *base64, int *line);

/* How the host is spelled in the file: "name" for port 22, else "[name]:port". */
const char *known_hosts_name(const char *address, int port, struct arena *arena);

#endif
