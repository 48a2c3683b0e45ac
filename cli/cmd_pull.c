/* SPDX-License-Identifier: MIT */
#include "cli/move.h"

struct options {
	struct move_options move;
};

static const struct opt options[] = {
	MOVE_OPTIONS(struct options, move),
	REMOTE_OPTIONS(struct options, move.from),
	OPT_END,
};

static int run(struct context *ctx, void *values, const char *const *arguments, struct error *err)
{
	const struct options *o = values;
	struct place from, to;

	if (place_parse(arguments[0], ctx->arena, &from, err) < 0 ||
	    place_parse(arguments[1], ctx->arena, &to, err) < 0)
		return -1;
	if (from.kind != PLACE_REGISTRY || to.kind == PLACE_REGISTRY)
		return error_set(
			err, ERROR_USAGE,
			"pull brings an image from a registry to oci:DIR[:TAG], "
			"docker-archive:FILE or docker-daemon:NAME; between registries use "
			"'ringup copy'");
	return move_image(ctx, &o->move, &from, &to, err);
}

const struct command command_pull = {
	.name = "pull",
	.arguments = "REF DST",
	.summary = "brings an image from a registry to this machine",
	.help = "DST is oci:DIR[:TAG], docker-archive:FILE[:NAME:TAG] ('-' is standard output) or\n"
		"docker-daemon:NAME[:TAG]. Several blobs come side by side, each hashed while it "
		"arrives. What\n"
		"is in the layout already is not asked for, and an interrupted pull goes on where "
		"it was.\n\n"
		"  ringup pull registry.lab:5000/team/train:1 oci:image\n"
		"  ringup pull --platform linux/arm64 registry.lab:5000/team/train:1 "
		"docker-archive:train.tar\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 2,
	.max_arguments = 2,
	.run = run,
};
