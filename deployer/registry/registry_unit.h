/* SPDX-License-Identifier: MIT */
/* registry_unit.h - the systemd unit of a registry. */
#ifndef DEPLOYER_REGISTRY_REGISTRY_UNIT_H
#define DEPLOYER_REGISTRY_REGISTRY_UNIT_H

#include "deployer/registry/registry_host.h"

/*
 * The text of the systemd unit. It runs as a user of its own, which sees everything except
 * `storage` as read-only. A path with characters that have a meaning in a unit is an error.
 */
int registry_unit(const struct registry_host *host, const char *program, struct arena *arena,
		  const char **text, struct error *err);

#endif
