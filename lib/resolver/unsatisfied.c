/* SPDX-License-Identifier: MIT */
#include "resolver/unsatisfied.h"

#include "resolver/resolve.h"

cJSON *unsatisfied_to_json(const struct unsatisfied *why)
{
	cJSON *json = json_document();
	cJSON *list;

	cJSON_AddBoolToObject(json, "ok", false);
	list = cJSON_AddArrayToObject(json, "conflict");
	for (size_t i = 0; i < why->count; i++) {
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "request", why->conflicts[i].request);
		cJSON_AddStringToObject(item, "because", why->conflicts[i].because);
		cJSON_AddStringToObject(item, "source", why->conflicts[i].source);
		cJSON_AddItemToArray(list, item);
	}
	list = cJSON_AddArrayToObject(json, "suggestions");
	for (size_t i = 0; i < why->suggestion_count; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(why->suggestions[i]));
	list = why->allow_count ? cJSON_AddArrayToObject(json, "allow") : NULL;
	for (size_t i = 0; i < why->allow_count; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(why->allow[i]));
	list = why->group_count ? cJSON_AddArrayToObject(json, "groups") : NULL;
	for (size_t i = 0; i < why->group_count; i++) {
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "members", why->groups[i].members);
		cJSON_AddStringToObject(item, "stack", why->groups[i].stack);
		cJSON_AddItemToArray(list, item);
	}
	return json;
}
