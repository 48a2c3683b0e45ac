/* SPDX-License-Identifier: MIT */
#include "core/temporary.h"

#include "core/file.h"
#include "core/log.h"
#include "core/str.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MARK ".unfinished-"
#define RANDOM_CHARACTERS 6 /* mkstemp(3)'s */
#define YOUNG_S 2	    /* another process may have made it without having locked it yet */

static void remove_it(const char *path, int fd)
{
	struct error why = {0};
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || time(NULL) - st.st_ctime < YOUNG_S)
		return;
	if (folder_remove(path, &why) < 0) /* a file, too */
		log_debug("%s", why.text);
}

/* Removes the leftovers of processes that have ended. */
static void temporary_sweep(const char *folder, const char *prefix, struct arena *arena)
{
	struct error ignored = {0};
	const char **names;

	if (folder_list(folder, "", arena, &names, &ignored) < 0)
		return;
	for (; *names; names++) {
		const char *path = arena_printf(arena, "%s/%s", folder, *names);
		_cleanup_(fd_close) int fd = -1;

		if (!starts_with(*names, prefix) ||
		    strlen(*names) != strlen(prefix) + RANDOM_CHARACTERS)
			continue;
		fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			remove_it(path, fd);
	}
}

static int temporary_make_one(char *template, enum temporary_kind kind)
{
	int fd;

	if (kind == TEMPORARY_FILE)
		return mkostemp(template, O_CLOEXEC);
	if (!mkdtemp(template))
		return -1;
	fd = open(template, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		rmdir(template);
	return fd;
}

int temporary_make(const char *path, enum temporary_kind kind, struct arena *arena,
		   const char **temporary, struct error *err)
{
	const char *folder = path_folder(arena, path), *slash = strrchr(path, '/');
	const char *prefix = arena_printf(arena, "%s" MARK, slash ? slash + 1 : path);
	char *made = arena_printf(arena, "%s" MARK "XXXXXX", path);
	int fd;

	*temporary = made;
	temporary_sweep(folder, prefix, arena);
	fd = temporary_make_one(made, kind);
	if (fd < 0)
		return error_errno(err, "cannot make %s beside %s",
				   kind == TEMPORARY_FILE ? "a file" : "a folder", path);
	/* without locks, no process removes anything */
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		log_debug("%s: no locks", made);
	return fd;
}
