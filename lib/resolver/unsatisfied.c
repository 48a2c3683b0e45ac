/* SPDX-License-Identifier: MIT */
#include "resolver/unsatisfied.h"

#include <stdio.h>
#include <string.h>

cJSON *unsatisfied_to_json(const struct unsatisfied *why)
{
	cJSON *json = json_document();
	cJSON *list;

	cJSON_AddBoolToObject(json, "ok", false);
	if (why->arch)
		cJSON_AddStringToObject(json, "arch", why->arch);
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

int unsatisfied_advise(const struct unsatisfied *why, struct arena *arena, struct error *err)
{
	const char *words = "";

	for (size_t i = 0; i < why->allow_count; i++)
		words = arena_printf(arena, "%s%s--allow %s", words, i ? " " : "", why->allow[i]);
	if (*words && why->allowed)
		error_advise(err, "%s", why->allowed);
	return *words ? error_advise(err, "%s overrule%s", words,
				     why->allow_count == 1 ? "s the rule that refuses it"
							   : " the rules that refuse it")
		      : -1;
}

int unsatisfied_say(const struct unsatisfied *why, struct arena *arena, struct error *err)
{
	const char *advice = "";

	error_set(err, ERROR_UNSATISFIED, "no stack%s%s satisfies the request%s%s",
		  why->arch ? " for " : "", why->arch ? why->arch : "", why->nothing ? ": " : "",
		  why->nothing ? why->nothing : "");
	for (size_t i = 0; i < why->count; i++) {
		size_t used = strlen(err->text);
		/* a reason of several requests is printed once */
		bool goes_on = i + 1 < why->count && strcmp(why->conflicts[i].because,
							    why->conflicts[i + 1].because) == 0;
		bool went_on =
			i && strcmp(why->conflicts[i].because, why->conflicts[i - 1].because) == 0;

		snprintf(err->text + used, sizeof(err->text) - used, "%s%s%s%s",
			 !i	   ? ": "
			 : went_on ? " and "
				   : "; ",
			 why->conflicts[i].request, goes_on ? "" : ": ",
			 goes_on ? "" : why->conflicts[i].because);
	}
	for (size_t i = 0; i < why->suggestion_count; i++)
		advice = arena_printf(arena, "%s%s%s", advice, i ? ", or " : "",
				      why->suggestions[i]);
	if (*advice)
		error_advise(err, "this would work: %s", advice);
	for (size_t i = 0; i < why->group_count; i++)
		advice = arena_printf(arena, "%s%s%s -> %s", i ? advice : "", i ? "; " : "",
				      why->groups[i].members, why->groups[i].stack);
	if (why->group_count)
		error_advise(err, "split the cluster: %s", advice);
	return unsatisfied_advise(why, arena, err);
}
