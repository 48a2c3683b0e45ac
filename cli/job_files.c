/* SPDX-License-Identifier: MIT */
#include "cli/job_files.h"

#include "core/foreign.h"
#include "core/json.h"
#include "deployer/launcher/launcher.h"

#include <string.h>

void job_files_show(const struct context *ctx, const char *folder, const struct exporter *exporter,
		    const struct export_wish *wish, const struct export_files *files)
{
	_cleanup_(json_free) cJSON *json = NULL;
	cJSON *list;

	if (!ctx->json) {
		if (!folder)
			say_data(files->list[0].text, strlen(files->list[0].text));
		for (size_t i = 0; folder && i < files->count; i++)
			say("%s/%s\n", folder, files->list[i].name);
		return;
	}
	json = json_document();
	cJSON_AddStringToObject(json, "engine", exporter->name);
	cJSON_AddStringToObject(json, "job", wish->job.name);
	cJSON_AddStringToObject(json, "launcher", wish->job.launcher->name);
	json_add_text(json, "image", wish->image);
	cJSON_AddNumberToObject(json, "nodes", wish->nodes);
	cJSON_AddNumberToObject(json, "ranks", wish->world);
	list = cJSON_AddArrayToObject(json, "files");
	for (size_t i = 0; i < files->count; i++) {
		cJSON *file = cJSON_CreateObject();

		cJSON_AddStringToObject(file, "name", files->list[i].name);
		cJSON_AddStringToObject(file, "text", files->list[i].text);
		cJSON_AddItemToArray(list, file);
	}
	json_print(stdout, json);
}

const char *job_files_origin(const struct context *ctx, const char *const *begin,
			     const struct opt *rows, const void *values, const struct words *env,
			     const char *const *arguments)
{
	struct words words = WORDS_INIT(ctx->arena);

	words_add(&words, "ringup");
	if (ctx->cluster_named)
		words_add_all(&words, WORDS("-f", ctx->cluster_path));
	words_add_all(&words, begin);
	opt_words(rows, values, WORDS("env", "output", "detach", "dry-run"), &words);
	for (size_t i = 0; env && i < env->count; i++) {
		size_t length = strcspn(env->list[i], "=");

		words_addf(&words, "--env=%.*s%s", (int)length, env->list[i],
			   env->list[i][length] ? "=..." : "");
	}
	if (arguments[0] && (arguments[1] || *arguments[0] == '-'))
		words_add(&words, "--");
	words_add_all(&words, arguments);
	return export_line(words.list, ctx->arena);
}
