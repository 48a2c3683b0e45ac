/* SPDX-License-Identifier: MIT */
/*
 * Ranks and cores. Containers of one machine count together: they have the same boot id.
 */
#ifndef WORKER_PLACEMENT_H
#define WORKER_PLACEMENT_H

#include "group.h"

/* Are there more ranks on this machine than cores this process may use? Then spinning harms the
 * rank waited for. */
bool placement_crowded(const struct group *group);

/* Binds the calling thread to one core, spread evenly over those allowed, unless the machine is
 * crowded: two ranks that wake each other through the network are easily put on one core, and stay
 * there. */
void placement_bind(const struct group *group);

#endif
