/* SPDX-License-Identifier: MIT */
/*
 * seeds.h - hosts that serve the cluster's image to the others (images.seeds), so that the registry does not send it to each.
 *
 * A seed runs a pull-through mirror (registry/registry_host.h). The first one mirrors the cluster's registry, and the others
 * mirror the first. Distribution 2.8 fetches what it does not hold twice: once for the client, once for its store. So the
 * registry sends each byte at most twice, however many seeds and hosts there are. What a seed does not hold yet it would
 * fetch again for each host that asks, so the seeds pull first, and the others begin when the seeds hold it all.
 *
 * In fleet_bringup each host then pulls by the image's own name. It has all layers, so the registry sends it only the manifest.
 * The name at the seed goes, and the host is as it would be without seeds.
 */
#ifndef DEPLOYER_BRINGUP_SEEDS_H
#define DEPLOYER_BRINGUP_SEEDS_H

#include "deployer/bringup/bringup.h"

struct seed {
	const char *host;    /* its name in cluster.yaml */
	const char *address; /* HOST:PORT of its registry */
	const char *ca;	     /* PEM */
	const char *storage; /* where its registry keeps the images, on the host */
	struct credentials credentials;
};

/*
 * Brings bringup->image from the seeds to the active members that lack it: member I of these pulls from seed I modulo
 * `count`. No member fails here: where a seed is lost, or a host cannot pull from it, a warning says so, and the host pulls
 * from the registry when its turn comes (fleet_bringup). names[I] becomes the image's name at the seed where member I got it.
 */
void fleet_pull_from_seeds(struct fleet *fleet, const struct bringup *bringup,
			   const struct seed *seeds, size_t count, const char **names);

#endif
