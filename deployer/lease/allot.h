/* SPDX-License-Identifier: MIT */
/* allot.h - how many ranks of a job each host gets, by what the hosts have free. Asks nobody. */
#ifndef DEPLOYER_LEASE_ALLOT_H
#define DEPLOYER_LEASE_ALLOT_H

#include "core/base.h"

/*
 * Spreads `wanted` ranks over hosts with room for room[i] ranks each into ranks[i], and returns how many found room.
 *
 * Packed, as few hosts as possible: the host that fits best gets them, the smallest one with room for all that are
 * left, or else the largest one. Spread, one to each host in turn. Of hosts that are alike the first one comes first.
 */
int allot_ranks(const int *room, size_t count, int wanted, bool spread, int *ranks);

#endif
