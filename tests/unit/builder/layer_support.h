/* SPDX-License-Identifier: MIT */
/*
 * layer_support.h - for tests of layers: hand-made tar files, and a tree or a folder as a text that
 * can be compared.
 */
#ifndef TESTS_UNIT_BUILDER_LAYER_SUPPORT_H
#define TESTS_UNIT_BUILDER_LAYER_SUPPORT_H

#include "tests/unit/support.h"

#include "builder/native/layer/layer.h"
#include "builder/native/layer/layer_disk.h"
#include "builder/native/layer/layer_list.h"
#include "core/proc.h"
#include "core/str.h"
#include "oci/layout.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

/* Owners, devices and overlayfs' marks are root's alone. */
static inline void needs_root(void)
{
	if (geteuid() != 0)
		fail_msg("this test sets owners, devices and mounts: run it as root");
}

/* A tar being made. */
struct made_tar {
	struct archive *out;
	const char *path;
};

static inline struct made_tar tar_make(struct scratch *s, const char *name)
{
	struct made_tar tar = {archive_write_new(), in(s, name)};

	archive_write_set_format_pax_restricted(tar.out);
	assert_int_equal(archive_write_open_filename(tar.out, tar.path), ARCHIVE_OK);
	return tar;
}

static inline struct archive_entry *tar_entry(const char *path, unsigned int type, int mode)
{
	struct archive_entry *entry = archive_entry_new();

	archive_entry_set_pathname(entry, path);
	archive_entry_set_filetype(entry, type);
	archive_entry_set_perm(entry, (mode_t)mode);
	archive_entry_set_size(entry, 0);
	archive_entry_set_mtime(entry, 1000, 0);
	return entry;
}

/* Adds the entry and frees it. */
static inline void tar_put(struct made_tar *tar, struct archive_entry *entry, const char *text)
{
	if (text)
		archive_entry_set_size(entry, (la_int64_t)strlen(text));
	assert_int_equal(archive_write_header(tar->out, entry), ARCHIVE_OK);
	if (text)
		assert_int_equal(archive_write_data(tar->out, text, strlen(text)), strlen(text));
	archive_entry_free(entry);
}

static inline void tar_file(struct made_tar *tar, const char *path, const char *text)
{
	tar_put(tar, tar_entry(path, AE_IFREG, 0644), text);
}

static inline void tar_folder(struct made_tar *tar, const char *path)
{
	tar_put(tar, tar_entry(path, AE_IFDIR, 0755), NULL);
}

static inline void tar_symlink(struct made_tar *tar, const char *path, const char *link)
{
	struct archive_entry *entry = tar_entry(path, AE_IFLNK, 0777);

	archive_entry_set_symlink(entry, link);
	tar_put(tar, entry, NULL);
}

static inline void tar_hardlink(struct made_tar *tar, const char *path, const char *link)
{
	struct archive_entry *entry = tar_entry(path, AE_IFREG, 0644);

	archive_entry_set_hardlink(entry, link);
	tar_put(tar, entry, NULL);
}

static inline const char *tar_end(struct made_tar *tar)
{
	assert_int_equal(archive_write_close(tar->out), ARCHIVE_OK);
	archive_write_free(tar->out);
	return tar->path;
}

/* --- trees as text -------------------------------------------------------------------------- */

static inline void describe_entry(const struct tree_entry *e, struct str *out)
{
	static const char letters[] = "-dlhcbpw";

	str_addf(out, "%c %04o %u:%u %s", letters[e->type], (unsigned)e->mode, (unsigned)e->uid,
		 (unsigned)e->gid, *e->path ? e->path : ".");
	if (e->link)
		str_addf(out, " -> %s", e->link);
	if (e->type == TREE_FILE)
		str_addf(out, " %llu", (unsigned long long)e->size_bytes);
	if (e->type == TREE_CHARACTER || e->type == TREE_BLOCK)
		str_addf(out, " %u,%u", major(e->device), minor(e->device));
	for (const struct tree_attribute *a = e->attributes; a; a = a->next)
		str_addf(out, " %s=%.*s", a->name, (int)a->length, (const char *)a->value);
	str_add(out, e->opaque ? " opaque\n" : "\n");
}

/* assert_string_equal shows no more than 1024 bytes: this shows the first line that differs. */
static inline void assert_lines(const char *got, const char *expected)
{
	while (*got && *got == *expected && strcspn(got, "\n") == strcspn(expected, "\n") &&
	       strncmp(got, expected, strcspn(got, "\n")) == 0) {
		got += strcspn(got, "\n");
		expected += strcspn(expected, "\n");
		got += *got == '\n';
		expected += *expected == '\n';
	}
	if (*got || *expected)
		fail_msg("there is '%.*s', not '%.*s'", (int)strcspn(got, "\n"), got,
			 (int)strcspn(expected, "\n"), expected);
}

/* "d 0755 0:0 etc", one entry a line, in the tree's order; whiteouts are "w 0000 0:0 NAME". */
static inline const char *describe(struct scratch *s, const struct tree *tree)
{
	struct str out = STR_INIT;
	const char *text;

	for (size_t i = 0; i < tree->count; i++)
		describe_entry(&tree->list[i], &out);
	text = arena_strdup(&s->arena, out.text);
	str_release(&out);
	return text;
}

static inline const char *describe_folder(struct scratch *s, const char *folder)
{
	const struct tree_read_options options = {.is_overlay = true, .newest_s = INT64_MAX};
	struct error err = {0};
	struct tree tree;
	const char *text;

	tree_init(&tree);
	assert_fine(tree_read(&tree, folder, &options, &err));
	text = describe(s, &tree);
	tree_release(&tree);
	return text;
}

static inline const char *describe_tar(struct scratch *s, const char *path)
{
	struct error err = {0};
	struct tree tree;
	const char *text;

	tree_init(&tree);
	assert_fine(layer_list(path, NULL, NULL, &tree, &err));
	text = describe(s, &tree);
	tree_release(&tree);
	return text;
}

/* Where a part's blob lies. */
static inline const char *blob_path(struct scratch *s, const char *layout,
				    const struct layer_part *part)
{
	char path[LAYOUT_PATH_BYTES];
	struct error err = {0};

	assert_fine(layout_blob_path(layout, part->blob.digest, path, &err));
	return arena_strdup(&s->arena, path);
}

#endif
