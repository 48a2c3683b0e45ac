/* SPDX-License-Identifier: MIT */
/*
 * lab_bare.h - lab hosts with a system of their own: a fresh Debian with systemd, an sshd and nothing else, on which
 * `ringup setup` can be tried.
 *
 * The system of a release is made once in STATE/bare/OS, from the packages of this machine's own mirror. A host has a layer of its
 * own over it in STATE/HOST/upper, which stays while the host starts again. Packages come through slirp4netns, a network of this
 * machine's programs: no route, firewall rule or address of this machine changes.
 */
#ifndef DEPLOYER_LAB_LAB_BARE_H
#define DEPLOYER_LAB_LAB_BARE_H

#include "core/str.h"
#include "core/words.h"
#include "deployer/lab/lab.h"

/*
 * Gives hosts the systems of the wish: "debian12", or "node01=debian12,node02=debian11" for some. ERROR_USAGE names what the wish
 * says wrongly, what does not go together with it, and a host that is up with another system.
 */
int lab_bare_apply(struct lab *lab, const struct lab_wish *wish, struct arena *arena,
		   struct error *err);

/* ERROR_USAGE when a bare host has simulated GPUs: their stand-ins are programs of this machine. */
int lab_bare_check(const struct lab *lab, struct error *err);

/*
 * Makes the systems that the hosts need and that are not there: 20 s and 250 MB each, side by side. One that was interrupted is made
 * anew. ERROR_FAILED with the last words of mmdebstrap.
 */
int lab_bare_make(const struct lab *lab, struct arena *arena, struct error *err);

/* The command that starts such a host: its first process is systemd. `netns` is its network namespace. NULL with the error. */
const char *const *lab_bare_words(const struct lab *lab, const struct lab_host *host,
				  const char *netns, struct arena *arena, struct error *err);

/* Adds the names of the systems, with ", " between. */
void lab_bare_list(struct str *out);

#endif
