/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"

#include "core/foreign.h"
#include "core/json.h"

static int version_run(struct context *ctx, void *options, const char *const *arguments,
		       struct error *err)
{
	(void)options;
	(void)arguments;
	(void)err;
	if (ctx->json) {
		_cleanup_(json_free) cJSON *json = json_document();

		cJSON_AddStringToObject(json, "version", RINGUP_VERSION);
		json_print(stdout, json);
	} else {
		say("%s\n", "ringup " RINGUP_VERSION);
	}
	return 0;
}

const struct command command_version = {
	.name = "version",
	.arguments = "",
	.summary = "prints the version",
	.help = "",
	.run = version_run,
};
