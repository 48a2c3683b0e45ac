/* SPDX-License-Identifier: MIT */
/*
 * up_leases.h - the GPUs of containers whose `gpus` is a number: that many free ones of the host, which the cluster
 * keeps as long as the container lives. `all`, and GPUs that are named, take no lease: clusters may share these, and
 * their jobs take turns.
 */
#ifndef DEPLOYER_LEASE_UP_LEASES_H
#define DEPLOYER_LEASE_UP_LEASES_H

#include "deployer/fleet.h"

/*
 * Takes GPUs for every member whose `gpus` is a number, and keeps those that it has: member->state.leased. A member
 * whose host has too few free ones fails; the error says who has them. Without `takes` it only asks: leased are then
 * what the member has, or what it would get. Nothing happens for other accelerators than "cuda", and on hosts without
 * containers. What is known already is not asked again.
 */
void fleet_lease_up(struct fleet *fleet, const char *accelerator, bool takes);

/* Gives back what members took that failed and have no container. */
void fleet_give_up_unused(struct fleet *fleet);

/* Gives back the GPUs of a container that was removed; asks nobody where it had none of these. */
int member_give_up(struct member *member, struct error *err);

#endif
