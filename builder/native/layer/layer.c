/* SPDX-License-Identifier: MIT */
#include "builder/native/layer/layer.h"

#include "builder/native/layer/layer_entry.h"
#include "builder/native/layer/layer_plan.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/progress.h"
#include "core/str.h"
#include "oci/layer/packer.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITE_BLOCK_BYTES (128 * 1024)
#define READ_BYTES (1024 * 1024)

struct writer {
	const struct tree *tree;
	const char *layout;
	const struct layer_rule *rule;
	struct layer_parts *parts;
	struct layer_plan plan;
	unsigned char *is_in; /* by entry: it stands in the part under way */
	struct packer *packer;
	struct archive *tar;
	struct error *err;
	locale_t utf8;
	char *buffer; /* READ_BYTES */
	struct progress_step *progress;
	uint64_t done_bytes;
	struct digest key; /* of the part under way */
	bool key_is_known;
};

static int layer_tar_failed(struct writer *w, const char *path)
{
	const char *why = archive_error_string(w->tar);

	if (w->err->kind)
		return -1; /* the packer said why */
	return error_set(w->err, ERROR_FAILED, "%s cannot become part of a layer: %s", path,
			 why ? why : "unknown error");
}

static la_ssize_t layer_write_some(struct archive *tar, void *arg, const void *bytes, size_t length)
{
	struct writer *w = arg;

	if (packer_add(w->packer, bytes, length, w->err) == 0)
		return (la_ssize_t)length;
	archive_set_error(tar, EIO, "the layer cannot be written");
	return -1;
}

static int layer_write_header(struct writer *w, struct archive_entry *entry, const char *path)
{
	locale_t before = uselocale(w->utf8);
	int rc = archive_write_header(w->tar, entry);

	uselocale(before);
	/* the warning: a name that is not UTF-8, which is written byte by byte */
	return rc == ARCHIVE_OK || rc == ARCHIVE_WARN ? 0 : layer_tar_failed(w, path);
}

static int layer_write_bytes(struct writer *w, const struct tree_entry *entry, const char *bytes,
			     size_t length)
{
	if (archive_write_data(w->tar, bytes, length) != (la_ssize_t)length)
		return layer_tar_failed(w, entry->path);
	w->done_bytes += length;
	if (w->progress)
		progress_bytes(w->progress, w->done_bytes, w->plan.content_bytes);
	return interrupt_check(w->err);
}

static int copy_range(struct writer *w, const struct tree_entry *entry, int fd, uint64_t left)
{
	while (left) {
		ssize_t got = read(fd, w->buffer, left < READ_BYTES ? (size_t)left : READ_BYTES);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_errno(w->err, "cannot read %s", entry->source);
		if (got == 0)
			return error_set(w->err, ERROR_FAILED,
					 "%s became shorter while it was read; run this again",
					 entry->source);
		if (layer_write_bytes(w, entry, w->buffer, (size_t)got) < 0)
			return -1;
		left -= (uint64_t)got;
	}
	return 0;
}

/* libarchive counts the bytes of a hole and does not look at them. */
static int pass_hole(struct writer *w, const struct tree_entry *entry, uint64_t left)
{
	while (left) {
		size_t some = left < READ_BYTES ? (size_t)left : READ_BYTES;

		if (layer_write_bytes(w, entry, w->buffer, some) < 0)
			return -1;
		left -= some;
	}
	return 0;
}

static int copy_file(struct writer *w, const struct tree_entry *entry, struct archive_entry *out,
		     int fd)
{
	la_int64_t offset, length;
	uint64_t at = 0;

	if (!archive_entry_sparse_reset(out))
		return copy_range(w, entry, fd, entry->size_bytes);
	while (archive_entry_sparse_next(out, &offset, &length) == ARCHIVE_OK) {
		if (pass_hole(w, entry, (uint64_t)offset - at) < 0)
			return -1;
		if (lseek(fd, (off_t)offset, SEEK_SET) < 0)
			return error_errno(w->err, "cannot read %s", entry->source);
		if (copy_range(w, entry, fd, (uint64_t)length) < 0)
			return -1;
		at = (uint64_t)(offset + length);
	}
	return pass_hole(w, entry, entry->size_bytes - at);
}

/* What is kept by a digest must have the content that it was taken of. */
static int check_unchanged(struct writer *w, const struct tree_entry *entry, int fd)
{
	struct stat st;

	if (!entry->changed_ns)
		return 0;
	if (fstat(fd, &st) < 0)
		return error_errno(w->err, "cannot read %s", entry->source);
	if (file_changed_ns(&st) == entry->changed_ns && (uint64_t)st.st_size == entry->size_bytes)
		return 0;
	return error_set(w->err, ERROR_FAILED, "%s changed while it was built in; run this again",
			 entry->source);
}

static int layer_write_file(struct writer *w, const struct tree_entry *entry,
			    struct archive_entry *out)
{
	_cleanup_(fd_close) int fd = -1;

	if (!entry->source) {
		if (layer_write_header(w, out, entry->path) < 0)
			return -1;
		return layer_write_bytes(w, entry, entry->text, entry->size_bytes);
	}
	fd = open(entry->source, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(w->err, "cannot read %s", entry->source);
	if (layer_entry_holes(out, fd, entry, w->err) < 0 ||
	    layer_write_header(w, out, entry->path) < 0)
		return -1;
	if (copy_file(w, entry, out, fd) < 0)
		return -1;
	return check_unchanged(w, entry, fd);
}

static int layer_write_entry(struct writer *w, const struct tree_entry *entry, bool repeated)
{
	struct archive_entry *out = layer_entry_new(entry);
	int rc;

	rc = entry->type == TREE_FILE ? layer_write_file(w, entry, out)
				      : layer_write_header(w, out, entry->path);
	archive_entry_free(out);
	if (rc == 0 && entry->opaque && !repeated) {
		out = layer_entry_opaque(entry);
		rc = layer_write_header(w, out, entry->path);
		archive_entry_free(out);
	}
	return rc;
}

/* What an entry adds to a part; `repeated`: a folder that begins in another part. */
typedef int emit_fn(struct writer *w, const struct tree_entry *entry, bool repeated);

/* The folders above an entry that the part does not have yet. */
static int walk_parents(struct writer *w, const struct tree_entry *entry, size_t part,
			emit_fn *emit)
{
	char path[TREE_PATH_BYTES];

	for (const char *p = entry->path; (p = strchr(p, '/')); p++) {
		const struct tree_entry *parent;
		size_t length = (size_t)(p - entry->path), index;

		memcpy(path, entry->path, length);
		path[length] = '\0';
		parent = tree_find(w->tree, path);
		index = parent ? (size_t)(parent - w->tree->list) : 0;
		if (!parent || w->is_in[index] || parent->type != TREE_FOLDER)
			continue;
		w->is_in[index] = 1;
		if (emit(w, parent, w->plan.part_of[index] != part) < 0)
			return -1;
	}
	return 0;
}

/* All that stands in a part, in its order. */
static int walk_part(struct writer *w, size_t part, emit_fn *emit)
{
	memset(w->is_in, 0, w->tree->count);
	for (size_t i = 0; i < w->tree->count; i++) {
		const struct tree_entry *entry = &w->tree->list[i];

		if (w->plan.part_of[i] != part || w->is_in[i] || !*entry->path)
			continue;
		if (walk_parents(w, entry, part, emit) < 0)
			return -1;
		w->is_in[i] = 1;
		if (emit(w, entry, false) < 0)
			return -1;
	}
	return 0;
}

static void layer_key_text(struct writer *w, const char *text)
{
	digest_add(&w->key, text, strlen(text) + 1);
}

static int key_entry(struct writer *w, const struct tree_entry *entry, bool repeated)
{
	char numbers[160];

	snprintf(numbers, sizeof(numbers), "%d %o %u %u %lld %llu %llu %d", entry->type,
		 (unsigned)entry->mode, (unsigned)entry->uid, (unsigned)entry->gid,
		 (long long)entry->mtime_s, (unsigned long long)entry->size_bytes,
		 (unsigned long long)entry->device, entry->opaque && !repeated);
	layer_key_text(w, numbers);
	layer_key_text(w, entry->path);
	layer_key_text(w, entry->link ? entry->link : "");
	if (entry->type == TREE_FILE)
		layer_key_text(w, entry->digest ? entry->digest : "");
	for (const struct tree_attribute *a = entry->attributes; a; a = a->next) {
		layer_key_text(w, a->name);
		digest_add(&w->key, &a->length, sizeof(a->length));
		digest_add(&w->key, a->value, a->length);
	}
	w->key_is_known = w->key_is_known && (entry->type != TREE_FILE || entry->digest);
	return 0;
}

static int begin_part(struct writer *w)
{
	w->tar = archive_write_new();
	if (!w->tar)
		oom();
	archive_write_set_format_pax_restricted(w->tar);
	archive_write_set_bytes_per_block(w->tar, WRITE_BLOCK_BYTES);
	archive_write_set_bytes_in_last_block(w->tar, 1);
	if (archive_write_open(w->tar, w, NULL, layer_write_some, NULL) != ARCHIVE_OK)
		return layer_tar_failed(w, "a layer");
	return packer_begin(w->packer, w->layout, w->err);
}

static int write_part(struct writer *w, size_t part)
{
	struct layer_part *result = &w->parts->list[part];
	int rc = begin_part(w);

	if (rc == 0)
		rc = walk_part(w, part, layer_write_entry);
	if (rc == 0 && archive_write_close(w->tar) != ARCHIVE_OK)
		rc = layer_tar_failed(w, "the end");
	archive_write_free(w->tar);
	w->tar = NULL;
	return rc < 0 ? -1 : packer_end(w->packer, result->diff_id, &result->blob, w->err);
}

/* Writes the part, unless it was written before. */
static int provide_part(struct writer *w, size_t part)
{
	struct layer_part *result = &w->parts->list[part];
	char key[DIGEST_TEXT_BYTES];

	if (!w->rule->find)
		return write_part(w, part);
	digest_init(&w->key);
	w->key_is_known = true;
	walk_part(w, part, key_entry);
	digest_finish(&w->key, key);
	if (w->key_is_known && w->rule->find(w->rule->arg, key, result))
		return 0;
	if (write_part(w, part) < 0)
		return -1;
	return w->key_is_known ? w->rule->keep(w->rule->arg, key, result, w->err) : 0;
}

static int layer_write_all(void *arg, struct packer *packer, struct error *err)
{
	struct writer *w = arg;
	int rc = 0;

	w->packer = packer;
	w->err = err;
	for (size_t part = 0; rc == 0 && part < w->parts->count; part++)
		rc = provide_part(w, part);
	return rc;
}

static int layer_check_names(const struct tree *tree, struct error *err)
{
	for (size_t i = 0; i < tree->count; i++) {
		const char *path = tree->list[i].path, *slash = strrchr(path, '/');

		if (starts_with(slash ? slash + 1 : path, ".wh."))
			return error_set(
				err, ERROR_USAGE,
				"%s: names that begin with '.wh.' mean removals in an image's layer; rename it",
				path);
	}
	return 0;
}

int layer_write(const struct tree *tree, const char *layout_folder, const struct layer_rule *rule,
		const char *title, struct layer_parts *parts, struct error *err)
{
	static const struct layer_rule plain_rule = {0};
	_cleanup_(free_pointer) unsigned char *part_of = xmalloc(tree->count + 1);
	_cleanup_(free_pointer) unsigned char *is_in = xmalloc(tree->count + 1);
	_cleanup_(free_pointer) char *buffer = xmalloc(READ_BYTES);
	struct writer w = {.tree = tree,
			   .layout = layout_folder,
			   .rule = rule ? rule : &plain_rule,
			   .parts = parts,
			   .plan = {.part_of = part_of},
			   .is_in = is_in,
			   .buffer = buffer,
			   .err = err};
	char plain[32], packed[32];
	uint64_t bytes = 0;
	int rc;

	if (layer_check_names(tree, err) < 0 || layer_plan(tree, w.rule, &w.plan, err) < 0)
		return -1;
	parts->count = w.plan.count;
	parts->is_checked = true;
	if (!parts->count)
		return 0;
	/* libarchive reads names by the thread's locale; these are UTF-8 in every locale */
	w.utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!w.utf8)
		oom();
	if (title)
		w.progress = progress_begin(title, "packing");
	rc = packer_run(layer_write_all, &w, err);
	freelocale(w.utf8);
	for (size_t i = 0; i < parts->count; i++)
		bytes += parts->list[i].blob.size_bytes;
	if (w.progress && rc == 0)
		progress_end(w.progress, true, "%s, packed %s",
			     format_bytes(plain, w.plan.content_bytes),
			     format_bytes(packed, bytes));
	else if (w.progress)
		progress_end(w.progress, false, "failed");
	return rc;
}
