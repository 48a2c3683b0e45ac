/* SPDX-License-Identifier: MIT */
/* pull.h - the image comes to one host: from the registry, or over the connection (images.transfer). */
#ifndef DEPLOYER_BRINGUP_PULL_H
#define DEPLOYER_BRINGUP_PULL_H

#include "deployer/bringup/visit.h"

/*
 * Brings v->bringup->image to the host, unless it is there. visit_compare, or container_describe, has been called. The error
 * names the host and says what to do: a full disk, a pull that stands still, or what the engine says.
 */
int visit_pull(struct visit *visit, struct error *err);

/*
 * Pulls v->container's image with the login of v->bringup, whatever the host has. The login goes into a configuration folder
 * of ringup's own, which the same remote command removes after the pull, so nothing stays in the user's configuration. The
 * command's stdin stays open: its end tells the command that the connection broke, and no password stays behind then.
 */
int visit_pull_by_name(struct visit *visit, struct error *err);

/* An error where the host's disk could not hold the image, even before it is unpacked. */
int visit_check_disk(const struct visit *visit, struct error *err);

#endif
