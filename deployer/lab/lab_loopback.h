/* SPDX-License-Identifier: MIT */
/* lab_loopback.h - lab hosts on loopback addresses. */
#ifndef DEPLOYER_LAB_LAB_LOOPBACK_H
#define DEPLOYER_LAB_LAB_LOOPBACK_H

#include "deployer/lab/lab.h"

void lab_loopback_down(const struct lab *lab);

int lab_loopback_up(struct lab *lab, struct arena *arena, struct error *err);

#endif
