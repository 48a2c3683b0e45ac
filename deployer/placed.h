/* SPDX-License-Identifier: MIT */
/*
 * placed.h - .ringup/hosts.json: the hosts on which something of the cluster lies. A host that is taken
 * out of cluster.yaml keeps its container and the cluster's keys; this file still knows how to reach it.
 *
 * {"schema", "hosts": [{"name", "address", "user", "port"}]}. An address with its port is one host.
 */
#ifndef DEPLOYER_PLACED_H
#define DEPLOYER_PLACED_H

#include "deployer/fleet.h"

/* Adds the members that have not failed. Call it before anything is put there. */
int placed_add(const struct fleet *fleet, struct error *err);

/* Takes the members that have not failed out: nothing of the cluster is left on them. */
int placed_remove(const struct fleet *fleet, struct error *err);

/*
 * The hosts of the file that the cluster does not have any more; *hosts is in the arena. ERROR_FAILED
 * when the file cannot be read.
 */
int placed_departed(const struct cluster *cluster, struct arena *arena, struct host **hosts,
		    size_t *count, struct error *err);

#endif
