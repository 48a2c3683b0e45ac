/* SPDX-License-Identifier: MIT */
#include "builder/native/native_copy.h"

#include "builder/native/native_image.h"
#include "builder/native/runtime/runtime_user.h"
#include "core/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * About how many layers the COPY steps of a stage become: Docker's overlays take 125 in an image.
 */
#define COPY_LAYERS 48

/* A COPY under way. */
struct copy {
	struct native_stage *stage;
	const struct instruction *at;
	struct view view;    /* what is copied onto */
	struct tree tree;    /* the layer */
	struct tree parents; /* folders above what is copied; a copied entry replaces them */
	struct tree source;  /* sorted; of one source path */
	bool has_owner;
	uid_t uid;
	gid_t gid;
	int chmod;	     /* -1: as the files have it */
	struct words inputs; /* all that the layer is made from, for its key */
	/* of the parent folder that was looked up last */
	char parent[TREE_PATH_BYTES], resolved[TREE_PATH_BYTES];
	bool has_parent;
};

/* "Dockerfile:3: COPY a b: WHY PATH" */
static int copy_bad(struct copy *c, const char *why, const char *path)
{
	return native_bad(c->stage, ERROR_USAGE,
			  arena_printf(&c->stage->arena, "%s %s", why, path));
}

static void add_input(struct copy *c, const struct tree_entry *entry)
{
	words_addf(&c->inputs, "%d %o %u %u %lld", entry->type, (unsigned)entry->mode,
		   (unsigned)entry->uid, (unsigned)entry->gid, (long long)entry->mtime_s);
	words_add(&c->inputs, entry->path);
	words_add(&c->inputs, entry->link ? entry->link : "");
	words_add(&c->inputs, entry->digest ? entry->digest : "");
}

static void set_content(struct tree_entry *entry, const struct spec_file *file)
{
	entry->source = file->source;
	entry->text = file->text;
	entry->digest = file->digest;
	entry->changed_ns = file->changed_ns;
	entry->size_bytes = file->size_bytes;
}

static void add_spec_file(struct copy *c, const struct spec_file *file)
{
	static const enum tree_type types[] = {[SPEC_FILE] = TREE_FILE,
					       [SPEC_FOLDER] = TREE_FOLDER,
					       [SPEC_SYMLINK] = TREE_SYMLINK,
					       [SPEC_HARDLINK] = TREE_HARDLINK};
	struct tree_entry *entry = tree_add(&c->source, types[file->kind], file->path);

	entry->mode = file->mode;
	entry->mtime_s = c->stage->build->store.newest_s;
	entry->link = file->link;
	set_content(entry, file);
}

/* Gives a hard link the content of its file in the context, when that file is not copied too. */
static void follow_out(const struct spec *spec, struct tree_entry *link)
{
	for (size_t i = 0; i < spec->file_count; i++)
		if (strcmp(spec->files[i].path, link->link) == 0)
			set_content(link, &spec->files[i]);
}

/* A hard link may become a file of its own, so it gets the content of its file. */
static void follow_links(struct copy *c)
{
	for (size_t i = 0; i < c->source.count; i++) {
		struct tree_entry *link = &c->source.list[i];
		const struct tree_entry *file;

		if (link->type != TREE_HARDLINK)
			continue;
		file = tree_find(&c->source, link->link);
		if (!file) {
			follow_out(c->stage->build->spec, link);
			continue;
		}
		link->source = file->source;
		link->text = file->text;
		link->digest = file->digest;
		link->changed_ns = file->changed_ns;
		link->size_bytes = file->size_bytes;
	}
}

static void add_implied(struct copy *c, const char *path, size_t length)
{
	struct tree_entry *folder =
		tree_add(&c->source, TREE_FOLDER, arena_strndup(&c->source.arena, path, length));

	folder->mode = 0755;
	folder->mtime_s = c->stage->build->store.newest_s;
}

/* The files of the context at and below the path; folders that are only implied are made. */
static int collect_context(struct copy *c, const char *path)
{
	const struct spec *spec = c->stage->build->spec;
	size_t length = strlen(path);

	if (!length)
		add_implied(c, "", 0);
	for (size_t i = 0; i < spec->file_count; i++) {
		const char *name = spec->files[i].path;

		if (length && (strncmp(name, path, length) != 0 ||
			       (name[length] != '\0' && name[length] != '/')))
			continue;
		for (const char *p = name + length; (p = strchr(p, '/')); p++)
			add_implied(c, name, (size_t)(p - name));
		add_spec_file(c, &spec->files[i]);
	}
	tree_sort(&c->source);
	follow_links(c);
	for (size_t i = 0; i < c->source.count; i++)
		add_input(c, &c->source.list[i]);
	return 0;
}

/* Without root, unpacked files belong to the caller: only the layers say whose they are. */
static int find_owners(struct copy *c, const struct native_stage *other)
{
	struct native_stage *stage = c->stage;
	struct view *lists = ARENA_NEW(&stage->arena, struct view);

	if (native_view(stage, other, false, lists) < 0)
		return -1;
	for (size_t i = 0; i < c->source.count; i++) {
		struct tree_entry *entry = &c->source.list[i], listed;
		bool found;

		if (view_find(lists, entry->path, &c->source.arena, &listed, &found, &stage->err) <
		    0)
			return -1;
		if (!found)
			continue;
		entry->uid = listed.uid;
		entry->gid = listed.gid;
		entry->mode = listed.mode;
	}
	return 0;
}

/* The same of another stage. What is in it follows from its key. */
static int collect_stage(struct copy *c, int from, const char *path)
{
	struct native_stage *stage = c->stage, *other = stage->build->stages[from];
	struct view *view = ARENA_NEW(&stage->arena, struct view);
	char real[TREE_PATH_BYTES];
	int rc;

	if (native_wait(stage, (size_t)from) < 0)
		return -1;
	rc = native_view(stage, other, true, view);
	if (rc == 0)
		rc = view_resolve(view, path, real, &stage->err);
	if (rc == 0 && strcmp(real, path) != 0)
		return copy_bad(c, "the path is behind a link; write it as", real);
	if (rc == 0)
		rc = view_collect(view, path, &c->source, &stage->err);
	if (rc == 0 && geteuid() != 0)
		rc = find_owners(c, other);
	words_add(&c->inputs, other->key);
	words_add(&c->inputs, path);
	return rc;
}

/* Makes c->source what stands at and below a path of the context or of the other stage. */
static int copy_collect(struct copy *c, const char *path)
{
	struct native_stage *stage = c->stage;
	int from = -1;

	if (strpbrk(path, "*?["))
		return copy_bad(c, "wildcards are not taken:", path);
	if (*c->at->from) {
		/* without variables: which stages are needed is known before any stage runs */
		from = dockerfile_stage(&stage->build->file, c->at->from, stage->index);
		if (from < 0)
			return copy_bad(c, "there is no earlier stage named", c->at->from);
	}
	/* the layer's entries borrow texts of their sources */
	arena_adopt(&c->tree.arena, &c->source.arena);
	tree_release(&c->source);
	tree_init(&c->source);
	return from < 0 ? collect_context(c, path) : collect_stage(c, from, path);
}

/* --- where it goes ---------------------------------------------------------------------------- */

/* "/a/../b/" from `base` as "b"; never above the root. */
static const char *plain_path(struct arena *arena, const char *base, const char *path)
{
	char *out = arena_printf(arena, "%s/%s/", *path == '/' ? "" : base, path), *end = out;

	for (const char *p = out; *p;) {
		size_t length = strcspn(p, "/");
		const char *part = arena_strndup(arena, p, length);

		p += length + (p[length] == '/');
		if (!*part || strcmp(part, ".") == 0)
			continue;
		if (strcmp(part, "..") == 0) {
			while (end > out && *--end != '/')
				;
			continue;
		}
		if (end > out)
			*end++ = '/';
		memcpy(end, part, length);
		end += length;
	}
	*end = '\0';
	return out;
}

/* Adds the folder and all above it to the layer; those that the image has keep their modes. */
static int native_copy_add_folder(struct copy *c, const char *path)
{
	struct native_stage *stage = c->stage;

	for (const char *p = path; p && *p;) {
		const char *slash = strchr(p, '/');
		size_t length = slash ? (size_t)(slash - path) : strlen(path);
		const char *folder = arena_strndup(&c->tree.arena, path, length);
		struct tree_entry entry, *added;
		bool found;

		if (view_find(&c->view, folder, &c->tree.arena, &entry, &found, &stage->err) < 0)
			return -1;
		if (found && entry.type != TREE_FOLDER)
			return copy_bad(c, "the image has a file in place of the folder", folder);
		added = tree_add(&c->parents, TREE_FOLDER, folder);
		if (found) {
			entry.path = added->path;
			*added = entry;
			if (added->mtime_s > stage->build->store.newest_s)
				added->mtime_s = stage->build->store.newest_s;
		} else {
			added->mode = 0755;
			added->mtime_s = stage->build->store.newest_s;
			added->uid = c->has_owner ? c->uid : 0;
			added->gid = c->has_owner ? c->gid : 0;
		}
		p = slash ? slash + 1 : NULL;
	}
	return 0;
}

/* Where a path of the image lies, once the links of its folders are followed. */
static int place_of(struct copy *c, const char *path, char out[static TREE_PATH_BYTES])
{
	const char *slash = strrchr(path, '/');
	char parent[TREE_PATH_BYTES];

	snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - path) : 0, path);
	if (!c->has_parent || strcmp(parent, c->parent) != 0) {
		if (view_resolve(&c->view, parent, c->resolved, &c->stage->err) < 0 ||
		    native_copy_add_folder(c, c->resolved) < 0)
			return -1;
		memcpy(c->parent, parent, sizeof(parent));
		c->has_parent = true;
	}
	if (snprintf(out, TREE_PATH_BYTES, "%s%s%s", c->resolved, *c->resolved ? "/" : "",
		     slash ? slash + 1 : path) >= TREE_PATH_BYTES)
		return copy_bad(c, "too long a path:", path);
	return 0;
}

/* Where the file of a hard link is put, if it is copied too; else the link becomes a file. */
static int native_copy_place_link(struct copy *c, const char *source, const char *to,
				  struct tree_entry *entry)
{
	size_t length = strlen(source);
	char real[TREE_PATH_BYTES];

	if (length && (strncmp(entry->link, source, length) != 0 || entry->link[length] != '/')) {
		entry->type = TREE_FILE;
		entry->link = NULL;
		return 0;
	}
	if (place_of(c,
		     arena_printf(&c->tree.arena, "%s%s%s", to, *to ? "/" : "",
				  entry->link + length + (length > 0)),
		     real) < 0)
		return -1;
	entry->link = arena_strdup(&c->tree.arena, real);
	return 0;
}

/*
 * A folder that the image has, perhaps behind a link, stays a folder: *is_there. Files of a context
 * have no modes of their own, so it keeps its mode.
 */
static int meet_folder(struct copy *c, const char *path, char real[static TREE_PATH_BYTES],
		       bool *is_there)
{
	struct native_stage *stage = c->stage;
	struct tree_entry entry;

	if (view_resolve(&c->view, path, real, &stage->err) < 0 ||
	    view_find(&c->view, real, &c->tree.arena, &entry, is_there, &stage->err) < 0)
		return -1;
	*is_there = *is_there && entry.type == TREE_FOLDER;
	return *is_there ? native_copy_add_folder(c, real) : 0;
}

static int put_entry(struct copy *c, const struct tree_entry *entry, const char *path)
{
	char real[TREE_PATH_BYTES];
	struct tree_entry *added;
	bool is_there = false;

	if (entry->type == TREE_FOLDER && meet_folder(c, path, real, &is_there) < 0)
		return -1;
	if (is_there && !*c->at->from && !c->has_owner && c->chmod < 0)
		return 0;
	if (!is_there && place_of(c, path, real) < 0)
		return -1;
	added = tree_add(&c->tree, entry->type, real);
	path = added->path;
	*added = *entry;
	added->path = path;
	if (c->has_owner) {
		added->uid = c->uid;
		added->gid = c->gid;
	}
	if (c->chmod >= 0 && entry->type != TREE_SYMLINK)
		added->mode = (mode_t)c->chmod;
	return 0;
}

/* Copies one source path, into a folder or as the file of that name. */
static int put_source(struct copy *c, const char *source, const char *to, bool into)
{
	struct tree_entry *first = &c->source.list[0];
	size_t length = strlen(source);
	const char *slash = strrchr(source, '/');

	if (!c->source.count)
		return copy_bad(c, "there is no such file in the context or stage:", source);
	if (first->type != TREE_FOLDER || strcmp(first->path, source) != 0) {
		if (into)
			to = arena_printf(&c->tree.arena, "%s%s%s", to, *to ? "/" : "",
					  slash ? slash + 1 : source);
		if (first->type == TREE_HARDLINK)
			first->type = TREE_FILE;
		return put_entry(c, first, to);
	}
	if (native_copy_add_folder(c, to) < 0)
		return -1;
	for (size_t i = 1; i < c->source.count; i++) {
		const struct tree_entry *entry = &c->source.list[i];
		const char *below = entry->path + (length ? length + 1 : 0);
		struct tree_entry moved = *entry;

		if (entry->type == TREE_HARDLINK &&
		    native_copy_place_link(c, source, to, &moved) < 0)
			return -1;
		if (put_entry(c, &moved,
			      arena_printf(&c->tree.arena, "%s%s%s", to, *to ? "/" : "", below)) <
		    0)
			return -1;
	}
	return 0;
}

/* Looks names up in the image's own files, which must be on disk for that. */
static int find_owner(struct copy *c, const char *owner)
{
	struct native_stage *stage = c->stage;
	const struct view *view = &c->view;
	struct view *on_disk;

	if (owner[strspn(owner, "0123456789:")]) {
		on_disk = ARENA_NEW(&stage->arena, struct view);
		if (native_view(stage, stage, true, on_disk) < 0)
			return -1;
		view = on_disk;
	}
	c->has_owner = true;
	if (runtime_owner(view, owner, &c->uid, &c->gid, &stage->err) == 0)
		return 0;
	return native_bad(stage, stage->err.kind, arena_strdup(&stage->arena, stage->err.text));
}

static int read_options(struct copy *c)
{
	struct native_stage *stage = c->stage;
	const char *word;
	char *end;

	c->chmod = -1;
	if (*c->at->chmod) {
		if (native_word(stage, c->at->chmod, &word) < 0)
			return -1;
		c->chmod = (int)strtol(word, &end, 8);
		if (!*word || *end || c->chmod < 0 || c->chmod > 07777)
			return copy_bad(c, "--chmod takes an octal number, not", word);
	}
	if (*c->at->chown) {
		if (native_word(stage, c->at->chown, &word) < 0 || find_owner(c, word) < 0)
			return -1;
	}
	return 0;
}

/* Whether the sources go into `to`, rather than becoming it; `to` behind its links. */
static int find_target(struct copy *c, const char *written, size_t sources, const char **to,
		       bool *into)
{
	struct native_stage *stage = c->stage;
	struct tree_entry entry;
	char real[TREE_PATH_BYTES];
	bool found;

	*to = plain_path(&stage->arena, image_config_text(stage->config, "WorkingDir"), written);
	if (view_resolve(&c->view, *to, real, &stage->err) < 0 ||
	    view_find(&c->view, real, &stage->arena, &entry, &found, &stage->err) < 0)
		return -1;
	*to = arena_strdup(&stage->arena, real);
	*into = ends_with(written, "/") || ends_with(written, "/.") || strcmp(written, ".") == 0 ||
		sources > 1 || !**to || (found && entry.type == TREE_FOLDER);
	return 0;
}

/* A hard link becomes a file when its file was replaced, or stands behind it. */
static void check_links(struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		struct tree_entry *entry = &tree->list[i];
		const struct tree_entry *file;

		if (entry->type != TREE_HARDLINK)
			continue;
		file = tree_find(tree, entry->link);
		if (file && file < entry && file->type == TREE_FILE &&
		    file->source == entry->source && file->text == entry->text)
			continue;
		entry->type = TREE_FILE;
		entry->link = NULL;
	}
}

/* How many of COPY_LAYERS each COPY of the stage may take. */
static size_t share(const struct build_stage *stage)
{
	size_t copies = 0;

	for (size_t i = 0; i < stage->count; i++)
		copies += stage->list[i].kind == INSTRUCTION_COPY;
	return copies == 0 || copies > COPY_LAYERS ? 1 : COPY_LAYERS / copies;
}

/* The files are read while later steps run, which look for paths in the list. */
static int save_layer(struct copy *c, const char *created_by)
{
	struct store *store = &c->stage->build->store;
	struct arena *arena = &c->stage->arena;
	struct words words = WORDS_INIT(arena);
	char key[KEY_BYTES];

	words_add_all(&words, WORDS("tree", created_by));
	if (c->inputs.list)
		words_add_all(&words, c->inputs.list);
	native_step_key(c->stage, &words, key);
	if (!store_has(store, key)) {
		for (size_t i = 0; i < c->tree.count; i++)
			*tree_add(&c->parents, TREE_FILE, "") = c->tree.list[i];
		tree_sort(&c->parents);
		check_links(&c->parents);
		store_add_list(store, key, &c->parents, share(c->stage->source), arena);
		arena_adopt(arena, &c->parents.arena);
		arena_adopt(arena, &c->tree.arena);
		arena_adopt(arena, &c->source.arena);
	}
	return native_add_layer(c->stage, key, created_by);
}

static int do_copy(struct copy *c)
{
	struct native_stage *stage = c->stage;
	const char *const *words = c->at->exec, *to, *source;
	size_t count = 0;
	bool into;

	if (!words && native_words(stage, c->at->text, &words) < 0)
		return -1;
	while (words[count])
		count++;
	if (count < 2)
		return native_bad(stage, ERROR_USAGE, "is written COPY FROM... TO");
	if (native_view(stage, stage, false, &c->view) < 0 || read_options(c) < 0 ||
	    find_target(c, words[count - 1], count - 1, &to, &into) < 0)
		return -1;
	/* the words after variables, links and the working folder were put in */
	words_addf(&c->inputs, "%d %d %u %u %d", into, c->has_owner, (unsigned)c->uid,
		   (unsigned)c->gid, c->chmod);
	words_add(&c->inputs, to);
	for (size_t i = 0; i + 1 < count; i++) {
		source = plain_path(&stage->arena, "", words[i]);
		if (copy_collect(c, source) < 0 || put_source(c, source, to, into) < 0)
			return -1;
	}
	return save_layer(c, arena_printf(&stage->arena, "COPY %s%s%s%s%s%s%s%s%s%s",
					  *c->at->from ? "--from=" : "", c->at->from,
					  *c->at->from ? " " : "", *c->at->chown ? "--chown=" : "",
					  c->at->chown, *c->at->chown ? " " : "",
					  *c->at->chmod ? "--chmod=" : "", c->at->chmod,
					  *c->at->chmod ? " " : "", c->at->text));
}

static struct copy *copy_new(struct native_stage *stage, const struct instruction *at)
{
	struct copy *c = ARENA_NEW(&stage->arena, struct copy);

	*c = (struct copy){.stage = stage, .at = at, .inputs = WORDS_INIT(&stage->arena)};
	tree_init(&c->parents);
	tree_init(&c->tree);
	tree_init(&c->source);
	return c;
}

static int copy_end(struct copy *c, int rc)
{
	tree_release(&c->parents);
	tree_release(&c->tree);
	tree_release(&c->source);
	return rc;
}

int native_copy(struct native_stage *stage, const struct instruction *at)
{
	struct copy *c = copy_new(stage, at);

	return copy_end(c, do_copy(c));
}

static int do_workdir(struct copy *c)
{
	struct native_stage *stage = c->stage;
	const char *word, *path;
	char real[TREE_PATH_BYTES];
	struct tree_entry entry;
	bool found;

	if (native_word(stage, c->at->text, &word) < 0)
		return -1;
	path = plain_path(&stage->arena, image_config_text(stage->config, "WorkingDir"), word);
	image_config_set_text(stage->config, "WorkingDir",
			      arena_printf(&stage->arena, "/%s", path));
	if (native_view(stage, stage, false, &c->view) < 0 ||
	    view_resolve(&c->view, path, real, &stage->err) < 0 ||
	    view_find(&c->view, real, &stage->arena, &entry, &found, &stage->err) < 0)
		return -1;
	path = arena_printf(&stage->arena, "WORKDIR %s", c->at->text);
	if (found) {
		stage->records[stage->record_count++] = (struct native_record){path, NULL};
		return 0;
	}
	words_add(&c->inputs, real);
	return native_copy_add_folder(c, real) < 0 ? -1 : save_layer(c, path);
}

int native_workdir(struct native_stage *stage, const struct instruction *at)
{
	struct copy *c = copy_new(stage, at);

	return copy_end(c, do_workdir(c));
}
