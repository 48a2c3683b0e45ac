/* SPDX-License-Identifier: MIT */
/*
 * What the kernel says of this host's network and PCIe links, where it is slower than it could be.
 * Reads sysfs (Documentation/ABI/testing/sysfs-class-net, sysfs-class-infiniband, sysfs-bus-pci of
 * Linux). $RINGUP_TEST_ROOT, for tests only, is a folder that stands for "/".
 */
#ifndef WORKER_HARDWARE_H
#define WORKER_HARDWARE_H

#include "group.h"
#include "host/warning.h"

#include <stdbool.h>

/* Is this rank the lowest one of its host? Only that one reports for the host. */
bool hardware_speaks(const struct group *group);

/* Are there ranks on other hosts? */
bool hardware_has_others(const struct group *group);

/* The interface of this rank's data socket is slower than another one that is up; an InfiniBand
 * port is active, and only TCP is used. */
void hardware_check_network(const struct group *group, struct warnings *warnings);

/* The name of an active InfiniBand or RoCE port, such as mlx5_0/1; false if there is none. */
bool hardware_find_infiniband(char *name, size_t bytes);

/* NVIDIA GPUs and network cards that have fewer PCIe lanes than they could, network cards that run
 * them slower. (GPUs do that whenever they are idle.) */
void hardware_check_pci(struct warnings *warnings);

#endif
