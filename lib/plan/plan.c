/* SPDX-License-Identifier: MIT */
/* A plan and a conflict as JSON, and the plan back from it. */
#include "plan/plan.h"
#include "plan/component.h"

#include <string.h>

static void add_texts(cJSON *json, const char *name, const char *const *texts, size_t count)
{
	cJSON *list = count ? cJSON_AddArrayToObject(json, name) : NULL;

	for (size_t i = 0; i < count; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(texts[i]));
}

static void add_base(cJSON *json, const struct plan_base *base)
{
	cJSON *item = cJSON_AddObjectToObject(json, "base");

	cJSON_AddStringToObject(item, "name", base->name);
	cJSON_AddStringToObject(item, "status", base->status);
	json_add_text(item, "replaces", base->replaces);
	json_add_text(item, "package", base->packages);
	cJSON_AddStringToObject(item, "reason", base->note);
	cJSON_AddStringToObject(item, "source", base->source);
}

static void add_overruled(cJSON *json, const struct plan *plan)
{
	cJSON *list = plan->overruled_count ? cJSON_AddArrayToObject(json, "overruled") : NULL;

	for (size_t i = 0; i < plan->overruled_count; i++) {
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "id", plan->overruled[i].id);
		cJSON_AddStringToObject(item, "because", plan->overruled[i].because);
		cJSON_AddStringToObject(item, "source", plan->overruled[i].source);
		cJSON_AddItemToArray(list, item);
	}
}

static void add_plan(cJSON *json, const struct plan *plan)
{
	cJSON *requests, *stack;

	cJSON_AddStringToObject(json, "accelerator", plan->accelerator);
	if (plan->arch)
		cJSON_AddStringToObject(json, "arch", plan->arch);
	cJSON_AddStringToObject(json, "catalog", plan->revision);
	requests = cJSON_AddArrayToObject(json, "requests");
	for (size_t i = 0; i < plan->request_count; i++)
		cJSON_AddItemToArray(requests, cJSON_CreateString(plan->requests[i]));
	add_texts(json, "allow", plan->allow, plan->allow_count);
	add_overruled(json, plan);
	stack = cJSON_AddObjectToObject(json, "stack");
	for (size_t i = 0; i < plan->count; i++) {
		const struct choice *choice = &plan->choices[i];
		cJSON *item = cJSON_AddObjectToObject(stack, choice->name);

		cJSON_AddStringToObject(item, "version", choice->version);
		cJSON_AddStringToObject(item, "reason", choice->reason);
		cJSON_AddStringToObject(item, "source", choice->source);
		cJSON_AddStringToObject(
			item, "package",
			!*choice->run_packages && choice->pip ? choice->pip : choice->run_packages);
		json_add_text(item, "certainty", choice->certainty);
		json_add_text(item, "build_package", choice->build_packages);
		json_add_text(item, "pip", choice->pip);
		json_add_text(item, "index", choice->index);
		json_add_text(item, "download", choice->download);
		json_add_text(item, "sha256", choice->sha256);
		json_add_text(item, "refused", choice->refused);
		json_add_text(item, "wheel", choice->wheel);
	}
	if (plan->base.name && *plan->base.name)
		add_base(json, &plan->base);
	if (plan->pinned.at)
		cJSON_AddItemToObject(json, "pinned", pinned_to_json(&plan->pinned));
	add_texts(json, "env", plan->env, plan->env_count);
	add_texts(json, "notes", plan->notes, plan->note_count);
	if (plan->other)
		add_plan(cJSON_AddObjectToObject(json, "other"), plan->other);
}

cJSON *plan_to_json(const struct plan *plan)
{
	cJSON *json = json_document();

	cJSON_AddBoolToObject(json, "ok", true);
	add_plan(json, plan);
	return json;
}

cJSON *stacks_to_json(void)
{
	cJSON *json = json_document();

	cJSON_AddBoolToObject(json, "ok", true);
	cJSON_AddArrayToObject(json, "stacks");
	return json;
}

void stacks_add_plan(cJSON *json, const struct plan *plan)
{
	cJSON *item = cJSON_CreateObject();

	add_plan(item, plan);
	cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(json, "stacks"), item);
}

static const char *text_or_empty(const cJSON *object, const char *name, struct arena *arena)
{
	const char *text = json_text(object, name, arena);

	return text ? text : "";
}

static size_t read_texts(const cJSON *list, struct arena *arena, const char **texts, size_t max)
{
	const cJSON *item;
	size_t count = 0;

	cJSON_ArrayForEach (item, list)
		if (cJSON_IsString(item) && count < max)
			texts[count++] = arena_strdup(arena, item->valuestring);
	return count;
}

static void read_choice(const cJSON *item, struct arena *arena, struct choice *choice)
{
	*choice = (struct choice){
		.name = arena_strdup(arena, item->string),
		.version = text_or_empty(item, "version", arena),
		.reason = text_or_empty(item, "reason", arena),
		.source = text_or_empty(item, "source", arena),
		.certainty = text_or_empty(item, "certainty", arena),
		.run_packages = text_or_empty(item, "package", arena),
		.build_packages = text_or_empty(item, "build_package", arena),
		.pip = text_or_empty(item, "pip", arena),
		.index = text_or_empty(item, "index", arena),
		.download = text_or_empty(item, "download", arena),
		.sha256 = text_or_empty(item, "sha256", arena),
		.refused = text_or_empty(item, "refused", arena),
		.wheel = text_or_empty(item, "wheel", arena),
	};
	if (*choice->pip && strcmp(choice->pip, choice->run_packages) == 0)
		choice->run_packages = "";
}

static void read_base(const cJSON *json, struct arena *arena, struct plan_base *base)
{
	*base = (struct plan_base){
		.name = text_or_empty(json, "name", arena),
		.status = text_or_empty(json, "status", arena),
		.replaces = text_or_empty(json, "replaces", arena),
		.packages = text_or_empty(json, "package", arena),
		.note = text_or_empty(json, "reason", arena),
		.source = text_or_empty(json, "source", arena),
	};
}

static void read_overruled(const cJSON *json, struct arena *arena, struct plan *plan)
{
	const cJSON *item;

	plan->allow_count =
		read_texts(json_member(json, "allow"), arena, plan->allow, PLAN_ALLOW_MAX);
	cJSON_ArrayForEach (item, json_member(json, "overruled"))
		plan_overrule(plan, text_or_empty(item, "id", arena),
			      text_or_empty(item, "because", arena),
			      text_or_empty(item, "source", arena));
}

/* A processor that is not named is x86_64; so it is in locks of older programs. */
static int read_arch(const cJSON *json, struct arena *arena, struct plan *plan, struct error *err)
{
	const char *text = json_text(json, "arch", arena), *arch = text ? arch_by_name(text) : NULL;

	if (text && !arch)
		return error_set(
			err, ERROR_USAGE,
			"the plan is for the processor '%s', and stacks are for " ARCH_LIST, text);
	plan->arch = arch && strcmp(arch, ARCH_DEFAULT) != 0 ? arch : NULL;
	return 0;
}

/* All but the plan of the other processor. */
static int plan_read(const cJSON *json, struct arena *arena, struct plan *plan, struct error *err)
{
	const cJSON *requests = json_member(json, "requests"), *item;

	*plan = (struct plan){.accelerator = text_or_empty(json, "accelerator", arena),
			      .revision = text_or_empty(json, "catalog", arena)};
	if (read_arch(json, arena, plan, err) < 0)
		return -1;
	plan->requests = ARENA_ARRAY(arena, (size_t)cJSON_GetArraySize(requests) + 1, const char *);
	cJSON_ArrayForEach (item, requests) {
		if (cJSON_IsString(item))
			plan->requests[plan->request_count++] =
				arena_strdup(arena, item->valuestring);
	}
	read_overruled(json, arena, plan);
	if (!cJSON_IsObject(json_member(json, "stack")))
		return error_set(err, ERROR_USAGE, "the plan holds no stack");
	cJSON_ArrayForEach (item, json_member(json, "stack")) {
		struct choice *choice = &plan->choices[plan->count];

		if (plan->count == PLAN_CHOICES_MAX)
			return error_set(err, ERROR_USAGE, "the plan holds too many components");
		read_choice(item, arena, choice);
		if (component_by_name(choice->name) == COMPONENT_NONE)
			return error_set(err, ERROR_USAGE,
					 "the plan holds '%s', and nothing is known as that",
					 choice->name);
		if (plan_choice(plan, choice->name))
			return error_set(err, ERROR_USAGE, "the plan holds %s twice", choice->name);
		if (!*choice->version)
			return error_set(err, ERROR_USAGE, "the plan's %s has no version",
					 choice->name);
		plan->count++;
	}
	/* with `stack: []` nothing was asked for, and nothing is chosen */
	if (!plan->count && (plan->request_count || !cJSON_IsArray(requests)))
		return error_set(err, ERROR_USAGE, "the plan holds no stack");
	read_base(json_member(json, "base"), arena, &plan->base);
	plan->env_count =
		read_texts(json_member(json, "env"), arena, plan->env, ARRAY_LEN(plan->env));
	plan->note_count =
		read_texts(json_member(json, "notes"), arena, plan->notes, PLAN_NOTES_MAX);
	return pinned_from_json(json_member(json, "pinned"), arena, &plan->pinned, err);
}

int plan_from_json(const cJSON *json, struct arena *arena, struct plan *plan, struct error *err)
{
	const cJSON *second = json_member(json, "other");
	struct plan *other = second ? ARENA_NEW(arena, struct plan) : NULL;

	if (plan_read(json, arena, plan, err) < 0)
		return -1;
	if (!other)
		return 0;
	if (plan_read(second, arena, other, err) < 0)
		return error_wrap(err, "other");
	if (strcmp(plan_arch(plan), plan_arch(other)) == 0)
		return error_set(err, ERROR_USAGE, "the plan and its 'other' are both for %s",
				 plan_arch(plan));
	plan->other = other;
	return 0;
}

const struct choice *plan_choice(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->count; i++)
		if (strcmp(plan->choices[i].name, name) == 0)
			return &plan->choices[i];
	return NULL;
}

bool plan_breaks(const struct plan *plan, const char *id)
{
	for (size_t i = 0; i < plan->overruled_count; i++)
		if (strcmp(plan->overruled[i].id, id) == 0)
			return true;
	return false;
}

bool plan_overrule(struct plan *plan, const char *id, const char *because, const char *source)
{
	if (plan->overruled_count == PLAN_ALLOW_MAX || plan_breaks(plan, id))
		return false;
	plan->overruled[plan->overruled_count++] = (struct overruled){id, because, source};
	return true;
}
