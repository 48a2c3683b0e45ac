/* SPDX-License-Identifier: MIT */
/* A plan and a conflict as JSON, and the plan back from it. */
#include "plan/resolve.h"

#include <string.h>

cJSON *plan_to_json(const struct plan *plan)
{
	cJSON *json = json_document();
	cJSON *requests, *stack;

	cJSON_AddBoolToObject(json, "ok", true);
	cJSON_AddStringToObject(json, "accelerator", plan->accelerator);
	cJSON_AddStringToObject(json, "catalog", plan->revision);
	requests = cJSON_AddArrayToObject(json, "requests");
	for (size_t i = 0; i < plan->request_count; i++)
		cJSON_AddItemToArray(requests, cJSON_CreateString(plan->requests[i]));
	stack = cJSON_AddObjectToObject(json, "stack");
	for (size_t i = 0; i < plan->count; i++) {
		const struct choice *choice = &plan->choices[i];
		cJSON *item = cJSON_AddObjectToObject(stack, choice->name);

		cJSON_AddStringToObject(item, "version", choice->version);
		cJSON_AddStringToObject(item, "reason", choice->reason);
		cJSON_AddStringToObject(item, "source", choice->source);
		cJSON_AddStringToObject(item, "package", choice->run_packages);
		json_add_text(item, "build_package", choice->build_packages);
	}
	return json;
}

static const char *text_or_empty(const cJSON *object, const char *name, struct arena *arena)
{
	const char *text = json_text(object, name, arena);

	return text ? text : "";
}

int plan_from_json(const cJSON *json, struct arena *arena, struct plan *plan, struct error *err)
{
	const cJSON *requests = json_member(json, "requests"), *item;

	*plan = (struct plan){.accelerator = text_or_empty(json, "accelerator", arena),
			      .revision = text_or_empty(json, "catalog", arena)};
	plan->requests = ARENA_ARRAY(arena, (size_t)cJSON_GetArraySize(requests) + 1, const char *);
	cJSON_ArrayForEach (item, requests) {
		if (cJSON_IsString(item))
			plan->requests[plan->request_count++] =
				arena_strdup(arena, item->valuestring);
	}
	if (!cJSON_IsObject(json_member(json, "stack")))
		return error_set(err, ERROR_USAGE, "the plan holds no stack");
	cJSON_ArrayForEach (item, json_member(json, "stack")) {
		struct choice *choice = &plan->choices[plan->count];

		if (plan->count == PLAN_CHOICES_MAX)
			return error_set(err, ERROR_USAGE, "the plan holds too many components");
		*choice = (struct choice){
			.name = arena_strdup(arena, item->string),
			.version = text_or_empty(item, "version", arena),
			.reason = text_or_empty(item, "reason", arena),
			.source = text_or_empty(item, "source", arena),
			.run_packages = text_or_empty(item, "package", arena),
			.build_packages = text_or_empty(item, "build_package", arena),
		};
		if (!*choice->version)
			return error_set(err, ERROR_USAGE, "the plan's %s has no version",
					 choice->name);
		plan->count++;
	}
	if (!plan->count)
		return error_set(err, ERROR_USAGE, "the plan holds no stack");
	return 0;
}

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
	return json;
}
