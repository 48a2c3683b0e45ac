/* SPDX-License-Identifier: MIT */
/* registry_status.h - 'ringup registry status': what the private registry holds, and its state. */
#ifndef CLI_REGISTRY_STATUS_H
#define CLI_REGISTRY_STATUS_H

#include "cli/app/registry_site.h"

/* Asks the machine and the registry, and prints the table or the JSON document of docs/cli.md. */
int registry_status(struct registry_site *site, struct error *err);

#endif
