/* SPDX-License-Identifier: MIT */
/*
 * container_check.h - what the lists under `container:` may hold, as rows of yaml_rows.h check it. An engine would refuse
 * it, too, but only when the running container has been stopped for the new one.
 */
#ifndef PLAN_CONTAINER_CHECK_H
#define PLAN_CONTAINER_CHECK_H

#include "core/yaml_rows.h"

/* Names of NVIDIA_DRIVER_CAPABILITIES (docs.nvidia.com, "Specialized Configurations with Docker"); `all` is none of --gpus. */
int container_check_capabilities(const struct yaml_place *at, struct error *err);

/* SOURCE:TARGET[:OPTIONS] with full paths, NAME:TARGET, or TARGET (docs.docker.com, "Volumes"). */
int container_check_volumes(const struct yaml_place *at, struct error *err);

/* NAME=VALUE with a name. */
int container_check_env(const struct yaml_place *at, struct error *err);

/* NAME=LIMIT or NAME=SOFT:HARD with the names and numbers that docker run --ulimit takes; -1 is no limit. */
int container_check_ulimits(const struct yaml_place *at, struct error *err);

#endif
