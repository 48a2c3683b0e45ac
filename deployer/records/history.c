/* SPDX-License-Identifier: MIT */
#include "deployer/records/history.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "core/private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *history_folder(const struct cluster *cluster, struct arena *arena)
{
	return cluster_state_path(cluster, "history", arena);
}

/* The numbers of the documents, in their order; *numbers is in the arena. */
static int history_numbers(const struct cluster *cluster, struct arena *arena, int **numbers,
			   size_t *count, struct error *err)
{
	const char **names;

	*count = 0;
	if (!file_exists(history_folder(cluster, arena)))
		return 0;
	if (folder_list(history_folder(cluster, arena), ".json", arena, &names, err) < 0)
		return -1;
	while (names[*count])
		++*count;
	*numbers = ARENA_ARRAY(arena, *count + 1, int);
	for (size_t i = 0; i < *count; i++)
		(*numbers)[i] = (int)strtol(names[i], NULL, 10);
	return 0;
}

/* Six digits, so that the order of the names is that of the numbers. */
static const char *history_path(const struct cluster *cluster, int number, struct arena *arena)
{
	return arena_printf(arena, "%s/%06d.json", history_folder(cluster, arena), number);
}

/* The first state of a cluster is worth it, too: a cluster may be older than its history. */
static bool history_is_worth(const struct fleet *fleet, const struct history_note *note)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct error ignored = {0};
	int *numbers;
	size_t count;

	if (note->plan &&
	    (history_numbers(fleet->cluster, &arena, &numbers, &count, &ignored) < 0 || count == 0))
		return true;
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->members[i].changed || fleet->members[i].failed)
			return true;
	return false;
}

static const char *history_outcome(const struct fleet *fleet)
{
	size_t failures = fleet_failures(fleet);

	if (fleet_active(fleet) == fleet_asked(fleet))
		return "done";
	return failures < fleet_asked(fleet) ? "partial" : "failed";
}

static void history_add_hosts(const struct fleet *fleet, cJSON *json)
{
	cJSON *hosts = cJSON_AddArrayToObject(json, "hosts");

	for (size_t i = 0; i < fleet->count; i++) {
		const struct member *m = &fleet->members[i];
		cJSON *item;

		if (m->left_out)
			continue;
		item = cJSON_CreateObject();
		cJSON_AddItemToArray(hosts, item);
		cJSON_AddStringToObject(item, "host", m->host->name);
		cJSON_AddStringToObject(item, "outcome",
					m->failed    ? "failed"
					: m->waits   ? "left"
					: m->changed ? "changed"
						     : "unchanged");
		json_add_text(item, "error", m->failed ? m->err.text : NULL);
	}
}

/* "openmpi 4.1.4, python 3.11.2": the stack in short. */
static void history_add_stack(const struct plan *plan, cJSON *json)
{
	_cleanup_(str_release) struct str line = STR_INIT;

	for (size_t i = 0; i < plan->count; i++)
		str_addf(&line, "%s%s %s", i ? ", " : "", plan->choices[i].name,
			 plan->choices[i].version);
	cJSON_AddStringToObject(json, "accelerator", plan->accelerator);
	cJSON_AddStringToObject(json, "stack", line.text);
}

static cJSON *history_document(const struct fleet *fleet, const struct history_note *note,
			       int number)
{
	cJSON *json = json_document(), *lock;
	char now[24];

	clock_iso8601(now);
	cJSON_AddNumberToObject(json, "number", number);
	cJSON_AddStringToObject(json, "time", now);
	cJSON_AddStringToObject(json, "command", note->command);
	json_add_text(json, "user", fleet->owner.user);
	json_add_text(json, "machine", fleet->owner.machine);
	cJSON_AddStringToObject(json, "outcome", history_outcome(fleet));
	history_add_hosts(fleet, json);
	if (!note->plan)
		return json;
	json_add_text(json, "image", note->image);
	json_add_text(json, "recipe", note->recipe);
	history_add_stack(note->plan, json);
	lock = plan_to_json(note->plan);
	cJSON_AddItemToObject(json, "lock", lock);
	return json;
}

static int history_write(const struct fleet *fleet, const struct history_note *note,
			 struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	int *numbers, number = 1;
	size_t count;

	if (private_folder(history_folder(fleet->cluster, &arena), err) < 0 ||
	    history_numbers(fleet->cluster, &arena, &numbers, &count, err) < 0)
		return -1;
	if (count)
		number = numbers[count - 1] + 1;
	json = history_document(fleet, note, number);
	if (json_write(history_path(fleet->cluster, number, &arena), json, 0600, err) < 0)
		return -1;
	for (size_t i = 0; i < count && numbers[i] <= number - HISTORY_MAX; i++)
		unlink(history_path(fleet->cluster, numbers[i], &arena));
	return 0;
}

void history_add(const struct fleet *fleet, const struct history_note *note)
{
	struct error err = {0};

	if (history_is_worth(fleet, note) && history_write(fleet, note, &err) < 0)
		log_warn("the history does not get this: %s", err.text);
}

int history_read(const struct cluster *cluster, cJSON **documents, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	int *numbers;
	size_t count;

	*documents = NULL;
	if (history_numbers(cluster, &arena, &numbers, &count, err) < 0)
		return -1;
	*documents = cJSON_CreateArray();
	for (size_t i = 0; i < count; i++) {
		cJSON *json;

		if (json_read(history_path(cluster, numbers[i], &arena), &json, err) < 0)
			return -1;
		cJSON_AddItemToArray(*documents, json);
	}
	return 0;
}

static bool history_same_text(const cJSON *a, const cJSON *b, const char *name)
{
	const cJSON *x = json_member(a, name), *y = json_member(b, name);

	return (!x && !y) || (x && y && cJSON_Compare(x, y, true));
}

static bool history_sets_image(const cJSON *document)
{
	return json_member(document, "stack") != NULL;
}

static bool history_ended_well(const cJSON *document)
{
	const cJSON *outcome = json_member(document, "outcome");

	return cJSON_IsString(outcome) && strcmp(outcome->valuestring, "done") == 0;
}

static bool history_is_before(const cJSON *document, const cJSON *last)
{
	return history_sets_image(document) && history_ended_well(document) &&
	       !(history_same_text(document, last, "image") &&
		 history_same_text(document, last, "recipe") &&
		 history_same_text(document, last, "stack"));
}

static int history_find_number(const cJSON *documents, int number, const cJSON **found,
			       struct error *err)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, documents)
		if (json_int(item, "number", 0) == number)
			*found = item;
	if (!*found)
		return error_set(
			err, ERROR_USAGE,
			"there is no number %d in the history; 'ringup history' lists what there is",
			number);
	if (!history_sets_image(*found))
		return error_set(
			err, ERROR_USAGE,
			"number %d of the history set no image; take that of an 'up' or 'rollback'",
			number);
	return 0;
}

int history_find(const cJSON *documents, int number, const cJSON **found, struct error *err)
{
	const cJSON *last = NULL, *item;

	*found = NULL;
	if (number)
		return history_find_number(documents, number, found, err);
	cJSON_ArrayForEach (item, documents)
		if (history_sets_image(item))
			last = item;
	cJSON_ArrayForEach (item, documents)
		if (item != last && history_is_before(item, last))
			*found = item;
	if (*found)
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"there is nothing to go back to: the history has no 'up' that ended well with another image or stack");
}
