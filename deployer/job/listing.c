/* SPDX-License-Identifier: MIT */
#include "deployer/job/listing.h"

#include "core/clock.h"
#include "core/file.h"
#include "deployer/job/sync/ignore.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEPTH_MAX 200
#define SEEN_MAX 1000000 /* where a folder over the ceilings is counted no further */
#define LARGEST_SHOWN 4
/* Times of files are as fine as the kernel's clock tick; a time without a fraction may be as coarse as
 * FAT's 2 s. */
#define TICK_NS 50000000LL
#define COARSE_NS 2100000000LL

/* A part of the folder's top, for the error of a folder that is too large. */
struct listing_part {
	const char *name;
	uint64_t bytes;
	size_t files;
};

struct listing_walk {
	struct listing *listing;
	struct ignore ignore;
	struct listing_part *parts;
	size_t part_count, part_capacity;
	size_t seen;
	int64_t now_ns;
	struct error *err;
};

static int64_t listing_ns(const struct timespec *time)
{
	return time->tv_sec * INT64_C(1000000000) + time->tv_nsec;
}

static void listing_escape(const char *path, struct str *out)
{
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (c < ' ' || c == '\\' || c == 0x7f)
			str_addf(out, "\\0%03o", c);
		else
			str_add_char(out, *path);
	}
}

bool listing_link_leaves(const char *path, const char *link)
{
	int depth = 0;

	if (*link == '/')
		return true;
	for (const char *c = path; *c; c++)
		depth += *c == '/';
	while (*link) {
		size_t length = strcspn(link, "/");

		if (length == 2 && strncmp(link, "..", 2) == 0)
			depth--;
		else if (length && !(length == 1 && *link == '.'))
			depth++;
		if (depth < 0)
			return true;
		link += length + (link[length] == '/');
	}
	return false;
}

/* The same, also when one of its parts is a link itself. */
static bool listing_link_is_outside(const struct listing *listing, const char *path,
				    const char *link)
{
	char full[PATH_MAX], real[PATH_MAX];
	size_t length = strcmp(listing->folder, "/") == 0 ? 0 : strlen(listing->folder);

	if (listing_link_leaves(path, link))
		return true;
	if (snprintf(full, sizeof(full), "%s/%s", listing->folder, path) >= (int)sizeof(full) ||
	    !realpath(full, real))
		return false;
	return strncmp(real, listing->folder, length) != 0 ||
	       (real[length] != '/' && real[length] != '\0');
}

static void listing_leave_out(struct listing *listing, const char *path, const char *why)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	listing_escape(path, &text);
	str_addf(&text, ": %s", why);
	words_add(&listing->left_out, text.text);
}

/* Size, mode, times and inode; a time that may lie says when it was read. */
static void listing_facts(const struct listing_walk *w, const struct stat *st, struct str *out)
{
	int64_t changed = listing_ns(&st->st_ctim), age = w->now_ns - changed;
	bool is_fresh = age < (st->st_ctim.tv_nsec ? TICK_NS : COARSE_NS);

	str_addf(out, "f %o %" PRId64 " %" PRId64 " %" PRIu64 " %" PRId64, st->st_mode & 0777,
		 (int64_t)st->st_size, listing_ns(&st->st_mtim), (uint64_t)st->st_ino, changed);
	if (is_fresh)
		str_addf(out, " ?%" PRId64, w->now_ns);
}

static struct listing_entry *listing_new_entry(struct listing *listing)
{
	if (listing->count == listing->capacity) {
		size_t capacity = listing->capacity ? listing->capacity * 2 : 1024;
		struct listing_entry *entries =
			ARENA_ARRAY(listing->arena, capacity, struct listing_entry);

		if (listing->count)
			memcpy(entries, listing->entries, listing->count * sizeof(*entries));
		listing->entries = entries;
		listing->capacity = capacity;
	}
	return &listing->entries[listing->count++];
}

static void listing_add(struct listing_walk *w, enum listing_kind kind, const char *path,
			const char *link, const struct stat *st)
{
	struct listing *listing = w->listing;
	_cleanup_(str_release) struct str line = STR_INIT;
	struct listing_entry *entry;
	size_t key_bytes;

	listing_escape(path, &line);
	str_add(&line, kind == LISTING_FOLDER ? "/" : "");
	key_bytes = line.length;
	str_add_char(&line, '\t');
	if (kind == LISTING_FILE)
		listing_facts(w, st, &line);
	else if (kind == LISTING_LINK) {
		str_add(&line, "l ");
		listing_escape(link, &line);
	}
	entry = listing_new_entry(listing);
	*entry = (struct listing_entry){.kind = kind,
					.path = arena_strdup(listing->arena, path),
					.key = arena_strndup(listing->arena, line.text, key_bytes),
					.line = arena_strdup(listing->arena, line.text),
					.link = link,
					.mode = (st->st_mode & 0777) | 0600,
					.mtime_s = st->st_mtim.tv_sec};
	if (kind == LISTING_FILE)
		entry->bytes = (uint64_t)st->st_size;
}

static struct listing_part *listing_part(struct listing_walk *w, const char *path)
{
	size_t length = strcspn(path, "/");
	struct listing_part *last = w->part_count ? &w->parts[w->part_count - 1] : NULL;

	if (last && strncmp(last->name, path, length) == 0 && !last->name[length])
		return last;
	if (w->part_count == w->part_capacity) {
		size_t capacity = w->part_capacity ? w->part_capacity * 2 : 64;
		struct listing_part *parts =
			ARENA_ARRAY(w->listing->arena, capacity, struct listing_part);

		if (w->part_count)
			memcpy(parts, w->parts, w->part_count * sizeof(*parts));
		w->parts = parts;
		w->part_capacity = capacity;
	}
	w->parts[w->part_count] =
		(struct listing_part){.name = arena_strndup(w->listing->arena, path, length)};
	return &w->parts[w->part_count++];
}

/* Counts an entry; false when the folder is over the ceilings, so that it is only counted. */
static bool listing_count(struct listing_walk *w, const char *path, uint64_t bytes)
{
	struct listing_part *part = listing_part(w, path);

	part->files++;
	part->bytes += bytes;
	w->seen++;
	w->listing->bytes += bytes;
	return w->seen <= LISTING_FILES_MAX && w->listing->bytes <= LISTING_BYTES_MAX;
}

static void listing_add_link(struct listing_walk *w, int folder, const char *name, const char *path,
			     const struct stat *st)
{
	char link[PATH_MAX];
	ssize_t length = readlinkat(folder, name, link, sizeof(link) - 1);

	if (length < 0)
		return; /* it vanished */
	link[length] = '\0';
	if (listing_link_is_outside(w->listing, path, link)) {
		listing_leave_out(w->listing, path, "a link that leads out of the folder");
		return;
	}
	if (listing_count(w, path, 0)) {
		listing_add(w, LISTING_LINK, path, arena_strdup(w->listing->arena, link), st);
		w->listing->files++;
	}
}

static int listing_walk_folder(struct listing_walk *w, int above, const char *name,
			       const char *path, int depth);

static int listing_walk_entry(struct listing_walk *w, int folder, const char *name,
			      const char *path, int depth)
{
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : error_errno(w->err, "cannot look at %s", path);
	if (ignore_has(&w->ignore, path, S_ISDIR(st.st_mode)))
		return 0;
	if (S_ISDIR(st.st_mode)) {
		if (listing_count(w, path, 0))
			listing_add(w, LISTING_FOLDER, path, NULL, &st);
		return listing_walk_folder(w, folder, name, path, depth + 1);
	}
	if (S_ISLNK(st.st_mode)) {
		listing_add_link(w, folder, name, path, &st);
	} else if (!S_ISREG(st.st_mode)) {
		listing_leave_out(w->listing, path, "a socket, pipe or device");
	} else if (listing_count(w, path, (uint64_t)st.st_size)) {
		listing_add(w, LISTING_FILE, path, NULL, &st);
		w->listing->files++;
	}
	return 0;
}

static void listing_close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

/* path is "" for the top. */
static int listing_walk_folder(struct listing_walk *w, int above, const char *name,
			       const char *path, int depth)
{
	_cleanup_(fd_close) int fd =
		openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth ? O_NOFOLLOW : 0));
	_cleanup_(listing_close_folder) DIR *folder = NULL;
	struct dirent *entry;

	if (fd < 0)
		return depth && errno == ENOENT ? 0
						: error_errno(w->err, "cannot read the folder %s",
							      depth ? path : w->listing->folder);
	if (depth > DEPTH_MAX)
		return error_set(w->err, ERROR_USAGE, "%s: more than %d folders in each other",
				 path, DEPTH_MAX);
	folder = fdopendir(fd);
	if (!folder)
		return error_errno(w->err, "cannot read the folder %s", path);
	fd = -1;
	while ((entry = readdir(folder)) && w->seen < SEEN_MAX) {
		_cleanup_(str_release) struct str below = STR_INIT;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		str_addf(&below, "%s%s%s", path, *path ? "/" : "", entry->d_name);
		if (interrupt_check(w->err) < 0 ||
		    listing_walk_entry(w, dirfd(folder), entry->d_name, below.text, depth) < 0)
			return -1;
	}
	return 0;
}

static int listing_larger_part(const void *a, const void *b)
{
	const struct listing_part *one = a, *other = b;
	/* a file weighs as much as the mean of a folder at both ceilings */
	uint64_t mean = LISTING_BYTES_MAX / LISTING_FILES_MAX;
	uint64_t x = one->bytes + one->files * mean, y = other->bytes + other->files * mean;

	return x < y ? 1 : x > y ? -1 : 0;
}

static int listing_too_large(struct listing_walk *w)
{
	_cleanup_(str_release) struct str largest = STR_INIT;
	char bytes[32], most[32];

	qsort(w->parts, w->part_count, sizeof(*w->parts), listing_larger_part);
	for (size_t i = 0; i < w->part_count && i < LARGEST_SHOWN; i++) {
		str_add(&largest, i ? ", " : "");
		listing_escape(w->parts[i].name, &largest);
		str_addf(&largest, " (%s, %zu files)", format_bytes(bytes, w->parts[i].bytes),
			 w->parts[i].files);
	}
	return error_set(
		w->err, ERROR_USAGE,
		"%s has %s%s in %zu files and folders, and %s in %d are the most; the largest parts are %s; "
		"name what the job does not need in %s/" IGNORE_FILE
		", and bring data there by container.volumes",
		w->listing->folder, w->seen >= SEEN_MAX ? "at least " : "",
		format_bytes(bytes, w->listing->bytes), w->seen,
		format_bytes(most, LISTING_BYTES_MAX), LISTING_FILES_MAX, largest.text,
		w->listing->folder);
}

static int listing_by_key(const void *a, const void *b)
{
	return strcmp(((const struct listing_entry *)a)->key,
		      ((const struct listing_entry *)b)->key);
}

void listing_text(const struct listing *listing, struct str *text)
{
	for (size_t i = 0; i < listing->count; i++) {
		str_add(text, listing->entries[i].line);
		str_add_char(text, '\n');
	}
}

static void listing_finish(struct listing *listing)
{
	struct digest digest;

	if (listing->count)
		qsort(listing->entries, listing->count, sizeof(*listing->entries), listing_by_key);
	digest_init(&digest);
	for (size_t i = 0; i < listing->count; i++)
		digest_add(&digest, listing->entries[i].line, strlen(listing->entries[i].line) + 1);
	digest_finish(&digest, listing->digest);
}

int listing_scan(const char *folder, struct arena *arena, struct listing *listing,
		 struct error *err)
{
	struct listing_walk w = {.listing = listing, .err = err};
	struct timespec now;
	char real[PATH_MAX];

	if (!realpath(folder, real))
		return error_errno(err, "cannot read the folder %s", folder);
	*listing = (struct listing){
		.folder = arena_strdup(arena, real), .arena = arena, .left_out = WORDS_INIT(arena)};
	ignore_init(&w.ignore, arena);
	if (ignore_load(&w.ignore, listing->folder, err) < 0)
		return -1;
	clock_gettime(CLOCK_REALTIME, &now);
	w.now_ns = listing_ns(&now);
	if (listing_walk_folder(&w, AT_FDCWD, listing->folder, "", 0) < 0)
		return -1;
	if (w.seen > LISTING_FILES_MAX || listing->bytes > LISTING_BYTES_MAX)
		return listing_too_large(&w);
	listing_finish(listing);
	return 0;
}

/* Compares the first line of the text with a key: as strcmp of the line's own key. */
static int listing_compare_key(const char *line, const char *key)
{
	size_t length = strcspn(line, "\t\n"), other = strlen(key);
	int order = memcmp(line, key, length < other ? length : other);

	return order ? order : length < other ? -1 : length > other;
}

void listing_compare(struct listing *listing, const char *earlier)
{
	const char *line = earlier;

	for (size_t i = 0; i < listing->count; i++) {
		struct listing_entry *entry = &listing->entries[i];
		size_t length = strlen(entry->line);

		while (*line && listing_compare_key(line, entry->key) < 0) {
			line += strcspn(line, "\n");
			line += *line == '\n';
		}
		entry->is_changed = strncmp(line, entry->line, length) != 0 || line[length] != '\n';
	}
}

struct listing_entry *listing_find(const struct listing *listing, const char *path)
{
	_cleanup_(str_release) struct str key = STR_INIT;
	struct listing_entry wanted, *found;

	if (!listing->count)
		return NULL;
	listing_escape(path, &key);
	wanted.key = key.text;
	found = bsearch(&wanted, listing->entries, listing->count, sizeof(wanted), listing_by_key);
	if (found)
		return found;
	str_add_char(&key, '/');
	wanted.key = key.text;
	return bsearch(&wanted, listing->entries, listing->count, sizeof(wanted), listing_by_key);
}
