/* SPDX-License-Identifier: MIT */
/* mesh.h - after bring-up: do the containers live, and can their workers log in to each other? */
#ifndef DEPLOYER_MESH_H
#define DEPLOYER_MESH_H

#include "deployer/fleet.h"

/*
 * Lets every worker of a member that has not failed log in to every other (to the next
 * MESH_PEERS_MAX in the ring of hosts when there are more), unless that was done with the same
 * containers and keys before. That a container outlives its start shows in that; one that died is
 * named with its last words, and the others meet without it. One member alone is watched for a
 * moment.
 */
void fleet_verify(struct fleet *fleet);

#endif
