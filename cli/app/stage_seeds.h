/* SPDX-License-Identifier: MIT */
/* stage_seeds.h - images.seeds: hosts that serve the image to the others, by registries that `up` makes there and `down` removes. */
#ifndef CLI_APP_STAGE_SEEDS_H
#define CLI_APP_STAGE_SEEDS_H

#include "cli/app/stages.h"
#include "core/foreign.h"
#include "deployer/bringup/bringup.h"

/*
 * Which hosts would become seeds: the first images.seeds active ones; 0 when stage_seeds would do nothing. *chosen is in the
 * arena, and set when there are some.
 */
size_t stage_seeds_choose(struct stages *stages, const struct bringup *bringup,
			  struct member ***chosen);

/*
 * Before fleet_bringup: starts the seeds' registries on the first active hosts, and brings the image from them to the hosts
 * that lack it. A host that can be no seed is named in a warning. Nothing happens without images.seeds, and when every host's
 * container has the image.
 */
void stage_seeds(struct stages *stages, struct bringup *bringup);

/*
 * Removes the registries of the seeds among the fleet's members, and of hosts that are none of the cluster's. One that cannot
 * be removed is named in a warning and stays on file.
 */
void stage_seeds_remove(struct stages *stages);

/* Prints which seeds there are and whether their registries answer, or adds that to `json` as "seeds". */
void stage_seeds_say(struct stages *stages, cJSON *json);

#endif
