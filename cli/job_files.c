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
