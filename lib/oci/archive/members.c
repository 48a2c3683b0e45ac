/* SPDX-License-Identifier: MIT */
#include "oci/archive/members.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/progress.h"
#include "oci/known.h"
#include "oci/layout.h"
#include "oci/normalise.h"
#include "oci/layer/packer.h"
#include "oci/layer/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES (1024 * 1024)
#define DATA_BYTES (256 * 1024)
#define MAGIC_OFFSET 257 /* "ustar" in a tar header: POSIX.1-2017, pax, ustar format */

const char *part_name(struct arena *arena, const char *folder, const char *name)
{
	char *words, *rest, *word, *plain;
	size_t length = 0;

	if (name[0] == '/' || strlen(name) > ARCHIVE_NAME_BYTES_MAX)
		return NULL;
	rest = words = arena_printf(arena, "%s/%s", folder ? folder : ".", name);
	plain = arena_alloc(arena, strlen(words) + 1);
	while ((word = strsep(&rest, "/"))) {
		size_t bytes = strlen(word);

		if (!bytes || strcmp(word, ".") == 0)
			continue;
		if (strcmp(word, "..") == 0) {
			if (!length)
				return NULL;
			while (length && plain[--length] != '/')
				;
			plain[length] = '\0';
			continue;
		}
		if (length)
			plain[length++] = '/';
		memcpy(plain + length, word, bytes + 1);
		length += bytes;
	}
	return plain;
}

struct part *part_find(struct part *parts, const char *name)
{
	for (int links = 0; links <= ARCHIVE_LINKS_MAX; links++) {
		struct part *part = parts;

		while (part && strcmp(part->name, name) != 0)
			part = part->next;
		if (!part || part->kind != PART_LINK)
			return part;
		name = part->target;
	}
	return NULL;
}

struct import {
	const struct archive_walk *walk;
	int fd;
	const char *folder;
	const struct archive_options *options;
	size_t pending_bytes; /* of import->data: not given to the normaliser yet */
	struct arena *arena;
	struct archive *tar;
	struct part *parts;
	size_t entry_count, json_bytes, layer_count;
	struct packer *packer;
	char *buffer; /* READ_BYTES: of the archive */
	char *data;   /* DATA_BYTES: of an entry */

	struct budget budget;
	uint64_t out_bytes;  /* of an archive that is compressed as a whole */
	bool is_plain_layer; /* the entry's bytes are the layer's */

	/* The entry under way */
	const char *name;
	uint64_t size_bytes, done_bytes;
	struct progress_step *progress;
};

/* Reads, until Ctrl-C if need be: the other end of a pipe may never write. */
static la_ssize_t archive_read_some(struct archive *tar, void *arg, const void **bytes)
{
	struct import *import = arg;
	ssize_t got;

	for (;;) {
		struct pollfd wait = {.fd = import->fd, .events = POLLIN};

		if (interrupted()) {
			archive_set_error(tar, EINTR, "interrupted");
			return -1;
		}
		if (poll(&wait, 1, INTERRUPT_POLL_MSEC) <= 0)
			continue;
		got = read(import->fd, import->buffer, READ_BYTES);
		if (got >= 0)
			break;
		if (errno != EINTR && errno != EAGAIN) {
			archive_set_error(tar, errno, "%s", strerror(errno));
			return -1;
		}
	}
	*bytes = import->buffer;
	return got;
}

/* Seeks over content that nobody wants; when this returns 0, libarchive reads it. */
static la_int64_t skip_some(struct archive *tar, void *arg, la_int64_t bytes)
{
	const struct import *import = arg;

	(void)tar;
	if (import->walk->kind == WALK_ALL || lseek(import->fd, bytes, SEEK_CUR) < 0)
		return 0;
	return bytes;
}

static int archive_tar_failed(struct import *import, struct error *err)
{
	const char *why = archive_error_string(import->tar);

	if (interrupt_check(err) < 0)
		return -1;
	return error_set(err, ERROR_FAILED, "%s; it is cut short or no tar file: save it again",
			 why ? why : "cannot be read");
}

static bool archive_is_compressed(const struct import *import)
{
	return archive_filter_code(import->tar, 0) != ARCHIVE_FILTER_NONE;
}

/* The whole archive may be a bomb; and the bytes of a plain layer count for its image. */
static int count_data(struct import *import, size_t length, struct error *err)
{
	uint64_t packed = 0;
	struct stat st;

	if (archive_is_compressed(import)) {
		packed = (uint64_t)archive_filter_bytes(import->tar, -1);
		if (fstat(import->fd, &st) == 0 && S_ISREG(st.st_mode) &&
		    (uint64_t)st.st_size > packed)
			packed = (uint64_t)st.st_size;
	}
	import->out_bytes += length;
	return budget_take(&import->budget, packed, import->out_bytes,
			   import->is_plain_layer ? length : 0, err);
}

/* The next bytes of the entry in import->data; *length 0 at its end. */
static int next_data(struct import *import, size_t *length, struct error *err)
{
	la_ssize_t got = archive_read_data(import->tar, import->data, DATA_BYTES);

	if (got < 0)
		return archive_tar_failed(import, err);
	*length = (size_t)got;
	import->done_bytes += (uint64_t)got;
	if (count_data(import, *length, err) < 0)
		return -1;
	if (import->progress)
		progress_bytes(import->progress, import->done_bytes, import->size_bytes);
	return interrupt_check(err);
}

static struct part *add_part(struct import *import, enum part_kind kind)
{
	struct part *part = ARENA_NEW(import->arena, struct part);

	part->kind = kind;
	part->name = import->name;
	part->next = import->parts;
	import->parts = part;
	return part;
}

/* `length` bytes are in import->data already, in this and the next functions. */
static int keep_json(struct import *import, size_t length, struct error *err)
{
	_cleanup_(str_release) struct str text = {0};
	struct part *part;

	str_init_ceiling(&text, ARCHIVE_JSON_BYTES_MAX);
	while (length) {
		str_add_bytes(&text, import->data, length);
		if (next_data(import, &length, err) < 0)
			return -1;
	}
	import->json_bytes += text.length;
	if (text.overflowed || import->json_bytes > ARCHIVE_JSON_TOTAL_BYTES_MAX)
		return error_set(err, ERROR_FAILED, "%s is larger than a JSON file in it may be",
				 import->name);
	part = add_part(import, PART_JSON);
	part->text = arena_strndup(import->arena, text.text, text.length);
	part->length = text.length;
	return 0;
}

/* Gives the normaliser the layer: first what is in the buffer already, then the rest. */
static int next_piece(void *arg, const void **bytes, size_t *length, struct error *err)
{
	struct import *import = arg;

	*bytes = import->data;
	*length = import->pending_bytes;
	import->pending_bytes = 0;
	return *length ? 0 : next_data(import, length, err);
}

static int pack_layer(struct import *import, size_t length, struct error *err)
{
	struct part *part = add_part(import, PART_LAYER);

	import->is_plain_layer = true;
	if (budget_take(&import->budget, 0, 0, length, err) < 0) /* read before that was known */
		return -1;
	if (packer_begin(import->packer, import->folder, err) < 0)
		return -1;
	if (import->options->normalise) {
		import->pending_bytes = length;
		if (layer_normalise(next_piece, import, import->options->newest_s, import->packer,
				    &import->budget, part->diff_id, err) < 0)
			return -1;
		return packer_end(import->packer, part->final_id, &part->blob, err);
	}
	while (length) {
		if (packer_add(import->packer, import->data, length, err) < 0 ||
		    next_data(import, &length, err) < 0)
			return -1;
	}
	if (packer_end(import->packer, part->diff_id, &part->blob, err) < 0)
		return -1;
	memcpy(part->final_id, part->diff_id, sizeof(part->final_id));
	return 0;
}

/* Keeps a layer that is compressed already as it is; unpacking only gives its diffID. */
static int copy_layer(struct import *import, size_t length, struct unpack *unpack,
		      struct layout_writer *writer, struct error *err)
{
	if (layout_writer_init(writer, import->folder, err) < 0)
		return -1;
	while (length) {
		if (layout_writer_add(writer, import->data, length, err) < 0 ||
		    unpack_add(unpack, import->data, length, err) < 0 ||
		    next_data(import, &length, err) < 0)
			return -1;
	}
	return 0;
}

static int keep_packed_layer(struct import *import, size_t length, enum packing packing,
			     struct error *err)
{
	_cleanup_(layout_writer_release) struct layout_writer writer = {.fd = -1};
	_cleanup_(unpack_free) struct unpack *unpack = unpack_new(packing);
	struct part *part = add_part(import, PART_LAYER);

	unpack_limit(unpack, &import->budget, import->size_bytes);
	if (copy_layer(import, length, unpack, &writer, err) < 0 ||
	    unpack_finish(unpack, part->diff_id, err) < 0)
		return -1;
	return layout_writer_finish(&writer, packing_media_type(packing), &part->blob, err);
}

/* Notes the layer that was kept last: all bytes of both of its sides were read here. */
static void note_layer(const struct import *import, enum packing packing)
{
	const struct part *part = import->parts;
	struct known known = {.blob = part->blob};

	if (!import->options->known_folder)
		return;
	memcpy(known.diff_id, packing ? part->diff_id : part->final_id, sizeof(known.diff_id));
	known_put(import->options->known_folder, packing ? known.blob.digest : known.diff_id,
		  &known);
}

static int keep_layer(struct import *import, size_t length, enum packing packing, struct error *err)
{
	char title[32], plain[32], packed[32];
	int rc;

	snprintf(title, sizeof(title), "layer %zu", ++import->layer_count);
	import->progress = progress_begin(title, packing ? "copying" : "compressing");
	rc = packing ? keep_packed_layer(import, length, packing, err)
		     : pack_layer(import, length, err);
	if (rc == 0)
		progress_end(import->progress, true, "%s, packed %s",
			     format_bytes(plain, import->done_bytes),
			     format_bytes(packed, import->parts->blob.size_bytes));
	else
		progress_end(import->progress, false, "failed");
	import->progress = NULL;
	if (rc == 0)
		note_layer(import, packing);
	if (rc == 0 && import->options->watch)
		import->options->watch->packed(import->options->watch->arg, import->folder,
					       &import->parts->blob);
	return rc;
}

static bool is_wanted(const struct import *import)
{
	if (import->walk->kind == WALK_ALL)
		return true;
	for (const char *const *name = import->walk->names; name && *name; name++)
		if (strcmp(*name, import->name) == 0)
			return true;
	return false;
}

/* Only its first bytes are read. */
static void look_at_layer(struct import *import, enum packing packing)
{
	struct part *part = add_part(import, PART_LAYER);

	part->is_unread = true;
	part->packing = packing;
	part->member_bytes = import->size_bytes;
}

/* What an entry is, by its name and its first bytes. */
static int keep_file(struct import *import, struct error *err)
{
	const unsigned char *head = (const unsigned char *)import->data;
	bool is_blob = starts_with(import->name, "blobs/sha256/") ||
		       starts_with(import->name, "blobs/sha512/");
	bool is_layer = is_blob || ends_with(import->name, ".tar");
	size_t length;

	if (next_data(import, &length, err) < 0)
		return -1;
	if (length > 0 && (head[0] == '{' || head[0] == '[') &&
	    !(length > MAGIC_OFFSET + 5 && memcmp(head + MAGIC_OFFSET, "ustar", 5) == 0)) {
		if (is_blob || (ends_with(import->name, ".json") && !strchr(import->name, '/')))
			return keep_json(import, length, err);
		return 0; /* repositories, ID/json: nothing that is needed */
	}
	if (!is_layer)
		return 0;
	if (!is_wanted(import)) {
		look_at_layer(import, packing_of(head, length));
		return 0;
	}
	return keep_layer(import, length, packing_of(head, length), err);
}

static int keep_link(struct import *import, struct archive_entry *entry, struct error *err)
{
	const char *hard = archive_entry_hardlink(entry), *soft = archive_entry_symlink(entry);
	const char *target =
		part_name(import->arena, hard ? NULL : path_folder(import->arena, import->name),
			  hard	 ? hard
			  : soft ? soft
				 : "");

	if (!target)
		return error_set(
			err, ERROR_FAILED,
			"%s points out of the archive; it is not one that docker save wrote",
			import->name);
	add_part(import, PART_LINK)->target = target;
	return 0;
}

static int keep_entry(struct import *import, struct archive_entry *entry, struct error *err)
{
	const char *name = archive_entry_pathname(entry);

	if (++import->entry_count > ARCHIVE_ENTRIES_MAX)
		return error_set(err, ERROR_FAILED, "it has more than %d entries",
				 ARCHIVE_ENTRIES_MAX);
	import->name = name ? part_name(import->arena, NULL, name) : NULL;
	if (!import->name)
		return error_set(
			err, ERROR_FAILED,
			"the entry '%.100s' has a name that leaves the archive or is too long; it is not one that docker save wrote",
			name ? name : "");
	import->size_bytes = (uint64_t)archive_entry_size(entry);
	import->done_bytes = 0;
	import->is_plain_layer = false;
	if (archive_entry_hardlink(entry) || archive_entry_filetype(entry) == AE_IFLNK)
		return keep_link(import, entry, err);
	if (archive_entry_filetype(entry) != AE_IFREG)
		return 0;
	if (archive_entry_sparse_count(entry) > 0)
		return error_set(err, ERROR_FAILED, "%s is a sparse file", import->name);
	return keep_file(import, err);
}

/* Reads what nobody wanted of an entry, where libarchive would unpack it uncounted. */
static int archive_pass(struct import *import, struct error *err)
{
	size_t length = 1;

	import->is_plain_layer = false;
	while (length && archive_is_compressed(import))
		if (next_data(import, &length, err) < 0)
			return -1;
	return 0;
}

static int archive_read_all(void *arg, struct packer *packer, struct error *err)
{
	struct import *import = arg;
	struct archive_entry *entry;
	int rc;

	import->packer = packer;
	while ((rc = archive_read_next_header(import->tar, &entry)) == ARCHIVE_OK)
		if (keep_entry(import, entry, err) < 0 || archive_pass(import, err) < 0)
			return -1;
	return rc == ARCHIVE_EOF ? 0 : archive_tar_failed(import, err);
}

static int open_tar(struct import *import, struct error *err)
{
	import->tar = archive_read_new();
	if (!import->tar)
		oom();
	archive_read_support_format_tar(import->tar);
	archive_read_support_filter_gzip(import->tar);
	archive_read_support_filter_zstd(import->tar);
	if (archive_read_open2(import->tar, import, NULL, archive_read_some, skip_some, NULL) !=
	    ARCHIVE_OK)
		return archive_tar_failed(import, err);
	return 0;
}

int archive_walk(const struct archive_walk *walk, struct arena *arena, struct part **parts,
		 struct error *err)
{
	_cleanup_(free_pointer) char *buffer = xmalloc(READ_BYTES);
	_cleanup_(free_pointer) char *data = xmalloc(DATA_BYTES);
	struct import import = {.walk = walk,
				.fd = walk->fd,
				.folder = walk->folder,
				.options = walk->options,
				.arena = arena,
				.buffer = buffer,
				.data = data};
	int rc;

	budget_init(&import.budget, walk->options->limits, NULL);
	rc = open_tar(&import, err);

	if (rc == 0 && walk->kind == WALK_LOOK)
		rc = archive_read_all(&import, NULL, err);
	else if (rc == 0)
		rc = packer_run(archive_read_all, &import, err);
	archive_read_free(import.tar);
	*parts = import.parts;
	return rc;
}
