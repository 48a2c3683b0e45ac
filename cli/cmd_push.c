/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/move.h"
#include "cli/app/stage_facts.h"
#include "cli/app/stage_plan.h"
#include "cli/app/stage_push.h"

#include "core/foreign.h"
#include "core/json.h"

struct options {
	struct move_options move;
	struct words allow;
	bool no_facts;
};

static const struct opt options[] = {
	MOVE_OPTIONS(struct options, move),
	ACCESS_OPTIONS(struct options, move.to),
	ALLOW_OPTION(struct options, allow),
	FACTS_OPTION(struct options, no_facts),
	OPT_END,
};

/* The cluster's own image, built when its registry lacks it. */
static int push_own(struct context *ctx, const struct options *o, struct error *err)
{
	const struct move_options *move = &o->move;
	struct stages s;
	bool sent;

	if (stage_cluster(&s, ctx, err) < 0)
		return -1;
	s.allow = o->allow;
	s.no_facts = o->no_facts;
	if (limits_of(&move->limits, &s.cluster, &s.limits, err) < 0 || stage_plan(&s, err) < 0 ||
	    stage_provide(&s, &move->to, &sent, err) < 0)
		return -1;
	if (ctx->json) {
		_cleanup_(json_free) cJSON *json = json_document();

		cJSON_AddStringToObject(json, "image", reference_text(&s.reference, s.arena));
		cJSON_AddBoolToObject(json, "sent", sent);
		json_print(stdout, json);
	} else {
		say("%s %s\n", reference_text(&s.reference, s.arena),
		    sent ? "pushed" : "is there already");
	}
	return 0;
}

static int push_check(const struct place *from, const struct place *to, struct error *err)
{
	if (from->kind != PLACE_REGISTRY && to->kind == PLACE_REGISTRY)
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"push sends oci:DIR[:TAG], docker-archive:FILE or docker-daemon:NAME to a registry; between registries use 'ringup copy'");
}

static int push_run(struct context *ctx, void *values, const char *const *arguments,
		    struct error *err)
{
	const struct options *o = values;

	if (!arguments[0])
		return push_own(ctx, o, err);
	if (!arguments[1])
		return error_set(
			err, ERROR_USAGE,
			"push takes a source and a reference, or neither: ringup push SRC HOST[:PORT]/NAME:TAG");
	return move_images(ctx, &o->move, arguments, push_check, err);
}

const struct command command_push = {
	.name = "push",
	.arguments = "[SRC... REF]",
	.summary = "builds the cluster's image and pushes it to its registry, or pushes SRC to REF",
	.help = "Without arguments nothing is built or sent when the registry has an image of the same content.\n"
		"SRC is oci:DIR[:TAG], docker-archive:FILE[:NAME:TAG] ('-' is standard input) or\n"
		"docker-daemon:NAME[:TAG]. Only what the registry lacks is sent, and the tag is written last.\n"
		"A note keeps what an archive's layers became, so they are packed only once.\n"
		"Several sources go to a REF that ends in '/', each under its own name and tag.\n\n"
		"  ringup push oci:image registry.lab:5000/team/train:1\n"
		"  ringup push docker-archive:a.tar docker-archive:b.tar registry.lab:5000/team/\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = push_run,
};
