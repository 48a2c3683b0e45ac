/* SPDX-License-Identifier: MIT */
/*
 * stages.h - what the stages of `up` work on. Each arrow is a function that a command may call by itself:
 *
 *   cluster.yaml -> struct cluster   stage_cluster (here)
 *   -> facts                         stage_fleet.h, stage_facts.h
 *   -> plan                          stage_plan.h, stage_pin.h
 *   -> spec -> image                 stage_build.h
 *   -> reference                     stage_push.h
 *   -> fleet -> report               stage_fleet.h
 */
#ifndef CLI_APP_STAGES_H
#define CLI_APP_STAGES_H

#include "cli/app/context.h"
#include "deployer/fleet.h"
#include "oci/budget.h"
#include "plan/cluster.h"
#include "plan/reference.h"
#include "plan/spec.h"
#include "resolver/catalog.h"
#include "resolver/resolve.h"

struct stages {
	struct context *ctx;
	struct arena *arena;
	struct cluster cluster; /* a copy, of which stage_choose may take hosts out */
	bool is_choice;		/* it did */
	struct words only;	/* of the fleet only these are asked (stage_ask_only); none: all */
	struct catalog catalog;
	struct plan plan;
	struct unsatisfied why;
	bool oldest;		 /* resolve --prefer oldest */
	const struct plan *keep; /* versions to stay with, or NULL */
	const char *const *move; /* names that are not kept, or NULL */
	bool details;		 /* stage_probe asks for all facts, as probe and doctor need them */
	bool no_facts;		 /* --no-facts, or they are read already (stage_facts.h) */
	const char *arch;	 /* --arch, or NULL */
	const char *kept_arch;	 /* of the lock: where nothing else names one; or NULL */
	struct words allow;	 /* --allow; `allow` of the cluster file counts too */
	struct spec *spec;
	struct spec *other_spec; /* of plan.other's image; NULL: there is one image */
	const char *recipe;	 /* hash of what is built: the spec's, or of both */
	struct fleet fleet;
	struct reference reference; /* of the image, with its digest once it is pushed */
	uint64_t image_bytes;	    /* of the image's blobs; 0: not known */
	struct budget_limits
		limits; /* of what is unpacked here: the cluster's, until a command says more */
};

/* Begins with the cluster of cluster.yaml, which must be there. */
int stage_cluster(struct stages *stages, struct context *ctx, struct error *err);

/* The same, or a cluster of defaults where no file is needed (context_cluster_or_defaults). */
int stage_cluster_or_defaults(struct stages *stages, struct context *ctx, struct error *err);

/*
 * Makes .ringup beside cluster.yaml, and closes it to other users (0700). A link there, and a folder
 * of another user, are errors.
 */
int stage_state(struct stages *stages, struct error *err);

/*
 * Takes the cluster's lock until *lock is closed: for commands that change hosts. Another ringup at
 * work on the cluster is an error.
 */
int stage_hold(struct stages *stages, int *lock, struct error *err);

/* Ends the connections to the hosts, if there are any. For _cleanup_, of a struct that is set from its declaration on. */
void stages_close(struct stages *stages);

/* $XDG_CACHE_HOME/ringup or ~/.cache/ringup. */
const char *stage_cache_folder(struct stages *stages);

#endif
