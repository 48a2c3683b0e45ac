/* SPDX-License-Identifier: MIT */
#include "cli/app/stages.h"

#include "cli/app/limits.h"
#include "core/file.h"
#include "core/private.h"

static int stages_begin(struct stages *s, struct context *ctx, const struct cluster *cluster,
			struct error *err)
{
	static const struct limit_options no_flags;

	*s = (struct stages){.ctx = ctx, .arena = ctx->arena, .cluster = *cluster};
	return limits_of(&no_flags, cluster, &s->limits, err);
}

int stage_cluster(struct stages *s, struct context *ctx, struct error *err)
{
	const struct cluster *cluster;

	return context_cluster(ctx, &cluster, err) < 0 ? -1 : stages_begin(s, ctx, cluster, err);
}

int stage_cluster_or_defaults(struct stages *s, struct context *ctx, struct error *err)
{
	const struct cluster *cluster;

	return context_cluster_or_defaults(ctx, &cluster, err) < 0
		       ? -1
		       : stages_begin(s, ctx, cluster, err);
}

int stage_state(struct stages *s, struct error *err)
{
	return private_folder(cluster_state_path(&s->cluster, "", s->arena), err);
}

int stage_hold(struct stages *s, int *lock, struct error *err)
{
	if (stage_state(s, err) < 0)
		return -1;
	return file_lock(cluster_state_path(&s->cluster, "lock", s->arena), lock, err);
}

void stages_close(struct stages *s)
{
	fleet_close(&s->fleet);
}

const char *stage_cache_folder(struct stages *s)
{
	return path_cache_folder(s->arena);
}
