/* SPDX-License-Identifier: MIT */
/* lab_registry.h - the lab's registry. */
#ifndef DEPLOYER_LAB_LAB_REGISTRY_H
#define DEPLOYER_LAB_LAB_REGISTRY_H

#include "deployer/lab/lab.h"

#define LAB_REGISTRY_PORT 5000
#define LAB_REGISTRY_USER "lab"

const char *lab_registry_address(const struct lab *lab, struct arena *arena);

int lab_registry_up(struct lab *lab, struct arena *arena, struct error *err);

#endif
