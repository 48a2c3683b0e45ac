/* SPDX-License-Identifier: MIT */
/* What COPY copies: files of the context, or of another stage. */
#include "builder/native/native_copy.h"

#include <string.h>
#include <unistd.h>

int copy_bad(struct copy *c, const char *why, const char *path)
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

/* The file of the context that a hard link is to, if it does not come along with it. */
static void follow_out(const struct spec *spec, struct tree_entry *link)
{
	for (size_t i = 0; i < spec->file_count; i++)
		if (strcmp(spec->files[i].path, link->link) == 0)
			set_content(link, &spec->files[i]);
}

/* A hard link may end as a file of its own: it has the content of its file at hand. */
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

/* Without root what is unpacked is ours: whose it is stands in the layers alone. */
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

int copy_collect(struct copy *c, const char *path)
{
	struct native_stage *stage = c->stage;
	int from = -1;

	if (strpbrk(path, "*?["))
		return copy_bad(c, "wildcards are not taken:", path);
	if (*c->at->from) {
		/* as it is written, no variables put in: which stages are needed follows from it */
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
