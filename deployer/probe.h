/* SPDX-License-Identifier: MIT */
/*
 * probe.h - facts and container state of every host, in one round trip each.
 */
#ifndef DEPLOYER_PROBE_H
#define DEPLOYER_PROBE_H

#include "deployer/fleet.h"

/*
 * Fills facts and state of every member that answers. The others fail, each with its cause. Facts
 * that only people and doctor look at (remote/probe/details) are asked for with `details`: some take
 * a host seconds.
 */
void fleet_probe(struct fleet *fleet, bool details);

/*
 * Fails every member that cannot run the cluster: no engine, an engine that does not answer,
 * another architecture than the file pins, an address that the other hosts do not know, another
 * host's machine. Each error says what to do. The ports are looked at later, once it is known whose
 * the hosts are (fleet_check_owner, fleet_check_ports).
 */
void fleet_check(struct fleet *fleet);

/* Fills member->state from the lines of remote/probe/ or remote/owner.sh, in the member's arena. */
void probe_read_state(struct member *member, const char *text);

/* The same for the container, from the lines of the engine's `state`; the rest stays. */
void probe_read_container(struct member *member, const char *text);

/* {"schema", "hosts": [facts...]}; the caller owns it. */
cJSON *fleet_facts_json(const struct fleet *fleet);

#endif
