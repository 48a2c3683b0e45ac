/* SPDX-License-Identifier: MIT */
/*
 * ports.h - the port of each container's sshd: the one of cluster.yaml, or with `sshd_port: auto` a free one of
 * each host, which stays the host's as long as nothing else takes it (placed.h keeps it).
 */
#ifndef DEPLOYER_BRINGUP_PORTS_H
#define DEPLOYER_BRINGUP_PORTS_H

#include "deployer/fleet.h"

/*
 * What the probe is asked: "FIRST LAST", the ports that come into question. It prints of these
 * who listens on the host's address or on all addresses: "9435 sshd/4242;9436 -", NAME/PROCESS or "-" where the host
 * does not say.
 */
const char *ports_range(const struct cluster *cluster, struct arena *arena);

/*
 * Chooses the port of every active member that has none, or whose port is taken meanwhile. A port of the file that is
 * taken fails the member, and names who has it. The cluster's own running container may have it. To be called
 * after the probe.
 */
void fleet_check_ports(struct fleet *fleet);

#endif
