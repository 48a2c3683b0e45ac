/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/move.h"

struct options {
	struct move_options move;
};

static const struct opt options[] = {
	MOVE_OPTIONS(struct options, move),
	ACCESS_OPTIONS(struct options, move.from),
	OPT_END,
};

static int pull_check(const struct place *from, const struct place *to, struct error *err)
{
	if (from->kind == PLACE_REGISTRY && to->kind != PLACE_REGISTRY)
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"pull brings an image from a registry to oci:DIR[:TAG], docker-archive:FILE, docker-daemon:NAME or rootfs:DIR; between registries use 'ringup copy'");
}

static int pull_run(struct context *ctx, void *values, const char *const *arguments,
		    struct error *err)
{
	const struct options *o = values;

	return move_images(ctx, &o->move, arguments, pull_check, err);
}

const struct command command_pull = {
	.name = "pull",
	.arguments = "REF... DST",
	.summary = "brings an image from a registry to this machine",
	.help = "DST is oci:DIR[:TAG], docker-archive:FILE[:NAME:TAG] ('-' is standard output),\n"
		"docker-daemon:NAME[:TAG], or rootfs:DIR: the image's layers as one tree of files, each\n"
		"unpacked while the next ones come; DIR must be absent or empty.\n"
		"Several blobs come side by side, each hashed while it arrives. What the layout has already is not\n"
		"fetched again, and an interrupted pull is resumed.\n"
		"Several images go to one oci:DIR, each under its own name and tag.\n\n"
		"  ringup pull registry.lab:5000/team/train:1 oci:image\n"
		"  ringup pull --platform linux/arm64 registry.lab:5000/team/train:1 docker-archive:train.tar\n"
		"  ringup pull registry.lab:5000/team/train:1 rootfs:/srv/train\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 2,
	.max_arguments = -1,
	.run = pull_run,
};
