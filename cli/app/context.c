/* SPDX-License-Identifier: MIT */
#include "cli/app/context.h"

#include "core/file.h"

int context_cluster(struct context *ctx, const struct cluster **cluster, struct error *err)
{
	struct cluster *loaded;

	if (!ctx->cluster) {
		loaded = ARENA_NEW(ctx->arena, struct cluster);
		if (cluster_load(ctx->cluster_path, ctx->arena, loaded, err) < 0)
			return -1;
		ctx->cluster = loaded;
	}
	*cluster = ctx->cluster;
	return 0;
}

bool context_has_cluster(const struct context *ctx)
{
	return ctx->cluster || ctx->cluster_named || file_exists(ctx->cluster_path);
}

int context_cluster_or_defaults(struct context *ctx, const struct cluster **cluster,
				struct error *err)
{
	struct cluster *defaults;

	if (context_has_cluster(ctx))
		return context_cluster(ctx, cluster, err);
	defaults = ARENA_NEW(ctx->arena, struct cluster);
	cluster_init(ctx->cluster_path, ctx->arena, defaults);
	*cluster = defaults;
	return 0;
}
