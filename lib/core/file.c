/* SPDX-License-Identifier: MIT */
#include "core/file.h"

#include "core/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PASSWD_BYTES (64 * KIB) /* one entry of the list of users */
#define WRITE_BEHIND_BYTES (8 * MIB)

void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void file_close(FILE **file)
{
	if (*file)
		fclose(*file);
	*file = NULL;
}

/* Whether the path names a descriptor that whoever started us had open. */
static bool file_is_given(const char *path)
{
	return strcmp(path, "/dev/stdin") == 0 || starts_with(path, "/dev/fd/") ||
	       starts_with(path, "/proc/self/fd/");
}

/* What stands in the place of a file that can be read to its end; NULL when one does. */
static const char *file_why_not(const char *path, const struct stat *st)
{
	bool is_given = file_is_given(path);

	if (S_ISREG(st->st_mode))
		return NULL;
	if (S_ISDIR(st->st_mode))
		return "a folder";
	if (S_ISFIFO(st->st_mode))
		return is_given ? NULL : "a named pipe";
	if (S_ISSOCK(st->st_mode))
		return "a socket";
	if (S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3)) /* /dev/null */
		return NULL;
	return S_ISCHR(st->st_mode) && is_given && isatty(STDIN_FILENO) ? NULL : "a device";
}

/* Looks before it opens: to open a named pipe or a device may already do something. */
static int file_open_as(const char *path, bool takes_pipe, int *fd, struct stat *st,
			struct error *err)
{
	const char *why = NULL;

	*fd = -1;
	if (stat(path, st) == 0 && !(takes_pipe && S_ISFIFO(st->st_mode)))
		why = file_why_not(path, st);
	if (!why)
		*fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (!why && (*fd < 0 || fstat(*fd, st) < 0)) {
		fd_close(fd);
		return error_errno(err, "cannot read %s", path);
	}
	if (!why && !(takes_pipe && S_ISFIFO(st->st_mode)))
		why = file_why_not(path, st);
	if (!why)
		return 0;
	fd_close(fd);
	return error_set(err, ERROR_FAILED, "cannot read %s: it is %s, not a file", path, why);
}

int file_open(const char *path, int *fd, struct error *err)
{
	struct stat st;

	if (file_open_as(path, false, fd, &st, err) < 0)
		return -1;
	if (!S_ISREG(st.st_mode))
		fcntl(*fd, F_SETFL, 0); /* readers of a pipe wait for it */
	return 0;
}

/*
 * Waits until a pipe has something to read, or its end. `writer_by_usec` is when a named pipe must
 * have a writer: until then, read(2) finds an end where there was no beginning.
 */
static int file_wait(int fd, uint64_t writer_by_usec, bool has_end, const char *path,
		     struct error *err)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	if (interrupt_check(err) < 0)
		return error_wrap(err, "%s", path);
	if (has_end && !clock_left_msec(writer_by_usec))
		return error_set(err, ERROR_FAILED,
				 "cannot read %s: it is a named pipe that nobody writes into",
				 path);
	poll(&ready, 1, has_end ? 10 : INTERRUPT_POLL_MSEC);
	return 0;
}

/* Reads to the end, or past the ceiling. `st` is the open file's. */
static int file_read_all(int fd, const struct stat *st, const char *path, struct str *content,
			 struct error *err)
{
	bool is_named_pipe = S_ISFIFO(st->st_mode) && !file_is_given(path);
	uint64_t writer_by_usec = clock_usec() + FILE_WRITER_WAIT_S * UINT64_C(1000000);
	bool has_begun = !is_named_pipe;
	char buffer[16 * KIB];

	while (!content->overflowed) {
		ssize_t got = read(fd, buffer, sizeof(buffer));
		bool has_nothing = got < 0 && (errno == EINTR || errno == EAGAIN);

		if (got < 0 && (!has_nothing || S_ISREG(st->st_mode)))
			return error_errno(err, "cannot read %s", path);
		if (got == 0 && has_begun)
			return 0;
		if (got > 0)
			str_add_bytes(content, buffer, (size_t)got);
		else if (file_wait(fd, writer_by_usec, got == 0, path, err) < 0)
			return -1;
		has_begun |= got != 0;
	}
	return 0;
}

/*
 * A regular file, straight into the arena: the other way copies it three times. *text stays NULL when the file is
 * not of the size that it says, as those of /proc, or grows meanwhile.
 */
static int file_read_sized(int fd, const struct stat *st, const char *path, struct arena *arena,
			   char **text, size_t *length, struct error *err)
{
	size_t size = (size_t)st->st_size;
	char *bytes = arena_alloc(arena, size + 1);
	ssize_t got = file_fill(fd, bytes, size + 1);

	if (got < 0)
		return error_errno(err, "cannot read %s", path);
	if ((size_t)got != size) {
		if (lseek(fd, 0, SEEK_SET) < 0)
			return error_errno(err, "cannot read %s", path);
		return 0;
	}
	*text = bytes;
	if (length)
		*length = size;
	return 0;
}

static int file_read_as(const char *path, bool takes_pipe, size_t ceiling_bytes,
			struct arena *arena, char **text, size_t *length, struct error *err)
{
	_cleanup_(fd_close) int fd = -1;
	_cleanup_(str_release) struct str content = {0};
	struct stat st;

	if (file_open_as(path, takes_pipe, &fd, &st, err) < 0)
		return -1;
	*text = NULL;
	if (S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size <= ceiling_bytes &&
	    file_read_sized(fd, &st, path, arena, text, length, err) < 0)
		return -1;
	if (*text)
		return 0;
	str_init_ceiling(&content, ceiling_bytes);
	if (file_read_all(fd, &st, path, &content, err) < 0)
		return -1;
	if (content.overflowed)
		return error_set(err, ERROR_FAILED, "%s is larger than %zu bytes", path,
				 ceiling_bytes);
	*text = arena_strndup(arena, content.text, content.length);
	if (length)
		*length = content.length;
	return 0;
}

int file_read(const char *path, size_t ceiling_bytes, struct arena *arena, char **text,
	      size_t *length, struct error *err)
{
	return file_read_as(path, false, ceiling_bytes, arena, text, length, err);
}

int file_read_named(const char *path, size_t ceiling_bytes, struct arena *arena, char **text,
		    size_t *length, struct error *err)
{
	return file_read_as(path, true, ceiling_bytes, arena, text, length, err);
}

ssize_t file_fill(int fd, void *bytes, size_t room)
{
	size_t length = 0;

	while (length < room) {
		ssize_t got = read(fd, (char *)bytes + length, room - length);

		if (got < 0 && errno == EINTR && !interrupted())
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		length += (size_t)got;
	}
	return (ssize_t)length;
}

int file_write_all(int fd, const void *from, size_t length)
{
	const char *bytes = from;

	while (length) {
		ssize_t done = write(fd, bytes, length);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		bytes += done;
		length -= (size_t)done;
	}
	return 0;
}

bool file_is_stream(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int write_stream(const char *path, const void *bytes, size_t length, struct error *err)
{
	_cleanup_(fd_close) int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 || file_write_all(fd, bytes, length) < 0
		       ? error_errno(err, "cannot write %s", path)
		       : 0;
}

int file_put(int fd, const char *from, const char *to)
{
	return fsync(fd) < 0 ? -1 : rename(from, to);
}

void file_write_behind(int fd, uint64_t done_bytes, size_t added_bytes)
{
	uint64_t from = (done_bytes - added_bytes) / WRITE_BEHIND_BYTES * WRITE_BEHIND_BYTES;
	uint64_t end = done_bytes / WRITE_BEHIND_BYTES * WRITE_BEHIND_BYTES;

	/* a file system that cannot do it writes later */
	if (end > from)
		(void)sync_file_range(fd, (off_t)from, (off_t)(end - from), SYNC_FILE_RANGE_WRITE);
}

int file_write(const char *path, const void *bytes, size_t length, mode_t mode, struct error *err)
{
	char temporary[PATH_MAX];
	_cleanup_(fd_close) int fd = -1;

	if (file_is_stream(path))
		return write_stream(path, bytes, length, err);
	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
	fd = mkstemp(temporary);
	if (fd < 0)
		return error_errno(err, "cannot write %s", path);
	if (fchmod(fd, mode) < 0 || file_write_all(fd, bytes, length) < 0 ||
	    file_put(fd, temporary, path) < 0) {
		error_errno(err, "cannot write %s", path);
		unlink(temporary);
		return -1;
	}
	return 0;
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

int folder_make(const char *path, mode_t mode, struct error *err)
{
	char part[PATH_MAX];
	struct stat st;

	if (!*path)
		return error_set(err, ERROR_USAGE, "a folder's name is empty");
	if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
		return error_set(err, ERROR_FAILED, "the path %.60s... is too long", path);
	for (char *p = part + 1;; p++) {
		char kept = *p;

		if (kept != '/' && kept != '\0')
			continue;
		*p = '\0';
		if (mkdir(part, mode) == 0)
			chmod(part, mode); /* independent of the umask */
		else if (errno != EEXIST)
			return error_errno(err, "cannot make folder %s", part);
		*p = kept;
		if (!kept)
			break;
	}
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return error_set(err, ERROR_FAILED, "%s is in the way: it is not a folder", path);
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

int folder_remove(const char *path, struct error *err)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return 0;
	if (nftw(path, remove_entry, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0)
		return error_errno(err, "cannot remove %s", path);
	return 0;
}

static int file_compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int folder_list(const char *path, const char *suffix, struct arena *arena, const char ***names,
		struct error *err)
{
	DIR *folder = opendir(path);
	size_t count = 0, capacity = 16;
	const char **list = ARENA_ARRAY(arena, capacity + 1, const char *);
	struct dirent *entry;

	if (!folder)
		return error_errno(err, "cannot list %s", path);
	while ((entry = readdir(folder))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    !ends_with(entry->d_name, suffix))
			continue;
		if (count == capacity) {
			const char **larger = ARENA_ARRAY(arena, capacity * 2 + 1, const char *);

			memcpy(larger, list, count * sizeof(*list));
			list = larger;
			capacity *= 2;
		}
		list[count++] = arena_strdup(arena, entry->d_name);
	}
	closedir(folder);
	qsort(list, count, sizeof(*list), file_compare_names);
	list[count] = NULL;
	*names = list;
	return 0;
}

static int lock_at_once(const char *path, int how, int *fd, struct error *err)
{
	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (*fd < 0)
		return error_errno(err, "cannot open the lock file %s", path);
	if (flock(*fd, how | LOCK_NB) < 0) {
		fd_close(fd);
		return error_set(
			err, ERROR_FAILED,
			"another ringup is at work on this cluster (%s is locked); wait for it to end and run this again",
			path);
	}
	return 0;
}

int file_lock(const char *path, int *fd, struct error *err)
{
	return lock_at_once(path, LOCK_EX, fd, err);
}

int file_lock_shared(const char *path, int *fd, struct error *err)
{
	return lock_at_once(path, LOCK_SH, fd, err);
}

int folder_lock(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

	do
		rc = fd < 0 ? 0 : flock(fd, LOCK_EX);
	while (rc < 0 && errno == EINTR && !interrupted());
	if (rc < 0)
		fd_close(&fd);
	return fd;
}

int64_t file_changed_ns(const struct stat *st)
{
	return st->st_ctim.tv_sec * INT64_C(1000000000) + st->st_ctim.tv_nsec;
}

const char *path_program_folder(struct arena *arena)
{
	char exe[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (length < 0)
		return ".";
	exe[length] = '\0';
	return path_folder(arena, exe);
}

int share_path(struct arena *arena, const char *relative, const char **path, struct error *err)
{
	const char *above = path_folder(arena, path_program_folder(arena));
	const char *places[] = {getenv("RINGUP_SHARE"), above,
				arena_printf(arena, "%s/share/ringup", above)};

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		if (!places[i])
			continue;
		*path = arena_printf(arena, "%s/%s", places[i], relative);
		if (file_exists(*path))
			return 0;
	}
	return error_set(
		err, ERROR_FAILED,
		"cannot find %s beside the program; set RINGUP_SHARE to the folder that holds it",
		relative);
}

const char *path_from_environment(const char *variable)
{
	const char *path = getenv(variable);

	return path && *path == '/' ? path : NULL;
}

const char *path_home(struct arena *arena)
{
	const char *home = path_from_environment("HOME");
	struct passwd entry, *found = NULL;
	char *text;

	if (home)
		return home;
	text = arena_alloc(arena, PASSWD_BYTES);
	if (getpwuid_r(geteuid(), &entry, text, PASSWD_BYTES, &found) == 0 && found &&
	    found->pw_dir && *found->pw_dir == '/')
		return found->pw_dir;
	return "/";
}

const char *path_expand(struct arena *arena, const char *base, const char *path)
{
	if (starts_with(path, "~/") || strcmp(path, "~") == 0)
		return arena_printf(arena, "%s%s", path_home(arena), path + 1);
	if (path[0] != '/' && base && strcmp(base, ".") != 0)
		return arena_printf(arena, "%s/%s", base, path);
	return path;
}

const char *path_folder(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return ".";
	return slash == path ? "/" : arena_strndup(arena, path, (size_t)(slash - path));
}

const char *path_cache_folder(struct arena *arena)
{
	const char *cache = path_from_environment("XDG_CACHE_HOME");

	return cache ? arena_printf(arena, "%s/ringup", cache)
		     : path_expand(arena, NULL, "~/.cache/ringup");
}

bool path_plain(const char *name, char path[static PATH_PLAIN_BYTES])
{
	size_t length = 0;

	path[0] = '\0';
	while (*name) {
		size_t part = strcspn(name, "/");

		if (part == 2 && strncmp(name, "..", 2) == 0)
			return false;
		if (part && !(part == 1 && *name == '.')) {
			if (length + part + 2 > PATH_PLAIN_BYTES / 2)
				return false;
			if (length)
				path[length++] = '/';
			memcpy(path + length, name, part);
			length += part;
			path[length] = '\0';
		}
		name += part + (name[part] == '/');
	}
	return true;
}
