/* SPDX-License-Identifier: MIT */
/*
 * reach.h - how a host of a cluster is reached: cluster.yaml first, then ~/.ssh/config, then defaults.
 *
 * Only files are read. Jump hosts become targets of their own, each with the way to it.
 */
#ifndef DEPLOYER_SSH_REACH_H
#define DEPLOYER_SSH_REACH_H

#include "deployer/ssh/ssh.h"
#include "plan/cluster.h"

#define REACH_TIMEOUT_DEFAULT_S 15
#define REACH_JUMPS_MAX 8

/*
 * Fills the SSH target of one host; timeout_s 0 means 15. ERROR_USAGE when ~/.ssh/config or the list of jump
 * hosts cannot be read. The target lives in the arena, and as long as the cluster.
 */
int reach_host(const struct cluster *cluster, const struct host *host, int timeout_s,
	       struct arena *arena, struct ssh_target *target, struct error *err);

#endif
