/* SPDX-License-Identifier: MIT */
/* slurm_image.h - a job's image as pyxis and Apptainer want to be told of it, and what goes into it. Text lives in the wish's arena. */
#ifndef DEPLOYER_SCHEDULER_SLURM_IMAGE_H
#define DEPLOYER_SCHEDULER_SLURM_IMAGE_H

#include "deployer/export/export.h"

/* The digest's begin names the file, so another image is another file. */
const char *slurm_sif(const struct export_wish *wish);

/*
 * enroot's "REGISTRY#NAME:TAG", where a digest may stand for the tag (github.com/NVIDIA/enroot, doc/cmd/import.md and
 * the pattern of a tag in src/docker.sh).
 */
const char *slurm_enroot_image(const struct export_wish *wish);

#define SLURM_CAPABILITIES "NVIDIA_DRIVER_CAPABILITIES"

/*
 * "NVIDIA_DRIVER_CAPABILITIES=...", what of NVIDIA's driver comes into the container: enroot's hook takes it from srun's environment,
 * and before any command in the container could set it (github.com/NVIDIA/enroot, conf/hooks/98-nvidia.sh). "" where the job has no
 * GPUs. An image has one of its own, too, and that counts more unless pyxis is told otherwise: *is_other says that the job wants another
 * one than the images that ringup builds have.
 */
const char *slurm_capabilities(const struct export_wish *wish, bool *is_other);

/*
 * Adds the volumes of the cluster file: "/data:/data:z,ro" of Docker as "/data:/data:ro", since pyxis and Apptainer know no other of
 * its options. The container is pyxis, apptainer or none. ERROR_USAGE for a volume without a folder, or one that they cannot write.
 */
int slurm_volumes(const struct export_wish *wish, const char *container, struct words *volumes,
		  struct error *err);

/* Whether the image is in the registry of the cluster file, for which its `insecure` and `ca` count. */
bool slurm_has_own_registry(const struct export_wish *wish);

/* Adds what only the nodes' own configuration can say of that registry, as comments (enroot, doc/configuration.md). */
void slurm_add_registry(const struct export_wish *wish, const char *container, struct str *out);

#endif
