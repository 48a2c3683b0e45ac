/* SPDX-License-Identifier: MIT */
#include "deployer/job/record.h"

#include "core/file.h"
#include "core/json.h"
#include "core/private.h"
#include "core/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX 10000
#define RESERVE_BYTES 16384 /* more than a record has, but for hundreds of hosts */

static const char *jobs_folder(const struct cluster *cluster, struct arena *arena)
{
	return cluster_state_path(cluster, "jobs", arena);
}

static int check_name(const struct cluster *cluster, const char *name, struct error *err)
{
	if (job_name_check(name, err) < 0)
		return -1;
	if (cluster_host(cluster, name))
		return error_set(err, ERROR_USAGE,
				 "a job cannot be called '%s': a host has that name", name);
	return 0;
}

/* Keeps disk space for the record of the job's end: what fills the disk is often the job. */
static void record_reserve(const struct job_record *record, struct arena *arena)
{
	static const char zeros[RESERVE_BYTES];
	struct error ignored = {0};

	file_write(arena_printf(arena, "%s/reserve", record->folder), zeros, sizeof(zeros), 0600,
		   &ignored);
}

static int record_put(const struct job_record *record, const cJSON *json, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *path = arena_printf(&arena, "%s/job.json", record->folder);
	const char *reserve = arena_printf(&arena, "%s/reserve", record->folder);

	if (*record->ended)
		unlink(reserve); /* from here on this record may have the space */
	return json_write(path, json, 0600, err);
}

static void record_add_names(cJSON *json, const char *key, const char *const *names)
{
	cJSON *array = cJSON_AddArrayToObject(json, key);

	for (; names && *names; names++)
		cJSON_AddItemToArray(array, cJSON_CreateString(*names));
}

int job_record_write(const struct job_record *record, struct error *err)
{
	_cleanup_(json_free) cJSON *json = json_document();

	cJSON_AddStringToObject(json, "name", record->name);
	cJSON_AddStringToObject(json, "state", record->state);
	cJSON_AddNumberToObject(json, "status", record->status);
	cJSON_AddStringToObject(json, "reason", record->reason);
	cJSON_AddStringToObject(json, "command", record->command);
	cJSON_AddStringToObject(json, "launcher", record->launcher);
	cJSON_AddNumberToObject(json, "ranks", record->ranks);
	cJSON_AddNumberToObject(json, "hosts", record->hosts);
	cJSON_AddStringToObject(json, "started", record->started);
	cJSON_AddStringToObject(json, "ended", record->ended);
	cJSON_AddNumberToObject(json, "pid", record->pid);
	json_add_text(json, "next", record->next);
	json_add_text(json, "newer", record->newer);
	json_add_text(json, "id", record->id);
	json_add_text(json, "scheduler", record->scheduler);
	record_add_names(json, "on", record->host_names);
	if (record->unswept && *record->unswept)
		record_add_names(json, "unswept", record->unswept);
	json_add_text(json, "sync", record->sync);
	if (record->grace_s)
		cJSON_AddNumberToObject(json, "grace", record->grace_s);
	if (record->is_local)
		cJSON_AddBoolToObject(json, "local", true);
	return record_put(record, json, err);
}

bool job_is_alive(const struct job_record *record)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(fd_close) int lock =
		open(arena_printf(&arena, "%s/lock", record->folder), O_RDONLY | O_CLOEXEC);

	/* a shared lock: two that ask at the same time must not take each other for the job */
	return lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) < 0;
}

/* "" for what a record does not have: people edit it, and an older ringup wrote less. */
static const char *record_text(const cJSON *json, const char *name, struct arena *arena)
{
	const char *text = json_text(json, name, arena);

	return text ? text : "";
}

static const char *const *record_names(const cJSON *json, const char *key, struct arena *arena)
{
	struct words names = WORDS_INIT(arena);
	const cJSON *item;

	cJSON_ArrayForEach (item, json_member(json, key))
		if (cJSON_IsString(item))
			words_add(&names, item->valuestring);
	return words_list(&names);
}

static int read_folder(const char *folder, const char *name, struct arena *arena,
		       struct job_record *record, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;

	if (json_read_input(arena_printf(arena, "%s/job.json", folder), &json, err) < 0)
		return -1;
	*record = (struct job_record){
		.name = name,
		.folder = folder,
		.state = record_text(json, "state", arena),
		.command = record_text(json, "command", arena),
		.launcher = record_text(json, "launcher", arena),
		.started = record_text(json, "started", arena),
		.ended = record_text(json, "ended", arena),
		.reason = record_text(json, "reason", arena),
		.next = record_text(json, "next", arena),
		.newer = record_text(json, "newer", arena),
		.id = record_text(json, "id", arena),
		.scheduler = record_text(json, "scheduler", arena),
		.host_names = record_names(json, "on", arena),
		.unswept = record_names(json, "unswept", arena),
		.sync = record_text(json, "sync", arena),
		.status = json_int(json, "status", 0),
		.ranks = json_int(json, "ranks", 0),
		.hosts = json_int(json, "hosts", 0),
		.pid = json_int(json, "pid", 0),
		.grace_s = json_int(json, "grace", 0),
		.is_local = cJSON_IsTrue(json_member(json, "local")),
	};
	return 0;
}

/* A job may have ended between a look at its record and one at its lock: then it is read again. */
static int read_settled(const char *folder, const char *name, struct arena *arena,
			struct job_record *record, struct error *err)
{
	if (read_folder(folder, name, arena, record, err) < 0)
		return -1;
	if (*record->ended || *record->scheduler || job_is_alive(record))
		return 0;
	if (read_folder(folder, name, arena, record, err) < 0)
		return -1;
	if (!*record->ended)
		record->state = "lost";
	return 0;
}

bool job_record_exists(const struct cluster *cluster, const char *name, struct arena *arena)
{
	return job_name_is_right(name) &&
	       file_exists(
		       arena_printf(arena, "%s/%s/job.json", jobs_folder(cluster, arena), name));
}

int job_record_read(const struct cluster *cluster, const char *name, struct arena *arena,
		    struct job_record *record, struct error *err)
{
	const char *folder = jobs_folder(cluster, arena);

	if (!job_record_exists(cluster, name, arena))
		return error_set(err, ERROR_USAGE,
				 "there is no job '%s' in %s; 'ringup ps' lists the jobs", name,
				 folder);
	if (read_settled(arena_printf(arena, "%s/%s", folder, name), arena_strdup(arena, name),
			 arena, record, err) < 0)
		return -1;
	if (!job_record_exists(cluster, record->newer, arena))
		return 0;
	name = record->newer;
	return read_settled(arena_printf(arena, "%s/%s", folder, name), name, arena, record, err);
}

int job_record_read_last(const struct cluster *cluster, const char *name, struct arena *arena,
			 struct job_record *record, struct error *err)
{
	if (job_record_read(cluster, name, arena, record, err) < 0)
		return -1;
	for (int i = 0; *record->next && i < NAMES_MAX; i++)
		if (job_record_read(cluster, record->next, arena, record, err) < 0)
			return -1;
	return 0;
}

/* One that runs keeps its name, unless this process runs it and starts it again. */
static int record_take_name(const struct cluster *cluster, const char *wanted, struct arena *arena,
			    struct error *err)
{
	struct error ignored = {0};
	struct job_record last;

	if (!*wanted || job_record_read_last(cluster, wanted, arena, &last, &ignored) < 0 ||
	    *last.ended || *last.scheduler || last.pid == getpid() || !job_is_alive(&last))
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"a job '%s' runs: give this one another name with --name, or end that one with 'ringup stop %s'",
		last.name, last.name);
}

/* From now on the name means the job that was given it last. Without this, 'wait' finds the older one. */
static void record_give_name(const char *folder, const char *wanted, const char *name,
			     struct arena *arena)
{
	struct job_record first;
	struct error ignored = {0};

	if (read_folder(arena_printf(arena, "%s/%s", folder, wanted), wanted, arena, &first,
			&ignored) < 0 ||
	    !*first.ended || first.pid == getpid()) /* that is a job started again */
		return;
	first.newer = name;
	job_record_write(&first, &ignored);
}

int job_record_create(const struct cluster *cluster, const char *wanted, struct arena *arena,
		      struct job_record *record, int *lock, struct error *err)
{
	const char *folder = jobs_folder(cluster, arena);
	_cleanup_(fd_close) int one_at_a_time = -1;

	if ((*wanted && check_name(cluster, wanted, err) < 0) ||
	    private_folder(cluster_state_path(cluster, "", arena), err) < 0 ||
	    private_folder(folder, err) < 0)
		return -1;
	one_at_a_time = folder_lock(folder);
	if (record_take_name(cluster, wanted, arena, err) < 0)
		return -1;
	for (int i = 1; i < NAMES_MAX; i++) {
		record->name = !*wanted ? arena_printf(arena, "job-%d", i)
			       : i == 1 ? wanted
					: arena_printf(arena, "%s-%d", wanted, i);
		record->folder = arena_printf(arena, "%s/%s", folder, record->name);
		if (mkdir(record->folder, 0700) == 0) {
			if (*wanted && i > 1)
				record_give_name(folder, wanted, record->name, arena);
			record_reserve(record, arena);
			return file_lock(arena_printf(arena, "%s/lock", record->folder), lock,
					 err) < 0
				       ? -1
				       : job_record_write(record, err);
		}
		if (errno != EEXIST)
			return error_errno(err, "cannot make the folder %s", record->folder);
	}
	return error_set(err, ERROR_FAILED,
			 "there are too many jobs called '%s'; remove old ones from %s", wanted,
			 folder);
}

static int record_order(const void *a, const void *b)
{
	const struct job_record *first = a, *second = b;
	int order = strcmp(first->started, second->started);

	/* job-10 comes after job-9 */
	return order ? order : strverscmp(first->name, second->name);
}

int job_records_list(const struct cluster *cluster, struct arena *arena, struct job_record **list,
		     size_t *count, struct error *err)
{
	const char *folder = jobs_folder(cluster, arena);
	const char **names;
	size_t all = 0;

	*count = 0;
	*list = NULL;
	if (!file_exists(folder))
		return 0;
	if (folder_list(folder, "", arena, &names, err) < 0)
		return -1;
	while (names[all])
		all++;
	*list = ARENA_ARRAY(arena, all + 1, struct job_record);
	for (size_t i = 0; i < all; i++) {
		struct error ignored = {0};

		if (job_record_exists(cluster, names[i], arena) &&
		    read_settled(arena_printf(arena, "%s/%s", folder, names[i]), names[i], arena,
				 &(*list)[*count], &ignored) == 0)
			(*count)++;
	}
	qsort(*list, *count, sizeof(**list), record_order);
	return 0;
}
