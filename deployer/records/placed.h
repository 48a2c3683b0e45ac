/* SPDX-License-Identifier: MIT */
/*
 * placed.h - .ringup/hosts.json: the hosts on which something of the cluster lies. A host that is taken
 * out of cluster.yaml keeps its container and the cluster's keys; this file still knows how to reach it.
 *
 * {"schema", "hosts": [{"name", "address", "user", "port", "sshd_port"}]}. An address with its port is one host.
 * `sshd_port` is there where the file has none: the host's own, which ports.h has chosen.
 */
#ifndef DEPLOYER_RECORDS_PLACED_H
#define DEPLOYER_RECORDS_PLACED_H

#include "deployer/fleet.h"

/* Adds the members that have not failed. Call it before anything is put there. */
int placed_add(const struct fleet *fleet, struct error *err);

/* Takes the members that have not failed out: nothing of the cluster is left on them. */
int placed_remove(const struct fleet *fleet, struct error *err);

/* Sets sshd_port of the members whose hosts are in the file with one; the others keep 0. */
int placed_read_ports(struct fleet *fleet, struct error *err);

/*
 * The hosts of the file that the cluster does not have any more; *hosts is in the arena. ERROR_FAILED
 * when the file cannot be read.
 */
int placed_departed(const struct cluster *cluster, struct arena *arena, struct host **hosts,
		    size_t *count, struct error *err);

#endif
