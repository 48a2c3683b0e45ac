/* SPDX-License-Identifier: MIT */
#include "builder/native/store.h"

#include "builder/native/runtime/cgroup.h"
#include "builder/native/layer/layer_disk.h"
#include "builder/native/layer/layer_list.h"
#include "builder/native/layer/tree_file.h"
#include "core/file.h"
#include "core/json.h"
#include "core/log.h"
#include "core/private.h"
#include "core/str.h"
#include "oci/layer/reader.h"
#include "oci/layer/stream.h"
#include "oci/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* FOLDER/layers/KEY/NAME */
static const char *layer_path(const struct store *store, const char *key, const char *name,
			      struct arena *arena)
{
	return arena_printf(arena, "%s/layers/%s%s%s", store->folder, key, *name ? "/" : "", name);
}

/* --- layers that no disk has yet ------------------------------------------------------------------ */

/*
 * Syncing every file of an unpacked layer before its rename would take longer than the step. So the disk
 * is synced once, when the build ends; until then, an empty file work/ID/moved-KEY-BOOT stands for each
 * layer. Journals keep the order of names, so a layer that survives a power cut has its mark, too: the
 * next build finds the mark of another boot, and removes the layer.
 */
#define MARK "moved-"
#define MARK_KEY_BYTES (KEY_BYTES - 1)

static const char *store_boot(struct arena *arena)
{
	struct error ignored = {0};
	char *text;

	if (file_read("/proc/sys/kernel/random/boot_id", KIB, arena, &text, NULL, &ignored) < 0)
		return "";
	return arena_strndup(arena, text, strspn(text, "0123456789abcdef-"));
}

/* Before the layer of that key gets its name. */
static int store_mark(struct store *store, const char *key, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *path =
		arena_printf(&arena, "%s/" MARK "%s-%s", store->work, key, store_boot(&arena));
	_cleanup_(fd_close) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	atomic_store(&store->has_marks, true);
	return fd < 0 ? error_errno(err, "cannot write %s", path) : 0;
}

static void store_sync(const char *folder)
{
	_cleanup_(fd_close) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || syncfs(fd) < 0)
		log_debug("%s cannot be synced", folder);
}

/* Looks at the marks of a dead build. */
static int store_settle(const struct store *store, const char *work, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *boot = store_boot(&arena), **names;
	bool is_unsynced = false;

	if (!file_exists(work)) /* its build removed it, and then let go of the lock */
		return 0;
	if (folder_list(work, "", &arena, &names, err) < 0)
		return -1;
	for (; *names; names++) {
		const char *key = *names + strlen(MARK), *at;

		if (!starts_with(*names, MARK) ||
		    strspn(key, "0123456789abcdef") != MARK_KEY_BYTES || key[MARK_KEY_BYTES] != '-')
			continue;
		at = key + MARK_KEY_BYTES + 1;
		key = arena_strndup(&arena, key, MARK_KEY_BYTES);
		if (strcmp(at, boot) != 0 &&
		    folder_remove(layer_path(store, key, "", &arena), err) < 0)
			return -1;
		is_unsynced = is_unsynced || strcmp(at, boot) == 0;
	}
	if (is_unsynced)
		store_sync(work);
	return 0;
}

/* --- a store's folders ---------------------------------------------------------------------------- */

/* Removes what dead builds have left: nobody holds their lock. */
static int remove_stale(const struct store *store, const char *folder, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char **names;

	if (folder_list(folder, "", &arena, &names, err) < 0)
		return -1;
	for (; *names; names++) {
		const char *path = arena_printf(&arena, "%s/%s", folder, *names);
		_cleanup_(fd_close) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
			continue;
		cgroup_forget(*names);
		if (store_settle(store, path, err) < 0 || folder_remove(path, err) < 0)
			return -1;
	}
	return 0;
}

/*
 * Its name begins with six digits of the hash of the store's path, and so do the names of containers
 * and cgroups: what a build has left can be told from what another store's builds are using.
 */
static int make_work(struct store *store, const char *folder, struct arena *arena,
		     struct error *err)
{
	char digest[DIGEST_TEXT_BYTES], *path;

	digest_of(store->folder, strlen(store->folder), digest);
	path = arena_printf(arena, "%s/%.6sXXXXXX", folder, digest + strlen("sha256:"));
	if (!mkdtemp(path))
		return error_errno(err, "cannot write in %s", folder);
	store->work = path;
	store->lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store->lock < 0 || flock(store->lock, LOCK_EX | LOCK_NB) < 0)
		return error_errno(err, "cannot lock %s", path);
	return 0;
}

/*
 * Nobody else may have put anything there; and trees that an ordinary user made have other marks and
 * owners on disk than root's.
 */
static int store_check_owner(const char *folder, struct error *err)
{
	static const char *const names[] = {"",
					    "/layers",
					    "/work",
					    "/layout",
					    "/layout/blobs",
					    "/layout/blobs/sha256",
					    "/layout/blobs/sha512"};
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (private_check(arena_printf(&arena, "%s%s", folder, names[i]), err) < 0)
			return -1;
	return 0;
}

void store_limit(struct store *store, const struct budget_limits *limits)
{
	budget_init(&store->unpacked, limits, store->folder);
	budget_init(&store->listed, limits, NULL);
}

int store_open(struct store *store, const char *folder, int64_t newest_s, struct arena *arena,
	       struct error *err)
{
	const char *work = arena_printf(arena, "%s/work", folder);
	_cleanup_(fd_close) int all = -1;

	*store = (struct store){.folder = arena_strdup(arena, folder),
				.layout = arena_printf(arena, "%s/layout", folder),
				.lock = -1,
				.newest_s = newest_s,
				.kept_lock = PTHREAD_MUTEX_INITIALIZER};
	store_limit(store, NULL);
	if (store_check_owner(folder, err) < 0 || folder_make(work, 0700, err) < 0 ||
	    folder_make(layer_path(store, "", "", arena), 0700, err) < 0)
		return -1;
	/* one after the other: a new folder that is not locked yet looks like a dead build's */
	all = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (all < 0 || flock(all, LOCK_EX) < 0)
		return error_errno(err, "cannot lock %s", work);
	if (layout_init(store->layout, err) < 0 || remove_stale(store, work, err) < 0)
		return -1;
	return make_work(store, work, arena, err);
}

/* Whether a build holds the work folder of that path. */
static bool is_at_work(const char *path)
{
	_cleanup_(fd_close) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;
}

int store_remove(const char *folder, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *work = arena_printf(&arena, "%s/work", folder), **names;
	_cleanup_(fd_close) int all = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (private_check(folder, err) < 0)
		return -1;
	if (all >= 0) {
		if (flock(all, LOCK_EX) < 0 || folder_list(work, "", &arena, &names, err) < 0)
			return error_errno(err, "cannot lock %s", work);
		for (; *names; names++)
			if (is_at_work(arena_printf(&arena, "%s/%s", work, *names)))
				return error_set(err, ERROR_FAILED,
						 "a build is at work in %s; wait for its end",
						 folder);
	}
	return folder_remove(folder, err);
}

void store_release(struct store *store)
{
	struct error ignored = {0};

	if (store->work && atomic_load(&store->has_marks))
		store_sync(store->work);
	if (store->work)
		folder_remove(store->work, &ignored);
	if (store->lock >= 0)
		fd_close(&store->lock);
	store->work = NULL;
}

const char *store_work_path(struct store *store, struct arena *arena)
{
	return arena_printf(arena, "%s/%u", store->work, atomic_fetch_add(&store->names, 1));
}

void store_key(const char *const *words, char key[static KEY_BYTES])
{
	struct digest digest;
	char text[DIGEST_TEXT_BYTES];

	digest_init(&digest);
	for (; *words; words++)
		digest_add(&digest, *words, strlen(*words) + 1);
	digest_finish(&digest, text);
	snprintf(key, KEY_BYTES, "%.64s", text + strlen("sha256:"));
}

bool store_has_tree(const struct store *store, const char *key)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;

	return file_exists(layer_path(store, key, "tree", &arena));
}

/* Moves `path` to its place, unless another build has put the same there meanwhile. */
static int move_in(const char *path, const char *to, struct error *err)
{
	if (rename(path, to) == 0)
		return 0;
	if (errno != EEXIST && errno != ENOTEMPTY)
		return error_errno(err, "cannot write %s", to);
	return folder_remove(path, err);
}

/* A new layer's folder with `name` in it, moved from `from`. */
static int store_add_layer(struct store *store, const char *key, const char *from, const char *name,
			   struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *folder = store_work_path(store, &arena);

	if (folder_make(folder, 0700, err) < 0)
		return -1;
	if (rename(from, arena_printf(&arena, "%s/%s", folder, name)) < 0)
		return error_errno(err, "cannot write in %s", folder);
	return move_in(folder, layer_path(store, key, "", &arena), err);
}

static int read_tree(const struct store *store, const char *folder, struct tree *tree,
		     struct error *err)
{
	const struct tree_read_options options = {
		.is_overlay = true, .newest_s = store->newest_s, .clamp_on_disk = true};

	return tree_read(tree, folder, &options, err);
}

int store_add_tree(struct store *store, const char *key, const char *folder, struct error *err)
{
	_cleanup_(tree_release) struct tree tree;

	tree_init(&tree);
	if (read_tree(store, folder, &tree, err) < 0 || store_mark(store, key, err) < 0)
		return -1;
	return store_add_layer(store, key, folder, "tree", err);
}

static int write_parts(const char *path, const struct layer_parts *parts, struct error *err)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *list = cJSON_AddArrayToObject(json, "parts");

	for (size_t i = 0; i < parts->count; i++) {
		cJSON *part = descriptor_json(&parts->list[i].blob);

		cJSON_AddStringToObject(part, "diffId", parts->list[i].diff_id);
		cJSON_AddItemToArray(list, part);
	}
	if (parts->is_checked)
		cJSON_AddTrueToObject(json, "checked");
	return json_write(path, json, 0600, err);
}

int store_add_parts(struct store *store, const char *key, const struct layer_parts *parts,
		    struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *path = store_work_path(store, &arena);

	if (write_parts(path, parts, err) < 0)
		return -1;
	return store_add_layer(store, key, path, "parts.json", err);
}

/* False, and no error, when there are none or a blob is missing. */
static bool read_parts(const struct store *store, const char *key, struct layer_parts *parts)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	struct error ignored = {0};
	const cJSON *item;

	parts->count = 0;
	parts->is_checked = false;
	if (json_read(layer_path(store, key, "parts.json", &arena), &json, &ignored) < 0 ||
	    !cJSON_IsArray(json_member(json, "parts")))
		return false;
	cJSON_ArrayForEach (item, json_member(json, "parts")) {
		struct layer_part *part = &parts->list[parts->count];
		const char *diff_id = json_text(item, "diffId", &arena);

		if (parts->count++ == LAYER_PARTS_MAX)
			return false;
		*part = (struct layer_part){.diff_id = ""};
		if (!diff_id || !digest_is_valid(diff_id) ||
		    descriptor_parse(item, "", &part->blob, &ignored) < 0 ||
		    !layout_verify(store->layout, &part->blob))
			return false;
		snprintf(part->diff_id, sizeof(part->diff_id), "%s", diff_id);
	}
	parts->is_checked = cJSON_IsTrue(json_member(json, "checked"));
	return true;
}

bool store_has(const struct store *store, const char *key)
{
	_cleanup_(free_pointer) struct layer_parts *parts = xmalloc(sizeof(*parts));
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *path = layer_path(store, key, "", &arena);
	struct error err = {0};

	/* an entry that another user put there, before the folder was this user's alone */
	if (private_check(path, &err) < 0) {
		log_warn("%s; it is removed", err.text);
		folder_remove(path, &err);
		return false;
	}
	/* its time says when it was last used */
	if (utimensat(AT_FDCWD, path, NULL, 0) < 0)
		return false;
	if (store_has_tree(store, key) || read_parts(store, key, parts))
		return true;
	log_debug("the layer in %s is damaged, and is made again", path);
	folder_remove(path, &err);
	return false;
}

/* All of the layer was read, and its parts have the diffIDs that they are listed with. */
static int store_note_checked(const struct store *store, const char *key, struct layer_parts *parts,
			      struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;

	if (parts->is_checked)
		return 0;
	parts->is_checked = true;
	return write_parts(layer_path(store, key, "parts.json", &arena), parts, err);
}

int store_check(struct store *store, const char *key, struct layer_parts *parts, struct error *err)
{
	char blob[LAYOUT_PATH_BYTES], digest[DIGEST_TEXT_BYTES];

	for (size_t i = 0; !parts->is_checked && i < parts->count; i++) {
		const struct layer_part *part = &parts->list[i];
		_cleanup_(stream_close) struct stream *stream = NULL;

		if (layout_blob_path(store->layout, part->blob.digest, blob, err) < 0 ||
		    stream_open(blob, part->diff_id, &store->listed, &stream, err) < 0)
			return -1;
		if (stream_finish(stream, digest, err) < 0 ||
		    (strcmp(digest, part->diff_id) != 0 &&
		     layer_diff_id_wrong(digest, part->diff_id, err) < 0))
			return err->kind == ERROR_INTERRUPTED ? -1 : error_wrap(err, "%s", blob);
	}
	return store_note_checked(store, key, parts, err);
}

/* layer_rule's, whose keys are digests */
static bool find_part(void *arg, const char *key, struct layer_part *part)
{
	_cleanup_(free_pointer) struct layer_parts *parts = xmalloc(sizeof(*parts));

	if (!read_parts(arg, key + DIGEST_PREFIX_BYTES, parts) || parts->count != 1)
		return false;
	*part = parts->list[0];
	return true;
}

static int keep_part(void *arg, const char *key, const struct layer_part *part, struct error *err)
{
	_cleanup_(free_pointer) struct layer_parts *parts = xmalloc(sizeof(*parts));

	parts->count = 1;
	parts->is_checked = true; /* it was just written */
	parts->list[0] = *part;
	return store_add_parts(arg, key + DIGEST_PREFIX_BYTES, parts, err);
}

/* A layer that is a list of files. */
struct store_kept {
	struct store_kept *next;
	char key[KEY_BYTES];
	struct tree tree; /* never released: all of it is in the arena */
	size_t cuts;
	pthread_mutex_t lock; /* of what follows */
	bool is_written;      /* its parts are in the store */
};

void store_add_list(struct store *store, const char *key, const struct tree *tree, size_t cuts,
		    struct arena *arena)
{
	struct store_kept *kept = ARENA_NEW(arena, struct store_kept);

	kept->cuts = cuts;
	kept->tree.count = tree->count;
	kept->tree.list = ARENA_ARRAY(arena, tree->count + 1, struct tree_entry);
	if (tree->count)
		memcpy(kept->tree.list, tree->list, tree->count * sizeof(*tree->list));
	snprintf(kept->key, sizeof(kept->key), "%s", key);
	pthread_mutex_init(&kept->lock, NULL);
	pthread_mutex_lock(&store->kept_lock);
	kept->next = store->kept;
	store->kept = kept;
	pthread_mutex_unlock(&store->kept_lock);
}

static struct store_kept *find_kept(struct store *store, const char *key)
{
	struct store_kept *kept;

	pthread_mutex_lock(&store->kept_lock);
	for (kept = store->kept; kept && strcmp(kept->key, key) != 0; kept = kept->next)
		;
	pthread_mutex_unlock(&store->kept_lock);
	return kept;
}

/* Writes a layer that store_add_list took, unless that is done or another thread does it. */
static int write_kept(struct store *store, const char *key, const char *title, struct error *err)
{
	_cleanup_(free_pointer) struct layer_parts *parts = NULL;
	struct store_kept *kept = find_kept(store, key);
	struct layer_rule rule = {.find = find_part, .keep = keep_part, .arg = store};
	int rc = 0;

	if (!kept)
		return 0;
	pthread_mutex_lock(&kept->lock);
	if (!kept->is_written) {
		parts = xmalloc(sizeof(*parts));
		rule.cuts = kept->cuts;
		rc = layer_write(&kept->tree, store->layout, &rule, title, parts, err);
		if (rc == 0)
			rc = store_add_parts(store, key, parts, err);
		kept->is_written = rc == 0;
	}
	pthread_mutex_unlock(&kept->lock);
	return rc;
}

/* `parts`: as read_parts left them, with the part that it stopped at. */
static int store_damaged(const struct store *store, const char *key,
			 const struct layer_parts *parts, struct error *err)
{
	size_t at = parts->count - 1;
	char blob[LAYOUT_PATH_BYTES] = "its list of parts";
	struct error ignored;

	if (at < LAYER_PARTS_MAX && digest_is_valid(parts->list[at].blob.digest))
		layout_blob_path(store->layout, parts->list[at].blob.digest, blob, &ignored);
	return error_set(
		err, ERROR_FAILED,
		"the layer in %s/layers/%s is damaged: %s is missing, or not as it was written; remove that folder and run this again",
		store->folder, key, blob);
}

int store_tree(struct store *store, const char *key, struct arena *arena, const char **folder,
	       struct error *err)
{
	_cleanup_(free_pointer) struct layer_parts *parts = xmalloc(sizeof(*parts));
	const char *partial = store_work_path(store, arena);
	char blob[LAYOUT_PATH_BYTES];

	*folder = layer_path(store, key, "tree", arena);
	if (file_exists(*folder))
		return 0;
	if (write_kept(store, key, NULL, err) < 0)
		return -1;
	if (!read_parts(store, key, parts))
		return store_damaged(store, key, parts, err);
	if (folder_make(partial, 0755, err) < 0)
		return -1;
	for (size_t i = 0; i < parts->count; i++) {
		if (layout_blob_path(store->layout, parts->list[i].blob.digest, blob, err) < 0 ||
		    layer_unpack(blob, partial, parts->list[i].diff_id, &store->unpacked, err) < 0)
			return -1;
	}
	if (store_note_checked(store, key, parts, err) < 0 || store_mark(store, key, err) < 0)
		return -1;
	return move_in(partial, *folder, err);
}

/* Reads the list from the layer's blobs. */
static int list_blobs(struct store *store, const struct layer_parts *parts, struct tree *tree,
		      struct error *err)
{
	char blob[LAYOUT_PATH_BYTES];

	for (size_t i = 0; i < parts->count; i++)
		if (layout_blob_path(store->layout, parts->list[i].blob.digest, blob, err) < 0 ||
		    layer_list(blob, parts->list[i].diff_id, &store->listed, tree, err) < 0)
			return -1;
	return 0;
}

/* Reads the list that was kept, or the blobs, once. */
static int store_read_list(struct store *store, const char *key, struct arena *arena,
			   const struct tree **list, struct error *err)
{
	_cleanup_(free_pointer) struct layer_parts *parts = xmalloc(sizeof(*parts));
	const char *path = layer_path(store, key, "list.json", arena);
	struct tree *tree = ARENA_NEW(arena, struct tree), read;
	struct error ignored = {0};
	int rc;

	*list = tree;
	if (!read_parts(store, key, parts))
		return store_damaged(store, key, parts, err);
	if (parts->is_checked && tree_load(tree, path, arena))
		return 0;
	tree_init(&read);
	rc = list_blobs(store, parts, &read, err);
	if (rc == 0)
		rc = store_note_checked(store, key, parts, err);
	if (rc == 0 && tree_save(&read, path, &ignored) < 0)
		log_debug("%s", ignored.text);
	/* into the caller's arena, with its texts */
	tree->count = read.count;
	tree->list = ARENA_ARRAY(arena, read.count + 1, struct tree_entry);
	if (read.count)
		memcpy(tree->list, read.list, read.count * sizeof(*read.list));
	arena_adopt(arena, &read.arena);
	tree_release(&read);
	return rc;
}

int store_list(struct store *store, const char *key, struct arena *arena, const struct tree **list,
	       struct error *err)
{
	struct store_kept *kept = find_kept(store, key);

	if (!kept)
		return store_read_list(store, key, arena, list, err);
	*list = &kept->tree;
	return 0;
}

int store_parts(struct store *store, const char *key, const char *title, struct layer_parts *parts,
		struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(tree_release) struct tree tree;
	const char *folder = layer_path(store, key, "tree", &arena);

	tree_init(&tree);
	if (write_kept(store, key, title, err) < 0)
		return -1;
	if (read_parts(store, key, parts))
		return 0;
	if (!file_exists(folder))
		return store_damaged(store, key, parts, err);
	if (read_tree(store, folder, &tree, err) < 0 ||
	    layer_write(&tree, store->layout, NULL, title, parts, err) < 0)
		return -1;
	return write_parts(layer_path(store, key, "parts.json", &arena), parts, err);
}
