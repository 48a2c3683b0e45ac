/* SPDX-License-Identifier: MIT */
/* stage_apply.h - the last arrow of `up` and `rollback`: a plan and an image -> running containers. */
#ifndef CLI_APP_STAGE_APPLY_H
#define CLI_APP_STAGE_APPLY_H

#include "cli/app/command.h"
#include "cli/app/stages.h"

struct apply {
	const char *command; /* for the history */
	const char *recipe;  /* the image's recipe; NULL: that of stages.spec, if there is one */
	int rolling;	     /* hosts that get a new container at once; 0: all */
	bool image_is_new;   /* it is new in the registry, so no host can have it */
};

/* A row for a command's table; `member` is an int, which becomes apply.rolling. */
#define ROLLING_OPTION(type, member)                                                            \
	{                                                                                       \
		0, "rolling", "N",                                                              \
			"replace the containers of N hosts at a time; stop when a group fails", \
			OPT_INT, offsetof(type, member)                                         \
	}

/*
 * Brings the fleet to stages.plan and stages.reference, and notes that in the history. What bare hosts lack of the
 * plan is warned of. The error is fleet_result's.
 */
int stage_apply(struct stages *stages, const struct apply *apply, struct error *err);

/* Probes the hosts and fails those that cannot run the cluster or are somebody else's. */
int stage_meet_hosts(struct stages *stages, bool takes_over, struct error *err);

/* Hosts that cannot give their GPUs fail here; an error when no host is left. */
int stage_check_gpus(struct stages *stages, struct error *err);

bool stage_has_containers(const struct stages *stages);

/*
 * How it ended, as JSON, or as a line unless it failed on all hosts: `rc` and `err` are what stage_apply or the like
 * gave. `begin` is clock_usec() of the command's start.
 */
void stage_print_outcome(const struct stages *stages, uint64_t begin, int rc,
			 const struct error *err);

#endif
