/* SPDX-License-Identifier: MIT */
/* ringup.lock, which travels through version control: what is accepted is written as the same. */
#include "tests/fuzz/fuzz.h"

#include "plan/lock.h"
#include "resolver/resolve.h"

#include <sys/stat.h>

/* The written copy: a folder in memory where there is one, since each write is synced. */
static void remove_copy(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/shm/ringup-fuzz-lock-%d", getpid());
	unlink(path);
}

static const char *copy_path(void)
{
	static char path[64];

	if (!*path) {
		snprintf(path, sizeof(path), "/dev/shm/ringup-fuzz-lock-%d", getpid());
		atexit(remove_copy);
	}
	return path;
}

static const struct catalog *small_catalog(void)
{
	static struct arena forever = ARENA_INIT;
	static struct catalog catalog;
	struct error err = {0};

	if (!catalog.count)
		fuzz_check(catalog_load("tests/golden/catalog", &forever, &catalog, &err) == 0);
	return &catalog;
}

static const char *const *list_of(const char *const *texts, size_t count, struct arena *arena)
{
	const char **list = ARENA_ARRAY(arena, count + 1, const char *);

	for (size_t i = 0; i < count; i++)
		list[i] = texts[i];
	return list;
}

/* Any lock can be held against today's catalog. */
static void check_fit(const struct plan *plan, struct arena *arena)
{
	struct resolve_input input = {.requests =
					      list_of(plan->requests, plan->request_count, arena),
				      .accelerator = "cpu"};
	struct unsatisfied why = {0};
	struct plan checked = *plan;
	struct error err = {0};
	int rc = plan_check(small_catalog(), &input, &checked, arena, &why, &err);

	fuzz_check_error(rc, &err);
	fuzz_check(rc == 0 || err.kind == ERROR_UNSATISFIED || err.kind == ERROR_USAGE);
	fuzz_check(why.count <= CONFLICTS_MAX);
}

static void check_copy(const struct lock *lock, struct arena *arena)
{
	struct lock_change changes[LOCK_CHANGES_MAX];
	struct error err = {0};
	struct stat before, after;
	struct lock again;
	bool found;

	fuzz_check(lock_write(copy_path(), &lock->plan, lock->recipe, lock->image, &err) == 0);
	fuzz_check(lock_read(copy_path(), arena, &again, &found, &err) == 0 && found);
	fuzz_check(strcmp(again.recipe, lock->recipe) == 0 &&
		   strcmp(again.image, lock->image) == 0);
	fuzz_check(again.plan.count == lock->plan.count);
	fuzz_check(again.plan.request_count == lock->plan.request_count);
	fuzz_check(lock_diff(&lock->plan, &again.plan, changes) == 0);
	fuzz_check(lock_is_same(&lock->plan, &again.plan));
	/* what says the same already is not written again */
	fuzz_check(stat(copy_path(), &before) == 0);
	fuzz_check(lock_write(copy_path(), &again.plan, again.recipe, again.image, &err) == 0);
	fuzz_check(stat(copy_path(), &after) == 0 && before.st_ino == after.st_ino);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *path = fuzz_file(data, size), *const * requests, *const * allow;
	struct lock_change changes[LOCK_CHANGES_MAX];
	struct plan nothing = {0};
	struct error err = {0};
	struct lock lock;
	bool found;
	int rc = lock_read(path, &arena, &lock, &found, &err);

	fuzz_check_error(rc, &err);
	if (rc < 0) {
		fuzz_check(err.kind == ERROR_USAGE && strstr(err.text, path));
		return 0;
	}
	fuzz_check(found && lock.plan.count && lock.plan.count <= PLAN_CHOICES_MAX);
	requests = list_of(lock.plan.requests, lock.plan.request_count, &arena);
	allow = list_of(lock.plan.allow, lock.plan.allow_count, &arena);
	fuzz_check(lock_match(&lock, path, requests, allow, "auto", &err) == 0);
	fuzz_check(lock_match(&lock, path, requests, allow, lock.plan.accelerator, &err) == 0);
	fuzz_check(lock_diff(&nothing, &lock.plan, changes) == lock.plan.count);
	fuzz_check(lock_diff(&lock.plan, &nothing, changes) == lock.plan.count);
	check_fit(&lock.plan, &arena);
	check_copy(&lock, &arena);
	return 0;
}
