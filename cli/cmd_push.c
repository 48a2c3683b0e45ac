/* SPDX-License-Identifier: MIT */
#include "cli/stages.h"

#include "core/log.h"

static int push(struct stages *s, struct registry *registry, bool *sent, struct error *err)
{
	struct image image;
	bool found = false;

	if (stage_find_image(s, registry, &found, err) < 0)
		return -1;
	*sent = !found;
	if (found)
		return 0;
	if (stage_build(s, &image, err) < 0)
		return -1;
	return stage_push(s, registry, &image, err);
}

static int run(struct context *ctx, void *values, const char *const *arguments, struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	struct stages s;
	bool sent;

	(void)values;
	(void)arguments;
	if (stage_cluster(&s, ctx, err) < 0 || stage_plan(&s, err) < 0 ||
	    stage_recipe(&s, err) < 0 || stage_reference(&s, err) < 0 ||
	    stage_registry(&s, &registry, err) < 0)
		return -1;
	if (push(&s, registry, &sent, err) < 0)
		return -1;
	if (ctx->json) {
		_cleanup_(json_free) cJSON *json = json_document();

		cJSON_AddStringToObject(json, "image", reference_text(&s.reference, s.arena));
		cJSON_AddBoolToObject(json, "sent", sent);
		json_print(stdout, json);
	} else {
		printf("%s %s\n", reference_text(&s.reference, s.arena),
		       sent ? "pushed" : "is there already");
	}
	return 0;
}

const struct command command_push = {
	.name = "push",
	.arguments = "",
	.summary = "builds the cluster's image and pushes it to its registry",
	.help = "Nothing is built or sent when the registry holds an image of the same content.\n",
	.run = run,
};
