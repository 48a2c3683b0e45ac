/* SPDX-License-Identifier: MIT */
#include "builder/native/layer/layer_disk.h"

#include "builder/native/layer/layer_entry.h"
#include "builder/native/runtime/userns.h"
#include "core/file.h"
#include "oci/layer/extract.h"

#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define COPY_BYTES (256 * KIB)

static int layer_disk_open(const char *folder, int *fd, struct error *err)
{
	*fd = -1;
	if (folder_make(folder, 0755, err) < 0)
		return -1;
	*fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return *fd < 0 ? error_errno(err, "cannot enter %s", folder) : 0;
}

static struct extract_options layer_disk_options(void)
{
	return (struct extract_options){.form = EXTRACT_OVERLAY,
					.without_devices = userns_inside()};
}

static int layer_disk_end(const char *folder, int rc)
{
	struct error ignored = {0};

	if (rc < 0)
		folder_remove(folder, &ignored);
	return rc;
}

int layer_unpack(const char *tar_path, const char *folder, const char *diff_id,
		 struct budget *budget, struct error *err)
{
	struct extract_options options = layer_disk_options();
	_cleanup_(fd_close) int fd = -1;
	struct extract_result result;

	options.budget = budget;
	if (layer_disk_open(folder, &fd, err) < 0)
		return -1;
	return layer_disk_end(folder,
			      layer_extract(tar_path, diff_id, fd, &options, NULL, &result, err));
}

/* The content of one entry of a tree, as the extractor asks for it. */
struct content {
	const struct tree_entry *entry;
	int fd;	      /* of entry->source; -1: entry->text */
	char *buffer; /* COPY_BYTES */
	uint64_t done_bytes;
};

static int layer_disk_next(void *arg, const void **bytes, size_t *length, uint64_t *offset,
			   struct error *err)
{
	struct content *content = arg;
	ssize_t got = 0;

	*offset = content->done_bytes;
	if (content->fd >= 0) {
		*bytes = content->buffer;
		do
			got = read(content->fd, content->buffer, COPY_BYTES);
		while (got < 0 && errno == EINTR);
	} else if (!content->done_bytes) {
		*bytes = content->entry->text;
		got = (ssize_t)content->entry->size_bytes;
	}
	if (got < 0)
		return error_errno(err, "cannot read %s", content->entry->source);
	*length = (size_t)got;
	content->done_bytes += *length;
	return 0;
}

static int layer_disk_extract(struct extract *extract, const struct tree_entry *entry,
			      struct archive_entry *out, char *buffer, struct error *err)
{
	_cleanup_(fd_close) int fd = -1;
	struct content content = {.entry = entry, .buffer = buffer};
	const struct extract_source source = {layer_disk_next, &content};

	if (entry->type == TREE_FILE && entry->source) {
		fd = open(entry->source, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return error_errno(err, "cannot read %s", entry->source);
	}
	content.fd = fd;
	return extract_entry(extract, out, &source, err);
}

static int layer_disk_place(struct extract *extract, const struct tree_entry *entry, char *buffer,
			    struct error *err)
{
	struct archive_entry *out = layer_entry_new(entry);
	int rc = layer_disk_extract(extract, entry, out, buffer, err);

	archive_entry_free(out);
	if (rc < 0 || !entry->opaque)
		return rc;
	out = layer_entry_opaque(entry);
	rc = extract_entry(extract, out, NULL, err);
	archive_entry_free(out);
	return rc;
}

int layer_place(const struct tree *tree, const char *folder, struct error *err)
{
	const struct extract_options options = layer_disk_options();
	_cleanup_(free_pointer) char *buffer = xmalloc(COPY_BYTES);
	_cleanup_(extract_free) struct extract *extract = NULL;
	_cleanup_(fd_close) int fd = -1;
	int rc = 0;

	if (layer_disk_open(folder, &fd, err) < 0)
		return -1;
	extract = extract_new(fd, &options);
	for (size_t i = 0; rc == 0 && i < tree->count; i++)
		rc = layer_disk_place(extract, &tree->list[i], buffer, err);
	return layer_disk_end(folder, rc == 0 ? extract_end(extract, err) : rc);
}
