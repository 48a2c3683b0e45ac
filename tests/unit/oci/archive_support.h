/* SPDX-License-Identifier: MIT */
/* archive_support.h - docker-archive files, made here with libarchive. */
#ifndef TESTS_UNIT_OCI_ARCHIVE_SUPPORT_H
#define TESTS_UNIT_OCI_ARCHIVE_SUPPORT_H

#include "core/file.h"
#include "core/str.h"
#include "oci/archive/archive.h"
#include "oci/layer/gzip.h"
#include "oci/layout.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define BIG_BYTES (3 * GZIP_BLOCK_BYTES + 12345) /* several blocks and a part of one */

struct fixture {
	char folder[64], tar[96], layout[96];
	struct archive *archive;
	struct arena arena;
	struct error err;
	struct descriptor manifest;
	char *big; /* a layer of BIG_BYTES; not a real tar: nobody looks inside */
};

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	uint32_t seed = 1;

	snprintf(f->folder, sizeof(f->folder), "/tmp/ringup-archive-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->tar, sizeof(f->tar), "%s/image.tar", f->folder);
	snprintf(f->layout, sizeof(f->layout), "%s/layout", f->folder);
	f->big = malloc(BIG_BYTES);
	for (size_t i = 0; i < BIG_BYTES; i++) {
		seed = seed * 1664525 + 1013904223;
		f->big[i] = i % 3000 < 2000 ? 'a' : (char)(seed >> 24);
	}
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	folder_remove(f->folder, &f->err);
	arena_release(&f->arena);
	free(f->big);
	free(f);
	return 0;
}

static inline void tar_begin(struct fixture *f)
{
	f->archive = archive_write_new();
	archive_write_set_format_ustar(f->archive);
	assert_int_equal(archive_write_open_filename(f->archive, f->tar), ARCHIVE_OK);
}

static inline void tar_end(struct fixture *f)
{
	archive_write_close(f->archive);
	archive_write_free(f->archive);
}

static inline void add(struct fixture *f, const char *name, const void *bytes, size_t length)
{
	struct archive_entry *entry = archive_entry_new();

	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, (int64_t)length);
	assert_int_equal(archive_write_header(f->archive, entry), ARCHIVE_OK);
	assert_int_equal(archive_write_data(f->archive, bytes, length), (la_ssize_t)length);
	archive_entry_free(entry);
}

static inline void add_text(struct fixture *f, const char *name, const char *text)
{
	add(f, name, text, strlen(text));
}

static inline void add_link(struct fixture *f, const char *name, const char *target)
{
	struct archive_entry *entry = archive_entry_new();

	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, AE_IFLNK);
	archive_entry_set_perm(entry, 0777);
	archive_entry_set_symlink(entry, target);
	assert_int_equal(archive_write_header(f->archive, entry), ARCHIVE_OK);
	archive_entry_free(entry);
}

static inline int import(struct fixture *f, const char *const *redact)
{
	struct archive_options options = {.label = "image.tar", .history_redact = redact};
	_cleanup_(fd_close) int fd = open(f->tar, O_RDONLY | O_CLOEXEC);

	f->err = (struct error){0};
	return archive_import(fd, f->layout, &options, &f->arena, &f->manifest, &f->err);
}

static inline void expect_error(struct fixture *f, const char *words)
{
	assert_int_equal(import(f, NULL), -1);
	if (!strstr(f->err.text, words))
		fail_msg("'%s' is not in: %s", words, f->err.text);
	assert_non_null(strstr(f->err.text, "image.tar"));
}

/* The config for these layers. */
static inline char *config_for(struct fixture *f, const char *const *diff_ids, size_t count)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	str_add(&text,
		"{\"architecture\":\"amd64\",\"os\":\"linux\",\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[");
	for (size_t i = 0; i < count; i++)
		str_addf(&text, "%s\"%s\"", i ? "," : "", diff_ids[i]);
	str_add(&text,
		"]},\"history\":[{\"created_by\":\"|1 APT_MIRROR=http://10.0.0.1/ /bin/sh -c apt-get update\"}]}");
	return arena_strdup(&f->arena, text.text);
}

/* The form of Docker up to 24: the second layer is a link to the first. */
static inline void make_old(struct fixture *f, const char *wrong_diff_id)
{
	char big[DIGEST_TEXT_BYTES], small[DIGEST_TEXT_BYTES], config_id[DIGEST_TEXT_BYTES];
	const char *ids[] = {big, big, small};
	char *config, *name;

	digest_of(f->big, BIG_BYTES, big);
	digest_of("small", 5, small);
	if (wrong_diff_id)
		ids[2] = wrong_diff_id;
	config = config_for(f, ids, 3);
	digest_of(config, strlen(config), config_id);
	name = arena_printf(&f->arena, "%s.json", config_id + 7);
	tar_begin(f);
	add_text(f, "aaa/VERSION", "1.0");
	add_text(f, "aaa/json", "{\"id\":\"aaa\"}");
	add(f, "aaa/layer.tar", f->big, BIG_BYTES);
	add_link(f, "bbb/layer.tar", "../aaa/layer.tar");
	add_text(f, "ccc/layer.tar", "small");
	add_text(f, name, config);
	add_text(
		f, "manifest.json",
		arena_printf(
			&f->arena,
			"[{\"Config\":\"%s\",\"RepoTags\":[\"t:1\"],\"Layers\":[\"aaa/layer.tar\",\"bbb/layer.tar\",\"ccc/layer.tar\"]}]",
			name));
	add_text(f, "repositories", "{}");
	tar_end(f);
}

static inline void read_manifest(struct fixture *f, struct manifest *manifest)
{
	const char *bytes;

	assert_int_equal(layout_read(f->layout, &f->manifest, MIB, &f->arena, &bytes, &f->err), 0);
	assert_int_equal(manifest_parse(bytes, strlen(bytes), "m", &f->arena, manifest, &f->err),
			 0);
}

#endif
