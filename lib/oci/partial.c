/* SPDX-License-Identifier: MIT */
#include "oci/partial.h"

#include "core/file.h"
#include "oci/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART_ALIGN_BYTES MIB
#define NOTE_EVERY_BYTES (8 * MIB)

/* Stands behind the blob's end when it comes in several parts. Only this machine reads it. */
struct note {
	char magic[8];
	uint64_t part_count;
	uint64_t done_bytes[PARTIAL_PARTS_MAX];
};

static const char magic[8] = "ringup1";

uint64_t partial_part_offset(const struct partial *partial, size_t part)
{
	uint64_t size = partial->descriptor.size_bytes;
	uint64_t step = size / partial->part_count / PART_ALIGN_BYTES * PART_ALIGN_BYTES;

	return part >= partial->part_count ? size : part * step;
}

static uint64_t part_bytes(const struct partial *partial, size_t part)
{
	return partial_part_offset(partial, part + 1) - partial_part_offset(partial, part);
}

static int write_at(struct partial *partial, const void *bytes, size_t length, uint64_t offset,
		    struct error *err)
{
	const char *p = bytes;

	while (length) {
		ssize_t done = pwrite(partial->fd, p, length, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			error_errno(err, "cannot write %s", partial->path);
			return error_advise(err, "free space in %s and run the same command again",
					    partial->folder);
		}
		p += done;
		offset += (uint64_t)done;
		length -= (size_t)done;
	}
	return 0;
}

static int take_note(struct partial *partial, struct error *err)
{
	struct note note = {.part_count = partial->part_count};

	memcpy(note.magic, magic, sizeof(magic));
	memcpy(note.done_bytes, partial->done_bytes, sizeof(note.done_bytes));
	partial->noted_bytes = partial_done_bytes(partial);
	return write_at(partial, &note, sizeof(note), partial->descriptor.size_bytes, err);
}

/* Reads how far an earlier run came. What makes no sense counts as nothing. */
static void partial_read_state(struct partial *partial, uint64_t file_bytes)
{
	uint64_t size = partial->descriptor.size_bytes;
	struct note note;

	if (file_bytes && file_bytes <= size) {
		partial->part_count = 1;
		partial->done_bytes[0] = file_bytes;
		return;
	}
	if (file_bytes != size + sizeof(note) ||
	    pread(partial->fd, &note, sizeof(note), (off_t)size) != (ssize_t)sizeof(note) ||
	    memcmp(note.magic, magic, sizeof(magic)) != 0 || note.part_count < 2 ||
	    note.part_count > PARTIAL_PARTS_MAX)
		return;
	partial->part_count = note.part_count;
	for (size_t i = 0; i < note.part_count; i++)
		if (note.done_bytes[i] <= part_bytes(partial, i))
			partial->done_bytes[i] = note.done_bytes[i];
}

/* Opens and locks the shared file. False: another process works on it, or it cannot be opened. */
static bool open_shared(struct partial *partial, uint64_t *file_bytes)
{
	struct stat open_file, file;

	partial->fd = open(partial->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (partial->fd < 0)
		return false;
	/* It may have become a blob between open and lock: then the name is another file's. */
	if (flock(partial->fd, LOCK_EX | LOCK_NB) < 0 || fstat(partial->fd, &open_file) < 0 ||
	    stat(partial->path, &file) < 0 || file.st_ino != open_file.st_ino ||
	    file.st_dev != open_file.st_dev || !S_ISREG(file.st_mode)) {
		fd_close(&partial->fd);
		return false;
	}
	*file_bytes = (uint64_t)open_file.st_size;
	return true;
}

/* FOLDER/blobs/.partial-HEX and what comes behind it. */
static int set_path(struct partial *partial, const char *ending, struct error *err)
{
	const char *digest = partial->descriptor.digest;

	if (!digest_is_valid(digest))
		return error_set(err, ERROR_FAILED, "'%.150s' is not a digest", digest);
	if (snprintf(partial->path, LAYOUT_PATH_BYTES, "%s/blobs/.partial-%s%s", partial->folder,
		     digest + DIGEST_PREFIX_BYTES, ending) >= LAYOUT_PATH_BYTES)
		return error_set(err, ERROR_FAILED, "the path %.60s... is too long",
				 partial->folder);
	return 0;
}

/* A file that no other process knows. */
static int open_own(struct partial *partial, struct error *err)
{
	if (set_path(partial, "-XXXXXX", err) < 0)
		return -1;
	partial->fd = mkostemp(partial->path, O_CLOEXEC);
	partial->is_own = true;
	return partial->fd < 0 ? error_errno(err, "cannot write %s", partial->path) : 0;
}

int partial_open(struct partial *partial, const char *folder, const struct descriptor *descriptor,
		 size_t part_count, struct error *err)
{
	uint64_t file_bytes = 0;

	*partial = (struct partial){
		.fd = -1, .folder = folder, .descriptor = *descriptor, .part_count = part_count};
	if (part_count > descriptor->size_bytes / PART_ALIGN_BYTES)
		partial->part_count = descriptor->size_bytes / PART_ALIGN_BYTES;
	if (!partial->part_count)
		partial->part_count = 1;
	if (set_path(partial, "", err) < 0)
		return -1;
	if (open_shared(partial, &file_bytes))
		partial_read_state(partial, file_bytes);
	else if (open_own(partial, err) < 0)
		return -1;
	if (partial_done_bytes(partial) == 0 && ftruncate(partial->fd, 0) < 0)
		return error_errno(err, "cannot write %s", partial->path);
	return partial->part_count > 1 ? take_note(partial, err) : 0;
}

int partial_add(struct partial *partial, size_t part, const void *bytes, size_t length,
		struct error *err)
{
	uint64_t *done = &partial->done_bytes[part];
	uint64_t offset = partial_part_offset(partial, part) + *done;

	if (length > part_bytes(partial, part) - *done)
		return error_set(err, ERROR_FAILED, "%s: more bytes than the blob has",
				 partial->path);
	if (write_at(partial, bytes, length, offset, err) < 0)
		return -1;
	*done += length;
	file_write_behind(partial->fd, offset + length, length);
	if (partial->part_count == 1 ||
	    partial_done_bytes(partial) - partial->noted_bytes < NOTE_EVERY_BYTES)
		return 0;
	return take_note(partial, err);
}

uint64_t partial_ready_bytes(const struct partial *partial)
{
	uint64_t ready = 0;

	for (size_t i = 0; i < partial->part_count; i++) {
		ready += partial->done_bytes[i];
		if (partial->done_bytes[i] < part_bytes(partial, i))
			break;
	}
	return ready;
}

uint64_t partial_done_bytes(const struct partial *partial)
{
	uint64_t done = 0;

	for (size_t i = 0; i < partial->part_count; i++)
		done += partial->done_bytes[i];
	return done;
}

int partial_reset(struct partial *partial, struct error *err)
{
	partial->part_count = 1;
	memset(partial->done_bytes, 0, sizeof(partial->done_bytes));
	if (ftruncate(partial->fd, 0) < 0)
		return error_errno(err, "cannot write %s", partial->path);
	return 0;
}

int partial_finish(struct partial *partial, struct error *err)
{
	if (ftruncate(partial->fd, (off_t)partial->descriptor.size_bytes) < 0)
		return error_errno(err, "cannot write %s", partial->path);
	if (layout_put_blob(partial->folder, partial->descriptor.digest, partial->fd, partial->path,
			    err) < 0)
		return -1;
	fd_close(&partial->fd);
	return 0;
}

void partial_release(struct partial *partial)
{
	struct error ignored;

	if (partial->fd < 0)
		return;
	if (partial->is_own || partial_done_bytes(partial) == 0)
		unlink(partial->path);
	else if (partial->part_count > 1)
		take_note(partial, &ignored);
	fd_close(&partial->fd);
}
