/* SPDX-License-Identifier: MIT */
/*
 * lab_gpus.h - GPUs of lab hosts that are not there.
 *
 * A host with simulated GPUs has the folder STATE/HOST/gpus:
 *
 *   gpus, driver   what the stand-ins of images/simulated print (see images/simulated/nvidia-smi)
 *   simulated      "8x NVIDIA H100 80GB HBM3": what the probe prints, so that every command says it
 *   fault          written by a person or a test: what is wrong with the GPUs
 *   granted.log    which GPUs the engine gave to which container (written by the hook)
 *   bin/           nvidia-smi, and NVIDIA's container toolkit: nvidia-ctk and the engines' hooks
 *   container.sh   what both hooks have in common
 *   lib/           stand-ins for libcuda.so.1 and libnccl.so.2
 *   sys/           what the probe reads of /sys
 *   capabilities/  the same of /proc/driver/nvidia/capabilities: the GPU instances of MIG
 *
 * The models are the rows of images/simulated/gpus.csv.
 */
#ifndef DEPLOYER_LAB_LAB_GPUS_H
#define DEPLOYER_LAB_LAB_GPUS_H

#include "core/str.h"
#include "core/words.h"
#include "deployer/lab/lab.h"

#define LAB_GPUS_MAX 16 /* of one host: one PCI address each */

/*
 * Gives the hosts the GPUs, drivers and toolkits of the wish, and marks those that must start again
 * for it. ERROR_USAGE names what the wish says wrongly, and the models that are known. The hosts'
 * number must be known; nothing is written.
 */
int lab_gpus_apply(struct lab *lab, const struct lab_gpus_wish *wish, struct arena *arena,
		   struct error *err);

/* Writes the host's folder and what its engine takes (lab_gpu_devices.h), or removes both when the host has no GPUs. */
int lab_gpus_write(const struct lab *lab, const struct lab_host *host, struct arena *arena,
		   struct error *err);

/*
 * Adds "NAME=VALUE" of what programs on the host need to find the stand-ins: PATH, RINGUP_SYS and
 * others. Adds nothing for a host without simulated GPUs.
 */
void lab_gpus_environment(const struct lab *lab, const struct lab_host *host, struct words *out);

/* "8x NVIDIA H100 80GB HBM3", or "" for a host without. */
const char *lab_gpus_text(const struct lab_host *host, struct arena *arena);

/* The host's driver: the one that was asked for, or the newest of its models' usual ones. */
const char *lab_gpus_driver(const struct lab_host *host, struct arena *arena);

/* Adds the names of the models, as --gpus takes them, with ", " between. */
void lab_gpus_list_models(struct str *out);

#endif
