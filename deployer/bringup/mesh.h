/* SPDX-License-Identifier: MIT */
/* mesh.h - after bring-up: do the containers live, and can their workers log in to each other? */
#ifndef DEPLOYER_BRINGUP_MESH_H
#define DEPLOYER_BRINGUP_MESH_H

#include "deployer/fleet.h"

/*
 * Every worker of a member that has not failed logs in to every other one, or to the next
 * MESH_PEERS_MAX in the ring of hosts when there are more. Nothing is done when the same containers
 * and keys were verified before and no container has been started again since. A login also shows
 * that a container survived its start. An error names a container that died, with the end of its
 * log, and the other workers then verify each other without it. A single member has no peers, so its
 * container is watched for a moment. Without sshds (`sshd_port: none`) each container runs ringup-job instead. Then each container must see its GPUs (gpus.h).
 */
void fleet_verify(struct fleet *fleet, const char *accelerator);

/*
 * The error for a member whose worker cannot log in to others, from what remote/mesh.sh said there: each pair with its
 * reason, "node02 -> node03: connection refused on port 9435: no sshd listens there". Always returns -1.
 */
int mesh_explain(struct member *member, const char *said, struct error *err);

/* The error for a container that died at its start, with the end of its log. Always returns -1. */
int mesh_died(struct member *member, const char *exit_status, const char *log, struct error *err);

#endif
