/* SPDX-License-Identifier: MIT */
/*
 * stages.h - the arrows of `up`, each usable alone: what the commands share.
 *
 *   cluster.yaml -> struct cluster -> facts -> plan -> spec -> image -> reference -> fleet ->
 * report
 */
#ifndef CLI_APP_STAGES_H
#define CLI_APP_STAGES_H

#include "builder/build.h"
#include "cli/app/command.h"
#include "deployer/bringup.h"
#include "deployer/fleet.h"
#include "resolver/catalog.h"
#include "plan/cluster.h"
#include "resolver/resolve.h"
#include "plan/spec.h"
#include "registry-client/registry.h"

struct stages {
	struct context *ctx;
	struct arena *arena;
	struct cluster cluster;
	struct catalog catalog;
	struct plan plan;
	struct unsatisfied why;
	bool oldest;		 /* resolve --prefer oldest */
	const struct plan *keep; /* versions to stay with, or NULL */
	const char *const *move; /* names that are not kept, or NULL */
	struct spec *spec;
	struct fleet fleet;
	struct reference reference; /* of the image, with its digest once it is pushed */
};

/* Loads cluster.yaml. */
int stage_cluster(struct stages *stages, struct context *ctx, struct error *err);

/*
 * Takes the cluster's lock until *lock is closed: for commands that change hosts. Another ringup at
 * work on the cluster is an error.
 */
int stage_hold(struct stages *stages, int *lock, struct error *err);

/* Loads the catalog; a cluster file is not needed for it. */
int stage_catalog(struct stages *stages, struct error *err);

/* Resolves the requests (NULL: the cluster file's own) with the facts of the fleet, if it is
 * probed. */
int stage_resolve(struct stages *stages, const char *const *requests, struct error *err);

/* The same for every stack, as resolve_all gives them. */
int stage_resolve_all(struct stages *stages, const char *const *requests, size_t limit,
		      bool (*each)(const struct plan *plan, void *arg), void *arg,
		      struct error *err);

/*
 * The plan of the cluster file's stack: that of ringup.lock, which nothing but `resolve` moves, or
 * where there is none a resolved one. A lock that was made for another stack is ERROR_USAGE, one
 * that does not fit the hosts ERROR_UNSATISFIED.
 */
int stage_plan(struct stages *stages, struct error *err);

/* ringup.lock beside the cluster file, or where it would be. */
const char *stage_lock_path(struct stages *stages);

/* Renders the recipe of the plan, with what it has pinned; warns of packages that were not asked
 * for. */
int stage_recipe(struct stages *stages, struct error *err);

/*
 * Asks the archives and the registries, and sets the plan's `pinned`: builds a little image on the
 * OS's own one, in which its package manager answers. Shows progress. Nothing is pinned after an
 * error: an archive or registry that does not answer, a cluster without a stack (ERROR_USAGE).
 */
int stage_pin(struct stages *stages, struct error *err);

/* Sets up and probes the fleet; every member that cannot run the cluster is failed. */
int stage_probe(struct stages *stages, struct error *err);

/* Facts that `probe -o` wrote, as if the hosts had just answered. ERROR_USAGE names the file. */
int stage_facts(struct stages *stages, const char *path, struct error *err);

/*
 * Sets up the fleet of the named hosts (an empty list: of all) without a probe. A name that is not
 * in the cluster is ERROR_USAGE.
 */
int stage_select(struct stages *stages, const char *const *hosts, struct error *err);

/* The name under which the registry keeps the image of this spec; no traffic. */
int stage_reference(struct stages *stages, struct error *err);

/* Opens the registry of the cluster file with the credentials on file. */
int stage_registry(struct stages *stages, struct registry **registry, struct error *err);

/* Whether the registry holds the image of this spec; sets the reference's digest then. */
int stage_find_image(struct stages *stages, struct registry *registry, bool *found,
		     struct error *err);

/* What `build` may be asked for beside the cluster file. */
struct build_request {
	const char *engine; /* instead of the file's; NULL or "": the file's */
	bool shell_on_failure;
	const struct build_host *on; /* another machine; NULL: here */
};

/* The manifest of an image as its registry, or a mirror of it, has it now. */
int stage_digest(struct stages *stages, const char *image, struct descriptor *manifest,
		 struct error *err);

/* What builds here by default; texts in the arena. */
void stage_build_options(struct stages *stages, struct build_options *options);

/* Builds the image unless the backend keeps it; `request` may be NULL. */
int stage_build(struct stages *stages, const struct build_request *request, struct image *image,
		struct error *err);

/* Exports, compresses and pushes it; sets the reference's digest. */
int stage_push(struct stages *stages, struct registry *registry, const struct image *image,
	       struct error *err);

/* Writes ringup.lock beside the cluster file, if it differs. */
int stage_lock(struct stages *stages, struct error *err);

/* What fleet_bringup needs, from all of the above. */
int stage_bringup(struct stages *stages, struct bringup *bringup, struct error *err);

/* Prints text with "HOST: " before each of its lines; NULL counts as empty. */
void stage_print_lines(FILE *out, const char *host, const char *text);

/* $XDG_CACHE_HOME/ringup or ~/.cache/ringup. */
const char *stage_cache_folder(struct stages *stages);

#endif
