/* SPDX-License-Identifier: MIT */
/* lab_netns.h - lab hosts out of namespaces. */
#ifndef DEPLOYER_LAB_LAB_NETNS_H
#define DEPLOYER_LAB_LAB_NETNS_H

#include "deployer/lab/lab.h"

/* Why this machine cannot have them, or NULL. */
const char *lab_netns_refusal(const char *engine, struct arena *arena);

int lab_netns_up(struct lab *lab, struct arena *arena, struct error *err);

void lab_netns_down(const struct lab *lab, struct arena *arena);

#endif
