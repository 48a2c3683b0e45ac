/* SPDX-License-Identifier: MIT */
#include "core/file.h"
#include "oci/index.h"
#include "oci/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define COPY_BYTES (1024 * 1024)

struct copying {
	const char *from, *to;
	struct arena arena;
};

/* Byte by byte, hashed on the way: another file system, or a link that may not be made. */
static int layout_copy_bytes(const struct copying *copying, const char *path,
			     const struct descriptor *blob, struct error *err)
{
	_cleanup_(layout_writer_release) struct layout_writer writer = {.fd = -1};
	_cleanup_(free_pointer) char *buffer = xmalloc(COPY_BYTES);
	_cleanup_(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct descriptor became;
	ssize_t got;

	if (fd < 0)
		return error_errno(err, "cannot read %s", path);
	if (layout_writer_init_as(&writer, copying->to, blob->digest, err) < 0)
		return -1;
	while ((got = read(fd, buffer, COPY_BYTES)) > 0)
		if (layout_writer_add(&writer, buffer, (size_t)got, err) < 0)
			return -1;
	if (got < 0)
		return error_errno(err, "cannot read %s", path);
	if (layout_writer_finish(&writer, blob->media_type, &became, err) < 0)
		return -1;
	if (strcmp(became.digest, blob->digest) == 0)
		return 0;
	return error_set(err, ERROR_FAILED, "%s is damaged: its bytes have the digest %s", path,
			 became.digest);
}

static int copy_blob(const struct copying *copying, const struct descriptor *blob,
		     struct error *err)
{
	char from[LAYOUT_PATH_BYTES], to[LAYOUT_PATH_BYTES];

	if (layout_has(copying->to, blob))
		return 0;
	if (!layout_has(copying->from, blob))
		return error_set(err, ERROR_FAILED,
				 "blob %s is missing from %s; make the image again", blob->digest,
				 copying->from);
	if (layout_blob_path(copying->from, blob->digest, from, err) < 0 ||
	    layout_blob_place(copying->to, blob->digest, to, err) < 0)
		return -1;
	if (link(from, to) == 0)
		return 0;
	return layout_copy_bytes(copying, from, blob, err);
}

static int copy_page(struct copying *copying, const struct descriptor *page, int depth,
		     struct error *err)
{
	struct manifest manifest;
	struct index index;
	const char *bytes;

	if (layout_read(copying->from, page, MANIFEST_BYTES_MAX, &copying->arena, &bytes, err) < 0)
		return -1;
	if (depth > INDEX_DEPTH_MAX)
		return error_set(err, ERROR_FAILED, "%s: indexes within indexes", page->digest);
	if (media_is_index(page->media_type)) {
		if (index_parse(bytes, page->size_bytes, "the index", &copying->arena, &index,
				err) < 0)
			return -1;
		for (size_t i = 0; i < index.count; i++)
			if (copy_page(copying, &index.entries[i].descriptor, depth + 1, err) < 0)
				return -1;
		return copy_blob(copying, page, err);
	}
	if (manifest_parse(bytes, page->size_bytes, "the manifest", &copying->arena, &manifest,
			   err) < 0 ||
	    copy_blob(copying, &manifest.config, err) < 0)
		return -1;
	for (size_t i = 0; i < manifest.layer_count; i++)
		if (copy_blob(copying, &manifest.layers[i], err) < 0)
			return -1;
	return copy_blob(copying, page, err);
}

int layout_copy(const char *from, const char *to, const struct descriptor *manifest,
		struct error *err)
{
	struct copying copying = {.from = from, .to = to, .arena = ARENA_INIT};
	int rc = layout_init(to, err);

	if (rc == 0)
		rc = copy_page(&copying, manifest, 0, err);
	arena_release(&copying.arena);
	return rc;
}
