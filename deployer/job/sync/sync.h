/* SPDX-License-Identifier: MIT */
/*
 * sync.h - brings a folder of this machine to all hosts of a job: `ringup run --sync DIR[:TARGET]`.
 *
 * TARGET then has what DIR has: files with their modes and their times (to the second), folders, and
 * links that stay inside of DIR. What stood in DIR at an earlier sync and is gone now is removed from
 * TARGET. Files that no sync brought stay, unless DIR has one of the same name.
 *
 * Only what changed is sent. `.ringup/sync` keeps the lists (listing.h) of the last syncs, and
 * TARGET/.ringup-sync the digest of the list that is there (deployer/remote/sync.sh). So one command per host
 * asks and sends at once; it takes a second one where a host has something else than expected: a new
 * container, an interrupted sync, files that somebody changed there. Such a host gets what it lacks, or
 * everything.
 *
 * A file that changes while it is read is read again. One that does not stop changing (a log) is sent as
 * it is, with a warning, and the next sync sends it again. In any case a file is put into its place by a
 * rename, so that no program reads a half of it.
 */
#ifndef DEPLOYER_JOB_SYNC_SYNC_H
#define DEPLOYER_JOB_SYNC_SYNC_H

#include "deployer/job/plan.h"

struct job_sync {
	const char *folder; /* on this machine; absolute */
	/* absolute; "": /workspace/NAME in containers, FOLDER/sync/NAME on hosts without (FOLDER is
	 * ringup's folder there), with the name of `folder` */
	const char *target;
};

/*
 * Reads DIR[:TARGET]. DIR is relative to this process's folder, and must be a folder. TARGET begins
 * with '/'. All errors are ERROR_USAGE.
 */
int job_sync_parse(const char *text, struct arena *arena, struct job_sync *sync, struct error *err);

/* Where it goes on a host whose state.folder is known; in the member's arena. */
const char *job_sync_target(const struct job_sync *sync, struct member *member);

/*
 * Brings it to every host of the fleet, side by side, and says on stderr what was sent. A worker must
 * be up on each. Fails when a host has not all of it, and when something would change under another job that runs
 * there with it.
 */
int job_sync(struct fleet *fleet, const struct job_sync *sync, struct arena *arena,
	     struct error *err);

/*
 * The ranks' working folders (job_options.workdirs), in the arena: the targets, or the folder `below` in
 * them; "" for none.
 */
const char *const *job_sync_workdirs(struct fleet *fleet, const struct job_sync *sync,
				     const char *below, struct arena *arena);

#endif
