/* SPDX-License-Identifier: MIT */
/* allowed.h - what the hosts' engines do not allow of what the containers are to have. */
#ifndef DEPLOYER_CONTAINER_ALLOWED_H
#define DEPLOYER_CONTAINER_ALLOWED_H

#include "deployer/fleet.h"

/*
 * Warns of what containers will not have, once for all hosts with the same. Fails a member that does not allow what
 * `container.required` names. To be called before the image is built.
 */
void fleet_check_allowed(struct fleet *fleet, const char *accelerator);

#endif
