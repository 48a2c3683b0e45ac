/* SPDX-License-Identifier: MIT */
#include "cli/app/limits.h"

#include "cli/app/context.h"
#include "core/str.h"

#include <string.h>

int limits_of(const struct limit_options *options, const struct cluster *cluster,
	      struct budget_limits *limits, struct error *err)
{
	const struct cluster_limits *file = &cluster->image.limits;

	*limits = (struct budget_limits){.entries = (uint64_t)file->entries};
	parse_bytes(file->unpacked, &limits->unpacked_bytes); /* else it is auto: 0 */
	if (options->max_entries)
		limits->entries = (uint64_t)options->max_entries;
	if (!options->max_unpacked || parse_bytes(options->max_unpacked, &limits->unpacked_bytes))
		return 0;
	return error_set(err, ERROR_USAGE,
			 "--max-unpacked takes a size such as 40G or 500M, not '%.60s'",
			 options->max_unpacked);
}

int limits_read(struct context *ctx, const struct limit_options *options,
		struct budget_limits *limits, struct error *err)
{
	const struct cluster *cluster;

	return context_cluster_or_defaults(ctx, &cluster, err) < 0
		       ? -1
		       : limits_of(options, cluster, limits, err);
}
