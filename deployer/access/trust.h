/* SPDX-License-Identifier: MIT */
/*
 * trust.h - the host keys that hosts show, beside what known_hosts has and what other hosts of the cluster see.
 *
 * A key that comes over the network proves nothing by itself. A person compares it, with a list or with what hosts
 * that are trusted already see from their place, where somebody in between would have to sit, too. DNS is such a
 * witness where its answer is authenticated (sshfp.h).
 */
#ifndef DEPLOYER_ACCESS_TRUST_H
#define DEPLOYER_ACCESS_TRUST_H

#include "deployer/access/sshfp.h"
#include "deployer/fleet.h"
#include "deployer/ssh/keys/host_key.h"

enum trust_state {
	TRUST_KNOWN,   /* known_hosts has it */
	TRUST_NEW,     /* known_hosts has no key of this kind for the host */
	TRUST_CHANGED, /* it has another one */
	TRUST_REVOKED,
	TRUST_CERTIFIED, /* an authority of known_hosts vouches for it, or for another key of the host */
};

struct trust_key {
	struct host_key key;
	enum trust_state state;
	const char *where;	/* "FILE:LINE", for CHANGED and REVOKED */
	size_t same, other;	/* how many hosts see the same, or another key of this type */
	enum sshfp_verdict dns; /* what DNS says under the host's address, where that is a name */
	bool authenticated;	/* DNS says it with signatures that the resolver has checked */
	bool listed;		/* its fingerprint is in the list */
};

struct trust_host {
	size_t count;
	struct trust_key keys[HOST_KEY_KINDS];
};

/*
 * Fetches the keys of every active member, asks DNS about hosts with keys that known_hosts lacks, and has up to two
 * hosts that can be logged in to look at them. `hosts` has one entry for each member. `listed` are fingerprints, or
 * NULL. That DNS does not answer is said once and is no failure.
 */
void trust_look(struct fleet *fleet, const char *const *listed, struct trust_host *hosts);

/*
 * Whether any known_hosts would get the key: it is new, no host sees another one, and it is in the list where there is
 * one. Without a list, DNS must not have another one.
 */
bool trust_is_wanted(const struct trust_key *key, bool has_list);

/*
 * Adds the wanted keys to the known_hosts of each host, as lines of their own at the end. Other lines stay. *added
 * counts them. ERROR_FAILED names the file that cannot be written; what was added before stays.
 */
int trust_write(const struct fleet *fleet, const struct trust_host *hosts, bool has_list,
		size_t *added, struct error *err);

/*
 * The fingerprints in a text, one a line: words before and behind "SHA256:..." do not matter, so that the output of
 * ssh-keygen -l can be given as it is. A line without one is ERROR_USAGE unless it is empty or begins with '#'.
 */
int trust_read_list(const char *path, struct words *fingerprints, struct error *err);

#endif
