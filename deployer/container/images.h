/* SPDX-License-Identifier: MIT */
/* images.h - the versions of the cluster's image on its hosts. */
#ifndef DEPLOYER_CONTAINER_IMAGES_H
#define DEPLOYER_CONTAINER_IMAGES_H

#include "deployer/fleet.h"

/* "REGISTRY/NAMESPACE/NAME" of the cluster's image: what is ours on a host. */
const char *images_repository(const struct cluster *cluster, struct arena *arena);

/* Whether the hosts get the image over SSH, from a file here (images.transfer). */
bool images_come_by_ssh(const struct cluster *cluster);

/*
 * The name of the image REGISTRY/NAME@sha256:HEX on the hosts, in the arena. An engine knows an image by its digest only
 * when it was pulled; one that comes by SSH is REGISTRY/NAME:sha256-HEX there.
 */
const char *images_name_on_hosts(const struct cluster *cluster, const char *image,
				 struct arena *arena);

/*
 * Removes from each active member that was changed the versions of the cluster's image that this folder's history names
 * (history.h), except the last `images.keep`, of which `image` is the first. One that any container uses stays, and so does
 * every image that is not this cluster's. 0 keeps all.
 */
void fleet_prune_images(struct fleet *fleet, const char *image);

/* Removes every version of the image from the host, as `down --purge` does. */
void member_remove_images(struct member *member);

#endif
