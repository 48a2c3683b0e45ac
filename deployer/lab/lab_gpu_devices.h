/* SPDX-License-Identifier: MIT */
/* lab_gpu_devices.h - what an engine takes from a lab host whose GPUs are simulated, beside what lab_gpus.h writes. */
#ifndef DEPLOYER_LAB_LAB_GPU_DEVICES_H
#define DEPLOYER_LAB_LAB_GPU_DEVICES_H

#include "deployer/lab/lab.h"

/*
 * Writes what lab_host.sh shows the host as /dev/infiniband and /etc/cdi, or removes it where the host is to have none: device
 * files of InfiniBand, which are /dev/null under other names, and the CDI specification of its GPUs, for an engine that needs
 * one (engine.h, needs_cdi) and a host that has NVIDIA's toolkit. Loopback hosts have no engine, and neither of them. A host
 * that runs sees the change at once.
 */
int lab_gpu_devices_write(const struct lab *lab, const struct lab_host *host, struct arena *arena,
			  struct error *err);

#endif
