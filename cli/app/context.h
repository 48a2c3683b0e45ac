/* SPDX-License-Identifier: MIT */
/*
 * context.h - what each command is given: the global options, an arena, and cluster.yaml, which is read
 * at most once per command.
 */
#ifndef CLI_APP_CONTEXT_H
#define CLI_APP_CONTEXT_H

#include "core/arena.h"
#include "core/error.h"
#include "plan/cluster.h"

struct context {
	const char *cluster_path; /* -f, default cluster.yaml */
	bool cluster_named;	  /* -f was given: the file must be there */
	bool json;
	int timeout_s;	      /* --timeout; 0: the default of whoever waits */
	int jobs;	      /* --jobs; 0: the default */
	const char *catalog;  /* --catalog, or NULL */
	bool is_after_dashes; /* "--" stands before the last arguments: they are a command */
	struct arena *arena;
	const struct cluster *cluster; /* what context_cluster has read; NULL before that */
};

/*
 * The cluster of cluster.yaml; it must be there. The first call reads the file, later calls give the same
 * struct. Call it from one thread; a copy of the context that is made after that shares what was read.
 */
int context_cluster(struct context *ctx, const struct cluster **cluster, struct error *err);

/*
 * The same, or a cluster of defaults when there is no file and none was named with -f. Commands that
 * can do without a cluster file use this.
 */
int context_cluster_or_defaults(struct context *ctx, const struct cluster **cluster,
				struct error *err);

/* Whether context_cluster_or_defaults reads a file, or has read it. */
bool context_has_cluster(const struct context *ctx);

#endif
