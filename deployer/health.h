/* SPDX-License-Identifier: MIT */
/*
 * health.h - how a host and its container are, beyond what the probe says: for `ringup status`.
 */
#ifndef DEPLOYER_HEALTH_H
#define DEPLOYER_HEALTH_H

#include "deployer/bringup/bringup.h"

enum health_sshd {
	HEALTH_SSHD_UNKNOWN, /* not asked, or the host has no ssh-keyscan */
	HEALTH_SSHD_SILENT,
	HEALTH_SSHD_OTHER, /* it answers with a host key that is not this cluster's */
	HEALTH_SSHD_FINE,
};

/* Text is never NULL. */
struct health {
	double uptime_s;	/* of the host; 0: unknown */
	enum health_sshd sshd;	/* of the container */
	const char *last_words; /* of a container that does not run */
	/*
	 * What `up` would make of it, "" where that is not known: the image by digest, the hash of the
	 * container's words, the digest of the cluster's files.
	 */
	const char *image, *config, *files;
	const char *differs; /* "image, configuration, keys and files": what is not so; "" */
};

/*
 * Asks the host, in one round trip after the probe, and compares it with what is wanted. `wanted` is
 * NULL where nothing is known of that; its `image` may be NULL. `public_key` is that of the
 * container's sshd, or NULL.
 */
int member_ask_health(struct member *member, const struct bringup *wanted, const char *public_key,
		      struct health *health, struct error *err);

#endif
