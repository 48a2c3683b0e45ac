/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/move.h"

struct options {
	struct move_options move;
};

#define FROM(member) offsetof(struct options, move.from.member)
static const struct opt options[] = {
	MOVE_OPTIONS(struct options, move),
	ACCESS_OPTIONS(struct options, move.to),
	{0, "from-ca", "FILE", "the same as --ca, for the source", OPT_TEXT, FROM(ca)},
	{0, "from-plain-http", NULL, "the same as --plain-http, for the source", OPT_FLAG,
	 FROM(plain_http)},
	OPT_END,
};
#undef FROM

static int copy_run(struct context *ctx, void *values, const char *const *arguments,
		    struct error *err)
{
	const struct options *o = values;

	return move_images(ctx, &o->move, arguments, NULL, err);
}

const struct command command_copy = {
	.name = "copy",
	.arguments = "SRC... DST",
	.summary = "copies an image between registries, layouts, archives and the daemon",
	.help = "SRC and DST are docker://REF or REF, oci:DIR[:TAG], docker-archive:FILE[:NAME:TAG] or\n"
		"docker-daemon:NAME[:TAG]. A copy from registry to registry does not touch the disk, and an index\n"
		"is copied whole unless --platform names one image of it. --ca and --plain-http are for DST.\n"
		"Several images go to HOST/PREFIX/ or to one oci:DIR, each under its own name and tag.\n\n"
		"  ringup copy registry.lab:5000/team/train:1 10.0.0.254:5000/team/train:1\n"
		"  ringup copy docker-daemon:train:1 oci:image:1\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 2,
	.max_arguments = -1,
	.run = copy_run,
};
