/* SPDX-License-Identifier: MIT */
#include "oci/normalise.h"

#include <time.h>

void config_time(int64_t seconds, char text[static 40])
{
	time_t time = (time_t)seconds;
	struct tm tm;

	gmtime_r(&time, &tm);
	strftime(text, 40, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static void set_text(cJSON *object, const char *name, const char *text)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	if (item)
		cJSON_ReplaceItemInObjectCaseSensitive(object, name, cJSON_CreateString(text));
	else
		cJSON_AddStringToObject(object, name, text);
}

void config_normalise(cJSON *config, int64_t created_s)
{
	static const char *const traces[] = {"container", "container_config", "docker_version",
					     "id",	  "parent",	      "parent_id"};
	static const char *const names[] = {"Hostname", "Domainname", "Image"};
	cJSON *settings = cJSON_GetObjectItemCaseSensitive(config, "config"), *entry;
	char created[40];

	for (size_t i = 0; i < ARRAY_LEN(traces); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(config, traces[i]);
	for (size_t i = 0; settings && i < ARRAY_LEN(names); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(settings, names[i]);
	config_time(created_s, created);
	set_text(config, "created", created);
	cJSON_ArrayForEach (entry, cJSON_GetObjectItemCaseSensitive(config, "history"))
		set_text(entry, "created", created);
}
