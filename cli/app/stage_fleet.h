/* SPDX-License-Identifier: MIT */
/* stage_fleet.h - cluster -> facts of its hosts, and all of the stages -> a fleet that runs. */
#ifndef CLI_APP_STAGE_FLEET_H
#define CLI_APP_STAGE_FLEET_H

#include "cli/app/stages.h"
#include "deployer/bringup.h"

#include <stdio.h>

/* Sets up and probes the fleet; every member that cannot run the cluster is failed. */
int stage_probe(struct stages *stages, struct error *err);

/*
 * Sets up the fleet of the named hosts (an empty list: of all) without a probe. A name that is not
 * in the cluster is ERROR_USAGE.
 */
int stage_select(struct stages *stages, const char *const *hosts, struct error *err);

/* What fleet_bringup needs, from all of the stages. */
int stage_bringup(struct stages *stages, struct bringup *bringup, struct error *err);

/* Prints text with "HOST: " before each of its lines; NULL counts as empty. */
void stage_print_lines(FILE *out, const char *host, const char *text);

#endif
