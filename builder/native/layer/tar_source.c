/* SPDX-License-Identifier: MIT */
#include "builder/native/layer/tar_source.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/file.h"
#include "oci/layer/gzip.h"

#include <archive.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES (64 * KIB) /* packed; gzip unpacks to 1032 times as much at most */
#define PLAIN_BYTES_MAX (128 * MIB)

static void take_plain(void *arg, const void *bytes, size_t length)
{
	struct tar_source *source = arg;

	str_add_bytes(&source->plain, bytes, length);
}

/* The next piece of the file in source->packed; 0 at its end. */
static ssize_t read_file(struct tar_source *source)
{
	ssize_t got;

	do
		got = read(source->fd, source->packed, READ_BYTES);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		error_errno(source->err, "cannot read %s", source->path);
	source->at_end = got == 0;
	return got;
}

static ssize_t next_plain(struct tar_source *source, const void **bytes)
{
	ssize_t got;

	if (!source->gunzip) {
		got = read_file(source);
		*bytes = source->packed;
		if (got > 0)
			digest_add(&source->digest, source->packed, (size_t)got);
		return got;
	}
	str_clear(&source->plain);
	while (!source->plain.length) {
		got = read_file(source);
		if (got < 0)
			return -1;
		if (got == 0)
			return gunzip_finish(source->gunzip, source->err) < 0 ? -1 : 0;
		if (gunzip_add(source->gunzip, source->packed, (size_t)got, source->err) < 0)
			return -1;
	}
	digest_add(&source->digest, source->plain.text, source->plain.length);
	*bytes = source->plain.text;
	return (ssize_t)source->plain.length;
}

static la_ssize_t tar_source_read_some(struct archive *tar, void *arg, const void **bytes)
{
	struct tar_source *source = arg;
	ssize_t got = interrupt_check(source->err) < 0 ? -1 : next_plain(source, bytes);

	if (got < 0)
		archive_set_error(tar, EIO, "it cannot be read");
	return got;
}

int tar_source_failed(struct tar_source *source)
{
	const char *why = archive_error_string(source->tar);

	if (source->err->kind == ERROR_INTERRUPTED)
		return -1;
	if (source->err->kind)
		return error_wrap(source->err, "%s", source->path);
	return error_set(source->err, ERROR_FAILED, "%s: %s; it is cut short or no tar file",
			 source->path, why ? why : "it cannot be read");
}

int tar_source_open(struct tar_source *source, const char *path, struct error *err)
{
	unsigned char head[4] = {0};

	*source = (struct tar_source){.path = path, .err = err, .is_hashed = true};
	str_init_ceiling(&source->plain, PLAIN_BYTES_MAX);
	digest_init(&source->digest);
	source->packed = xmalloc(READ_BYTES);
	source->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (source->fd < 0)
		return error_errno(err, "cannot read %s", path);
	if (pread(source->fd, head, sizeof(head), 0) < 0)
		return error_errno(err, "cannot read %s", path);
	if (head[0] == 0x1f && head[1] == 0x8b)
		source->gunzip = gunzip_new(take_plain, source);
	source->is_hashed = memcmp(head, "\x28\xb5\x2f\xfd", 4) != 0;
	source->tar = archive_read_new();
	if (!source->tar)
		oom();
	archive_read_support_format_tar(source->tar);
	archive_read_support_format_empty(source->tar);
	archive_read_support_filter_zstd(source->tar);
	if (archive_read_open(source->tar, source, NULL, tar_source_read_some, NULL) != ARCHIVE_OK)
		return tar_source_failed(source);
	return 0;
}

void tar_source_release(struct tar_source *source)
{
	if (source->tar)
		archive_read_free(source->tar);
	if (source->gunzip)
		gunzip_free(source->gunzip);
	free(source->packed);
	str_release(&source->plain);
	digest_release(&source->digest);
	if (source->fd >= 0)
		fd_close(&source->fd);
}

int tar_source_finish(struct tar_source *source, const char *diff_id)
{
	char text[DIGEST_TEXT_BYTES];
	const void *bytes;
	ssize_t got;

	/* libarchive stops at the two empty blocks; padding may follow them */
	while (!source->at_end) {
		got = next_plain(source, &bytes);
		if (got < 0)
			return error_wrap(source->err, "%s", source->path);
		if (got == 0)
			break;
	}
	if (!diff_id || !source->is_hashed)
		return 0;
	digest_finish(&source->digest, text);
	if (strcmp(text, diff_id) == 0)
		return 0;
	return error_set(source->err, ERROR_FAILED,
			 "%s is damaged: unpacked it has %s, and its image says %s; get it again",
			 source->path, text, diff_id);
}
