/* SPDX-License-Identifier: MIT */
#include "plan/lock.h"

#include "core/file.h"

#include <string.h>

int lock_read(const char *path, struct arena *arena, struct lock *lock, bool *found,
	      struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const char *recipe, *image;
	double schema;

	*found = false;
	if (!file_exists(path))
		return 0;
	if (json_read_input(path, &json, err) < 0)
		return error_advise(err, "'ringup resolve --update' writes it anew");
	schema = json_number(json, "schema", 0);
	if (schema < 1 || schema > 1) {
		error_set(err, ERROR_USAGE, "%s: this ringup reads \"schema\": 1 only", path);
		return error_advise(
			err,
			"use the ringup that wrote it; 'ringup resolve --update' writes it anew");
	}
	if (plan_from_json(json, arena, &lock->plan, err) < 0) {
		error_wrap(err, "%s", path);
		return error_advise(err, "'ringup resolve --update' writes it anew");
	}
	recipe = json_text(json, "recipe", arena);
	image = json_text(json, "image", arena);
	lock->recipe = recipe ? recipe : "";
	lock->image = image ? image : "";
	*found = true;
	return 0;
}

int lock_write(const char *path, const struct plan *plan, const char *recipe, const char *image,
	       struct error *err)
{
	_cleanup_(json_free) cJSON *json = plan_to_json(plan), *old = NULL;
	struct error ignored = {0};

	json_add_text(json, "recipe", recipe);
	json_add_text(json, "image", image);
	if (file_exists(path) && json_read(path, &old, &ignored) == 0 &&
	    cJSON_Compare(json, old, true))
		return 0;
	return json_write(path, json, 0644, err);
}

static bool is_among(const char *text, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], text) == 0)
			return true;
	return false;
}

static int mismatch(const char *path, const char *what, const char *request, struct error *err)
{
	error_set(err, ERROR_USAGE, "%s was resolved for another stack: '%s' was %s", path, request,
		  what);
	return error_advise(
		err, "run 'ringup resolve': it keeps the locked versions where they still fit");
}

/* A rule that the lock's stack may break has to be overruled still. */
static int match_allow(const struct plan *plan, const char *path, const char *const *allow,
		       struct error *err)
{
	for (size_t i = 0; i < plan->allow_count; i++) {
		bool found = false;

		for (const char *const *id = allow; id && *id && !found; id++)
			found = strcmp(*id, plan->allow[i]) == 0;
		if (found)
			continue;
		error_set(err, ERROR_USAGE, "%s was resolved with --allow %s", path,
			  plan->allow[i]);
		return error_advise(
			err,
			"give it again, or write it into `allow` of the cluster file; 'ringup resolve' looks for a stack without it");
	}
	return 0;
}

int lock_match(const struct lock *lock, const char *path, const char *const *requests,
	       const char *const *allow, const char *accelerator, struct error *err)
{
	const struct plan *plan = &lock->plan;
	size_t count = 0;

	for (; requests[count]; count++)
		if (!is_among(requests[count], plan->requests, plan->request_count))
			return mismatch(path, "added since", requests[count], err);
	for (size_t i = 0; i < plan->request_count; i++)
		if (!is_among(plan->requests[i], requests, count))
			return mismatch(path, "taken away since", plan->requests[i], err);
	if (match_allow(plan, path, allow, err) < 0)
		return -1;
	if (strcmp(accelerator, "auto") != 0 && strcmp(accelerator, plan->accelerator) != 0)
		return mismatch(path, "written since",
				strcmp(accelerator, "cpu") == 0 ? "accelerator: cpu"
								: "accelerator: cuda",
				err);
	return 0;
}

static bool same_choice(const struct choice *a, const struct choice *b)
{
	return strcmp(a->version, b->version) == 0 &&
	       strcmp(a->run_packages, b->run_packages) == 0 && strcmp(a->pip, b->pip) == 0 &&
	       strcmp(a->index, b->index) == 0 && strcmp(a->sha256, b->sha256) == 0 &&
	       strcmp(a->wheel, b->wheel) == 0;
}

size_t lock_diff(const struct plan *from, const struct plan *to,
		 struct lock_change changes[static LOCK_CHANGES_MAX])
{
	size_t count = 0;

	if (strcmp(plan_arch(from), plan_arch(to)) != 0)
		changes[count++] = (struct lock_change){"arch", plan_arch(from), plan_arch(to)};
	for (size_t i = 0; i < to->count; i++) {
		const struct choice *now = &to->choices[i];
		const struct choice *old = plan_choice(from, now->name);

		if (!old || !same_choice(old, now))
			changes[count++] = (struct lock_change){
				now->name, old ? old->version : NULL, now->version};
	}
	if (!from->other != !to->other)
		changes[count++] =
			(struct lock_change){"arch", from->other ? plan_arch(from->other) : NULL,
					     to->other ? plan_arch(to->other) : NULL};
	for (size_t i = 0; i < from->count; i++)
		if (!plan_choice(to, from->choices[i].name))
			changes[count++] = (struct lock_change){from->choices[i].name,
								from->choices[i].version, NULL};
	return count;
}

static bool same_overruled(const struct plan *a, const struct plan *b)
{
	for (size_t i = 0; i < b->overruled_count; i++)
		if (!plan_breaks(a, b->overruled[i].id))
			return false;
	return a->overruled_count == b->overruled_count;
}

bool lock_is_same(const struct plan *from, const struct plan *to)
{
	struct lock_change changes[LOCK_CHANGES_MAX];
	_cleanup_(json_free) cJSON *old = pinned_to_json(&from->pinned);
	_cleanup_(json_free) cJSON *now = pinned_to_json(&to->pinned);

	if (lock_diff(from, to, changes) || !same_overruled(from, to) || !old != !now ||
	    (now && !cJSON_Compare(old, now, true)))
		return false;
	return !from->other == !to->other && (!to->other || lock_is_same(from->other, to->other));
}
