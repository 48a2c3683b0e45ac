/* SPDX-License-Identifier: MIT */
/*
 * address.h - the address by which workers reach a host whose `address` in cluster.yaml is a name.
 *
 * A name need not mean the same everywhere: Debian gives a host its own name at 127.0.1.1 (Debian
 * Reference, section 5.1.1), and a host may not know the names of the others. So workers get numbers.
 */
#ifndef DEPLOYER_ADDRESS_H
#define DEPLOYER_ADDRESS_H

#include "deployer/fleet.h"

/* Whether the text is an IPv4 or IPv6 address in numbers. */
bool address_is_number(const char *text);

/*
 * Sets member->address of every member with a name, after the probe: the address at which ssh came to
 * the host; if that is a loopback address, what another host or this machine finds under the name.
 * It stays the name where nothing is found.
 */
void fleet_find_addresses(struct fleet *fleet);

/*
 * Fails every member, in a fleet of several, whose address is still a name. The others could not
 * reach it.
 */
void fleet_check_addresses(struct fleet *fleet);

#endif
