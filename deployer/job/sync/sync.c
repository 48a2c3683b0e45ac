/* SPDX-License-Identifier: MIT */
#include "deployer/job/sync/sync.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "core/private.h"
#include "core/tarball.h"
#include "deployer/bringup/claim.h"
#include "deployer/job/sync/ignore.h"
#include "deployer/job/sync/shared.h"
#include "deployer/job/listing.h"
#include "deployer/bringup/operate.h"
#include "deployer/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTHING_THERE "none"
#define STATUS_REFUSED 76 /* of deployer/remote/sync.sh */
#define CHANGED_MAX 400	  /* files that it names */
#define TRIES_MAX 4
#define READS_MAX 5
#define READ_AGAIN_USEC 20000
#define LISTS_KEPT 4
#define WARNINGS_SHOWN 5
#define LISTS_CEILING_BYTES (64 * MIB)
#define SEND_TIMEOUT_S 3600
#define SAID_BYTES 600

/* What is sent to hosts that have a certain list. */
struct sync_parcel {
	struct sync_parcel *next;
	const char *old; /* its digest, or NOTHING_THERE */
	int fd;		 /* of a file without a name */
	size_t files;
	uint64_t bytes;
};

struct sync_state {
	const struct job_sync *sync;
	struct listing listing;
	const char *lists;	   /* folder of lists that were sent to this target */
	const char *expected;	   /* the digest that hosts should have */
	struct sync_parcel *first; /* for those that have it; NULL when nothing changed */
	pthread_mutex_t lock;	   /* of what follows */
	struct sync_parcel *parcels;
	size_t hosts_sent, hosts_same, files, removed; /* files: of the host that got most */
	uint64_t bytes;
	struct words restless; /* files that changed whenever they were read */
	struct arena *arena;
};

int job_sync_parse(const char *text, struct arena *arena, struct job_sync *sync, struct error *err)
{
	const char *colon = strrchr(text, ':');
	bool has_target = colon && colon[1] == '/';
	const char *folder = has_target ? arena_strndup(arena, text, (size_t)(colon - text)) : text;
	char real[PATH_MAX], plain[PATH_PLAIN_BYTES];
	struct stat st;

	if (!realpath(folder, real) || stat(real, &st) < 0)
		return error_set(err, ERROR_USAGE, "--sync %s: there is no folder %s%s", text,
				 folder, colon && !has_target ? "; a target begins with '/'" : "");
	if (!S_ISDIR(st.st_mode))
		return error_set(err, ERROR_USAGE, "--sync %s: %s is not a folder", text, folder);
	*sync = (struct job_sync){.folder = arena_strdup(arena, real), .target = ""};
	if (!has_target && strcmp(real, "/") == 0)
		return error_set(err, ERROR_USAGE, "--sync /: a folder below it is needed");
	if (!has_target)
		return 0;
	if (!path_plain(colon + 1, plain) || !*plain || strcmp(plain, ".") == 0)
		return error_set(err, ERROR_USAGE,
				 "--sync %s: the target has to be a folder below /, without '..'",
				 text);
	sync->target = arena_printf(arena, "/%s", plain);
	return 0;
}

const char *job_sync_target(const struct job_sync *sync, struct member *m)
{
	const char *name = strrchr(sync->folder, '/') + 1;

	if (*sync->target)
		return sync->target;
	return m->engine->has_containers
		       ? arena_printf(&m->arena, "/workspace/%s", name)
		       : arena_printf(&m->arena, "%s/sync/%s", m->state.folder, name);
}

const char *const *job_sync_workdirs(struct fleet *fleet, const struct job_sync *sync,
				     const char *below, struct arena *arena)
{
	const char **list = ARENA_ARRAY(arena, fleet->count, const char *);

	for (size_t i = 0; i < fleet->count; i++)
		list[i] = arena_printf(arena, "%s%s%s", job_sync_target(sync, &fleet->members[i]),
				       *below ? "/" : "", below);
	return list;
}

/* --- what is sent --------------------------------------------------------------------------- */

struct sync_pack {
	struct sync_state *state;
	struct tarball tarball;
	struct sync_parcel *parcel;
	const struct listing_entry **changed; /* by folder, then by name */
	size_t count;
	struct arena arena;
	struct error *err;
};

static size_t sync_folder_bytes(const struct listing_entry *entry)
{
	const char *slash = strrchr(entry->path, '/');

	if (entry->kind == LISTING_FOLDER)
		return strlen(entry->path);
	return slash ? (size_t)(slash - entry->path) : 0;
}

/* Folders before the files in them, and all files of a folder side by side. */
static int sync_by_folder(const void *a, const void *b)
{
	const struct listing_entry *one = *(const struct listing_entry *const *)a;
	const struct listing_entry *other = *(const struct listing_entry *const *)b;
	size_t x = sync_folder_bytes(one), y = sync_folder_bytes(other);
	int order = memcmp(one->path, other->path, x < y ? x : y);

	if (!order && x != y)
		order = x < y ? -1 : 1;
	return order ? order : strcmp(one->key, other->key);
}

static void sync_pick(struct sync_pack *p)
{
	const struct listing *listing = &p->state->listing;

	p->changed = ARENA_ARRAY(&p->arena, listing->count + 1, const struct listing_entry *);
	for (size_t i = 0; i < listing->count; i++)
		if (listing->entries[i].is_changed)
			p->changed[p->count++] = &listing->entries[i];
	qsort(p->changed, p->count, sizeof(*p->changed), sync_by_folder);
}

static int sync_pack_list(struct sync_pack *p, const char *name, const struct str *text)
{
	return tarball_add(&p->tarball, arena_printf(&p->arena, "lists/%s", name), text->text,
			   text->length, 0644, p->err);
}

static int sync_pack_all_paths(struct sync_pack *p)
{
	const struct listing *listing = &p->state->listing;
	_cleanup_(str_release) struct str paths = STR_INIT, names = STR_INIT;

	str_init_ceiling(&paths, LISTS_CEILING_BYTES);
	str_init_ceiling(&names, LISTS_CEILING_BYTES);
	for (size_t i = 0; i < listing->count; i++) {
		const struct listing_entry *entry = &listing->entries[i];

		str_addf(&paths, "%s\n", entry->key);
		if (entry->kind == LISTING_FOLDER)
			continue;
		str_addf(&names, "./%s", entry->path);
		str_add_char(&names, '\0');
	}
	if (paths.overflowed || names.overflowed)
		return error_set(p->err, ERROR_USAGE, "%s: its names are too long",
				 listing->folder);
	return sync_pack_list(p, "paths", &paths) < 0 ? -1 : sync_pack_list(p, "names", &names);
}

/* "d a", "d a/b" for the folder a/b/ of this key. */
static void sync_add_folders(struct str *work, const char *key, size_t bytes)
{
	if (!bytes)
		str_add(work, "d .\n");
	for (size_t i = 1; i <= bytes; i++)
		if (key[i] == '/')
			str_addf(work, "d %.*s\n", (int)i, key);
}

/* What sync.sh does, line by line. */
static int sync_pack_work(struct sync_pack *p)
{
	_cleanup_(str_release) struct str work = STR_INIT;
	const char *last = NULL;
	size_t last_bytes = 0;

	for (size_t i = 0; i < p->count; i++) {
		const struct listing_entry *entry = p->changed[i];
		const char *slash;
		size_t bytes;

		if (entry->kind == LISTING_FOLDER)
			slash = entry->key + strlen(entry->key) - 1;
		else
			slash = strrchr(entry->key, '/');
		bytes = slash ? (size_t)(slash - entry->key) : 0;
		if (!last || bytes != last_bytes || memcmp(last, entry->key, bytes) != 0)
			sync_add_folders(&work, entry->key, bytes);
		last = entry->key;
		last_bytes = bytes;
		if (entry->kind != LISTING_FOLDER)
			str_addf(&work, "f %s\n", slash ? slash + 1 : entry->key);
	}
	return sync_pack_list(p, "work", &work);
}

static bool sync_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* A version of the file that did not change while it was read; *is_whole false when there is none. */
static ssize_t sync_read_version(int fd, char **bytes, struct stat *st, bool *is_whole)
{
	struct stat after;
	ssize_t length = -1;

	*is_whole = false;
	for (int i = 0; i < READS_MAX && !*is_whole; i++) {
		if (i)
			usleep(READ_AGAIN_USEC);
		if (fstat(fd, st) < 0)
			return -1;
		if ((uint64_t)st->st_size > LISTING_BYTES_MAX) {
			errno = EFBIG;
			return -1;
		}
		*bytes = xrealloc(*bytes, (size_t)st->st_size + 1);
		length = lseek(fd, 0, SEEK_SET) < 0 ? -1
						    : file_fill(fd, *bytes, (size_t)st->st_size);
		if (length < 0 || fstat(fd, &after) < 0)
			return -1;
		*is_whole = length == st->st_size && sync_is_same(st, &after);
	}
	return length;
}

static int sync_pack_file(struct sync_pack *p, const struct listing_entry *entry, const char *name)
{
	struct sync_state *state = p->state;
	const char *path = arena_printf(&p->arena, "%s/%s", state->listing.folder, entry->path);
	_cleanup_(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	_cleanup_(free_pointer) char *bytes = NULL;
	struct stat st;
	bool is_whole;
	ssize_t length = fd < 0 ? -1 : sync_read_version(fd, &bytes, &st, &is_whole);

	if (length < 0) {
		error_errno(p->err, "cannot read %s", path);
		return error_advise(p->err, errno == ENOENT ? "it vanished; run this again"
							    : "or name it in " IGNORE_FILE);
	}
	if (!is_whole)
		words_add(&state->restless, entry->key);
	p->parcel->bytes += (uint64_t)length;
	p->tarball.time_s = st.st_mtim.tv_sec;
	return tarball_add(&p->tarball, name, bytes, (size_t)length, entry->mode, p->err);
}

static int sync_pack_entry(struct sync_pack *p, const struct listing_entry *entry)
{
	const char *name = arena_printf(&p->arena, "tree/%s", entry->path);

	if (entry->kind == LISTING_FOLDER)
		return 0;
	p->parcel->files++;
	if (entry->kind == LISTING_FILE)
		return sync_pack_file(p, entry, name);
	p->tarball.time_s = entry->mtime_s;
	return tarball_add_other(&p->tarball, TARBALL_SYMLINK, name, entry->link, 0777, p->err);
}

static int sync_pack_all(struct sync_pack *p)
{
	sync_pick(p);
	if (sync_pack_all_paths(p) < 0 || sync_pack_work(p) < 0)
		return -1;
	for (size_t i = 0; i < p->count; i++)
		if (interrupt_check(p->err) < 0 || sync_pack_entry(p, p->changed[i]) < 0)
			return -1;
	return tarball_finish(&p->tarball, p->err);
}

/* A file that nobody else sees, and that is gone when it is closed. */
static int sync_open_file(const struct sync_state *state, struct error *err)
{
	const char *path = arena_printf(state->arena, "%s/parcel.XXXXXX", state->lists);
	char name[PATH_MAX];
	int fd;

	snprintf(name, sizeof(name), "%s", path);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, "cannot write %s", name);
	unlink(name);
	return fd;
}

/* Packs all entries that are marked as changed. Under the lock. */
static int sync_pack(struct sync_state *state, struct sync_parcel *parcel, struct error *err)
{
	struct sync_pack p = {.state = state, .parcel = parcel, .err = err};
	_cleanup_(file_close) FILE *out = NULL;
	int copy, rc;

	parcel->fd = sync_open_file(state, err);
	if (parcel->fd < 0)
		return -1;
	copy = fcntl(parcel->fd, F_DUPFD_CLOEXEC, 3);
	out = copy < 0 ? NULL : fdopen(copy, "w");
	if (!out)
		return error_errno(err, "cannot write the files");
	rc = tarball_init_gnu(&p.tarball, out, "the files for the hosts", err);
	if (rc == 0)
		rc = sync_pack_all(&p);
	tarball_release(&p.tarball);
	arena_release(&p.arena);
	if (rc == 0 && fflush(out) != 0)
		rc = error_errno(err, "cannot write the files for the hosts");
	return rc;
}

/* The list of that digest, or "" where it is not kept. */
static const char *sync_list(const struct sync_state *state, const char *digest,
			     struct arena *arena)
{
	struct error ignored = {0};
	const char *path;
	char *text;

	if (!digest_is_valid(digest))
		return "";
	path = arena_printf(arena, "%s/%s", state->lists, digest + DIGEST_PREFIX_BYTES);
	return file_read(path, LISTS_CEILING_BYTES, arena, &text, NULL, &ignored) < 0 ? "" : text;
}

/* Marks what somebody changed on the host; false when a line is of no known file. */
static bool sync_mark(struct sync_state *state, const struct words *changed)
{
	if (changed->count >= CHANGED_MAX)
		return false;
	for (size_t i = 0; i < changed->count; i++) {
		const char *name = strstr(changed->list[i], " ./");
		struct listing_entry *entry = name ? listing_find(&state->listing, name + 3) : NULL;

		/* what is gone here needs no mark */
		if (entry)
			entry->is_changed = true;
		else if (!name)
			return false;
	}
	return true;
}

/*
 * What a host with this list needs. `changed` are lines about files that somebody changed there. The
 * parcel is kept for other hosts, and lives in the arena.
 */
static int sync_parcel_for(struct sync_state *state, const char *old, const struct words *changed,
			   struct sync_parcel **parcel, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;

	if (!changed->count)
		for (*parcel = state->parcels; *parcel; *parcel = (*parcel)->next)
			if (strcmp((*parcel)->old, old) == 0)
				return 0;
	listing_compare(&state->listing, sync_list(state, old, &arena));
	if (!sync_mark(state, changed))
		listing_compare(&state->listing, "");
	*parcel = ARENA_NEW(state->arena, struct sync_parcel);
	**parcel =
		(struct sync_parcel){.next = state->parcels,
				     .old = changed->count ? "" : arena_strdup(state->arena, old),
				     .fd = -1};
	state->parcels = *parcel;
	if (sync_pack(state, *parcel, err) == 0)
		return 0;
	(*parcel)->old = ""; /* nobody else gets a part of it */
	return -1;
}

/* --- one host ------------------------------------------------------------------------------- */

/* What a host answered. */
struct sync_answer {
	bool is_same, is_done;
	size_t removed;
	const char *have;
	struct words changed;
};

static void sync_read_answer(const char *text, struct arena *arena, struct sync_answer *answer)
{
	static const char CHANGED[] = "changed=";

	*answer = (struct sync_answer){.is_same = *remote_value(text, "same", arena),
				       .is_done = *remote_value(text, "removed", arena),
				       .have = remote_value(text, "have", arena),
				       .changed = WORDS_INIT(arena)};
	answer->removed = (size_t)strtoul(remote_value(text, "removed", arena), NULL, 10);
	while (text) {
		if (starts_with(text, CHANGED))
			words_addf(&answer->changed, "%.*s",
				   (int)strcspn(text + strlen(CHANGED), "\n"),
				   text + strlen(CHANGED));
		text = strchr(text, '\n');
		text += text ? 1 : 0;
	}
}

static int sync_refused(struct member *m, struct proc_result *result, struct error *err)
{
	str_one_line(&result->err, SAID_BYTES);
	return error_set(err, ERROR_FAILED, "%s: the files cannot be brought there: %s (status %d)",
			 m->host->name,
			 result->err.length ? result->err.text : "failed without a word",
			 result->status);
}

/* One command on the host. Of the parcel only what the host wants is sent; NULL: there is none. */
static int sync_send(struct member *m, struct sync_state *state, const char *old, bool looks,
		     const struct sync_parcel *parcel, struct sync_answer *answer,
		     struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	_cleanup_(fd_close) int fd = -1;
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = SEND_TIMEOUT_S};

	if (parcel) {
		fd = open(arena_printf(&m->arena, "/proc/self/fd/%d", parcel->fd),
			  O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return error_errno(err, "cannot read the files for the hosts");
		command.input_fd = fd;
	}
	if (remote_script("sync",
			  WORDS(job_sync_target(state->sync, m), old, state->listing.digest,
				looks ? "look" : ""),
			  &words, err) < 0)
		return -1;
	command.words = member_talk_words(m, words.list);
	if (ssh_run(m->ssh, &command, &result, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	sync_read_answer(result.out.text, &m->arena, answer);
	if (result.status == 0 ? answer->is_same || answer->is_done
			       : result.status == STATUS_REFUSED && *answer->have)
		return 0;
	return sync_refused(m, &result, err);
}

static void sync_count(struct sync_state *state, const struct sync_answer *answer,
		       const struct sync_parcel *parcel)
{
	pthread_mutex_lock(&state->lock);
	state->hosts_same += answer->is_same;
	state->hosts_sent += answer->is_done;
	if (answer->is_done && parcel->files >= state->files) {
		state->files = parcel->files;
		state->bytes = parcel->bytes;
	}
	if (answer->is_done && answer->removed > state->removed)
		state->removed = answer->removed;
	pthread_mutex_unlock(&state->lock);
}

static int sync_worker_is_up(struct member *m, struct error *err)
{
	return member_ask_owner(m, err) < 0 ? -1 : member_check_worker(m, err);
}

static int sync_one(struct member *m, void *arg, struct error *err)
{
	struct sync_state *state = arg;
	struct sync_parcel *parcel = state->first;
	const char *old = state->expected;
	struct sync_answer answer;
	int rc;

	if (sync_worker_is_up(m, err) < 0)
		return -1;
	for (int i = 0; i < TRIES_MAX; i++) {
		if (sync_send(m, state, old, i == 0, parcel, &answer, err) < 0)
			return -1;
		if (answer.is_same || answer.is_done) {
			sync_count(state, &answer, parcel);
			return 0;
		}
		old = answer.have;
		pthread_mutex_lock(&state->lock);
		rc = sync_parcel_for(state, old, &answer.changed, &parcel, err);
		pthread_mutex_unlock(&state->lock);
		if (rc < 0)
			return -1;
	}
	return error_set(err, ERROR_FAILED,
			 "%s: another sync into %s is at work there; run this again", m->host->name,
			 job_sync_target(state->sync, m));
}

/* --- the lists that are kept ---------------------------------------------------------------- */

static int sync_by_time(const void *a, const void *b)
{
	const char *const *one = a, *const *other = b;
	struct stat x = {0}, y = {0};

	if (stat(*one, &x) < 0 || stat(*other, &y) < 0)
		return 0;
	if (x.st_mtim.tv_sec != y.st_mtim.tv_sec)
		return x.st_mtim.tv_sec > y.st_mtim.tv_sec ? -1 : 1;
	return x.st_mtim.tv_nsec > y.st_mtim.tv_nsec ? -1 : x.st_mtim.tv_nsec < y.st_mtim.tv_nsec;
}

/* The paths of the lists that are kept, newest first. */
static int sync_lists(const struct sync_state *state, const char ***paths, size_t *count,
		      struct error *err)
{
	if (folder_list(state->lists, "", state->arena, paths, err) < 0)
		return -1;
	for (*count = 0; (*paths)[*count]; ++*count)
		(*paths)[*count] =
			arena_printf(state->arena, "%s/%s", state->lists, (*paths)[*count]);
	if (*count)
		qsort(*paths, *count, sizeof(**paths), sync_by_time);
	return 0;
}

/* Opens the folder of the lists for this target. */
static int sync_open_lists(struct sync_state *state, const struct cluster *cluster,
			   struct error *err)
{
	const char *name = job_sync_name(state->sync);
	const char *above = cluster_state_path(cluster, "sync", state->arena);
	char digest[DIGEST_TEXT_BYTES];

	digest_of(name, strlen(name), digest);
	state->lists = arena_printf(state->arena, "%s/%.16s", above, digest + DIGEST_PREFIX_BYTES);
	return private_folder(cluster_state_path(cluster, "", state->arena), err) < 0 ||
			       private_folder(above, err) < 0 ||
			       private_folder(state->lists, err) < 0
		       ? -1
		       : 0;
}

/* Looks what the hosts should have. Under the lock of the lists. */
static int sync_expect(struct sync_state *state, struct error *err)
{
	const char **paths;
	size_t count;

	if (sync_lists(state, &paths, &count, err) < 0)
		return -1;
	state->expected = NOTHING_THERE;
	if (count) {
		const char *newest = strrchr(paths[0], '/') + 1;
		const char *text = arena_printf(state->arena, "sha256:%s", newest);

		if (digest_is_valid(text))
			state->expected = text;
	}
	return 0;
}

/* Keeps the list that the hosts have now, as the newest. */
static int sync_keep_list(struct sync_state *state, struct error *err)
{
	const char *path = arena_printf(state->arena, "%s/%s", state->lists,
					state->listing.digest + DIGEST_PREFIX_BYTES);
	_cleanup_(str_release) struct str text = STR_INIT;
	const char **paths;
	size_t count;

	if (utimensat(AT_FDCWD, path, NULL, 0) == 0)
		return 0;
	str_init_ceiling(&text, LISTS_CEILING_BYTES);
	listing_text(&state->listing, &text);
	if (text.overflowed)
		return 0;
	if (file_write(path, text.text, text.length, 0600, err) < 0 ||
	    sync_lists(state, &paths, &count, err) < 0)
		return -1;
	for (size_t i = LISTS_KEPT; i < count; i++)
		unlink(paths[i]);
	return 0;
}

/* --- all hosts ------------------------------------------------------------------------------ */

static void sync_warn(const struct words *list, const char *what)
{
	for (size_t i = 0; i < list->count && i < WARNINGS_SHOWN; i++)
		log_warn("sync: %s: %s", what, list->list[i]);
	if (list->count > WARNINGS_SHOWN)
		log_warn("sync: %s: and %zu more", what, list->count - WARNINGS_SHOWN);
}

static void sync_report(const struct sync_state *state, struct fleet *fleet, uint64_t begin_usec)
{
	const char *target = job_sync_target(state->sync, &fleet->members[0]);
	double seconds = clock_seconds_since(begin_usec);
	char bytes[32];

	sync_warn(&state->listing.left_out, "left out");
	sync_warn(&state->restless, "it changed while it was read, and is sent again next time");
	if (!state->hosts_sent)
		log_info("sync: nothing changed in %zu files in %s (%.1f s)", state->listing.files,
			 target, seconds);
	else
		log_info(
			"sync: %zu of %zu files (%s) brought to %zu hosts, %zu removed, in %s (%.1f s)",
			state->files, state->listing.files, format_bytes(bytes, state->bytes),
			state->hosts_sent, state->removed, target, seconds);
}

static int sync_all(struct sync_state *state, struct fleet *fleet, struct error *err)
{
	static const struct words none = {0};
	struct error ignored = {0};

	if (strcmp(state->expected, state->listing.digest) != 0 &&
	    job_sync_may_change(state->sync, fleet, state->arena, err) < 0)
		return -1;
	if (strcmp(state->expected, state->listing.digest) != 0 &&
	    sync_parcel_for(state, state->expected, &none, &state->first, err) < 0)
		return -1;
	fleet_each(fleet, sync_one, state);
	if (state->hosts_sent + state->hosts_same)
		sync_keep_list(state, &ignored); /* without it the next sync sends more */
	return fleet_result(fleet, err);
}

int job_sync(struct fleet *fleet, const struct job_sync *sync, struct arena *arena,
	     struct error *err)
{
	struct sync_state state = {.sync = sync,
				   .arena = arena,
				   .lock = PTHREAD_MUTEX_INITIALIZER,
				   .restless = WORDS_INIT(arena)};
	_cleanup_(fd_close) int lock = -1;
	uint64_t begin_usec = clock_usec();
	int rc;

	if (sync_open_lists(&state, fleet->cluster, err) < 0)
		return -1;
	lock = folder_lock(state.lists); /* two runs at once: one after the other */
	if (interrupt_check(err) < 0 || sync_expect(&state, err) < 0 ||
	    listing_scan(sync->folder, arena, &state.listing, err) < 0)
		return -1;
	rc = sync_all(&state, fleet, err);
	for (struct sync_parcel *p = state.parcels; p; p = p->next)
		fd_close(&p->fd);
	if (rc == 0)
		sync_report(&state, fleet, begin_usec);
	return rc;
}
