/* SPDX-License-Identifier: MIT */
/* claim.h - whether the container and the files on a host are this cluster's (owner.h). */
#ifndef DEPLOYER_BRINGUP_CLAIM_H
#define DEPLOYER_BRINGUP_CLAIM_H

#include "deployer/fleet.h"

/*
 * Fails every probed member whose container or folder is somebody else's; the error says whose. With
 * fleet->takes_over it warns instead.
 */
void fleet_check_owner(struct fleet *fleet);

/* The same for one member whose state is known. */
int member_check_owner(struct member *member, struct error *err);

/* Whether somebody has paused the container of a member whose state is known. */
bool member_is_paused(const struct member *member);

/* ERROR_FAILED for a member whose container somebody has paused, and that no command of ringup lets run on. */
int member_check_paused(const struct member *member, struct error *err);

/* The same for every probed member. */
void fleet_check_paused(struct fleet *fleet);

/*
 * For --take-over: fails every probed member in whose container, of another owner, a job runs. On hosts without containers jobs are not
 * looked for.
 */
void fleet_check_their_jobs(struct fleet *fleet);

/*
 * For commands that do not probe: asks the host for the owner, and checks it. Fills the owners, the
 * container's id and the folder in member->state.
 */
int member_ask_owner(struct member *member, struct error *err);

/*
 * ERROR_FAILED unless the member's container runs, or, on a host without containers, `up` has been there. Its state must be known, by a
 * probe or member_ask_owner.
 */
int member_check_worker(const struct member *member, struct error *err);

/* The error for files that somebody else claimed meanwhile: `said` is what receive.sh printed. */
int member_refuse_files(struct member *member, const char *said, struct error *err);

#endif
