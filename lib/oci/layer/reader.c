/* SPDX-License-Identifier: MIT */
#include "oci/layer/reader.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/digest.h"
#include "oci/budget.h"
#include "oci/layer/stream.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

struct layer_reader {
	const char *path, *diff_id; /* borrowed; diff_id may be NULL */
	struct stream *stream;
	struct archive *tar;
	locale_t utf8;
	struct progress_step *progress;
	uint64_t bytes;
	struct budget *budget, own;
	bool has_entry, in_header; /* libarchive reads the next entry's header */
	uint64_t header_bytes;
	struct error err; /* of the stream, when libarchive asked it */
};

static la_ssize_t layer_reader_take(struct archive *tar, void *arg, const void **bytes)
{
	struct layer_reader *reader = arg;
	size_t length;

	if (stream_next(reader->stream, bytes, &length, &reader->err) < 0) {
		archive_set_error(tar, EIO, "it cannot be read");
		return -1;
	}
	reader->bytes += length;
	reader->header_bytes += reader->in_header ? length : 0;
	if (reader->header_bytes > BUDGET_HEADER_BYTES_MAX) {
		archive_set_error(tar, EIO, "the header of an entry is larger than %d MiB",
				  (int)(BUDGET_HEADER_BYTES_MAX / MIB));
		return -1;
	}
	if (reader->progress)
		progress_bytes(reader->progress, reader->bytes, reader->bytes);
	return (la_ssize_t)length;
}

/* Why the last call of libarchive failed. */
static int layer_reader_failed(struct layer_reader *reader, struct error *err)
{
	const char *why = archive_error_string(reader->tar);

	if (reader->err.kind != ERROR_NONE) {
		*err = reader->err;
		return -1;
	}
	return error_set(err, ERROR_FAILED, "%s; it is cut short or no tar file",
			 why ? why : "it cannot be read");
}

int layer_reader_open(const char *path, const char *diff_id, struct budget *budget,
		      struct progress_step *progress, struct layer_reader **place,
		      struct error *err)
{
	struct layer_reader *reader = xmalloc(sizeof(*reader));

	*place = reader;
	*reader = (struct layer_reader){.path = path, .diff_id = diff_id, .progress = progress};
	budget_init(&reader->own, NULL, NULL);
	reader->budget = budget ? budget : &reader->own;
	if (stream_open(path, diff_id ? diff_id : "sha256:", reader->budget, &reader->stream, err) <
	    0)
		return -1;
	reader->tar = archive_read_new();
	reader->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!reader->tar || !reader->utf8)
		oom();
	archive_read_support_format_tar(reader->tar);
	archive_read_support_format_empty(reader->tar);
	if (archive_read_open(reader->tar, reader, NULL, layer_reader_take, NULL) == ARCHIVE_OK)
		return 0;
	layer_reader_failed(reader, err);
	return layer_reader_wrap(reader, err);
}

int layer_reader_next(struct layer_reader *reader, struct archive_entry **entry, struct error *err)
{
	/*
	 * names in pax headers are UTF-8, and libarchive turns them into the locale's as it reads
	 */
	locale_t before = uselocale(reader->utf8);
	int rc;

	/* what is left of the last entry's content does not count as the next one's header */
	if (reader->has_entry)
		archive_read_data_skip(reader->tar);
	reader->in_header = true;
	reader->header_bytes = 0;
	rc = archive_read_next_header(reader->tar, entry);
	reader->in_header = false;
	reader->has_entry = rc == ARCHIVE_OK || rc == ARCHIVE_WARN;
	uselocale(before);
	if (rc == ARCHIVE_EOF) {
		*entry = NULL;
		return 0;
	}
	/* the warning: a name that is not UTF-8, which is taken byte by byte */
	if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
		return layer_reader_failed(reader, err);
	if (budget_take_entry(reader->budget, *entry, err) < 0)
		return -1;
	return interrupt_check(err);
}

int layer_reader_data(struct layer_reader *reader, const void **bytes, size_t *length,
		      uint64_t *offset, struct error *err)
{
	la_int64_t at = 0;
	int rc = archive_read_data_block(reader->tar, bytes, length, &at);

	*offset = (uint64_t)at;
	if (rc == ARCHIVE_EOF)
		*length = 0;
	else if (rc != ARCHIVE_OK)
		return layer_reader_failed(reader, err);
	return interrupt_check(err);
}

int layer_reader_finish(struct layer_reader *reader, struct error *err)
{
	char digest[DIGEST_TEXT_BYTES];

	if (stream_finish(reader->stream, digest, err) < 0)
		return -1;
	if (!reader->diff_id || strcmp(reader->diff_id, digest) == 0)
		return 0;
	return layer_diff_id_wrong(digest, reader->diff_id, err);
}

int layer_diff_id_wrong(const char *digest, const char *diff_id, struct error *err)
{
	return error_set(
		err, ERROR_FAILED,
		"it is damaged: its plain bytes have the digest %s, but the image's config says %s; get the image again",
		digest, diff_id);
}

int layer_reader_wrap(const struct layer_reader *reader, struct error *err)
{
	return err->kind == ERROR_INTERRUPTED ? -1 : error_wrap(err, "%s", reader->path);
}

uint64_t layer_reader_bytes(const struct layer_reader *reader)
{
	return reader->bytes;
}

void layer_reader_close(struct layer_reader **place)
{
	struct layer_reader *reader = *place;

	if (!reader)
		return;
	archive_read_free(reader->tar);
	if (reader->utf8)
		freelocale(reader->utf8);
	stream_close(&reader->stream);
	free(reader);
	*place = NULL;
}

int layer_entry_path(struct archive_entry *entry, char path[static PATH_PLAIN_BYTES],
		     struct error *err)
{
	const char *name = archive_entry_pathname(entry);

	if (name && path_plain(name, path))
		return 0;
	return error_set(err, ERROR_FAILED,
			 "the entry '%.100s' leads out of the layer, or its name is too long",
			 name ? name : "");
}
