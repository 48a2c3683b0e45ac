/* SPDX-License-Identifier: MIT */
#include "oci/copy.h"

#include "core/clock.h"
#include "core/file.h"
#include "oci/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define COPY_BYTES (1024 * 1024)

static int copy_bytes(int fd, const char *path, struct layout_writer *writer, struct error *err)
{
	_cleanup_(free_pointer) char *buffer = xmalloc(COPY_BYTES);

	for (;;) {
		ssize_t got = read(fd, buffer, COPY_BYTES);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_errno(err, "cannot read %s", path);
		if (got == 0)
			return 0;
		if (interrupt_check(err) < 0 ||
		    layout_writer_add(writer, buffer, (size_t)got, err) < 0)
			return -1;
	}
}

static int copy_blob(const char *from, const struct descriptor *blob, const char *to,
		     struct error *err)
{
	_cleanup_(layout_writer_release) struct layout_writer writer = {.fd = -1};
	_cleanup_(fd_close) int fd = -1;
	char path[LAYOUT_PATH_BYTES];
	struct descriptor written;

	if (layout_has(to, blob))
		return 0;
	if (layout_blob_path(from, blob->digest, path, err) < 0)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, "cannot read %s", path);
	if (layout_writer_init(&writer, to, err) < 0 || copy_bytes(fd, path, &writer, err) < 0)
		return -1;
	/* a blob with another content lands under its own digest, and is only said to be wrong */
	if (layout_writer_finish(&writer, blob->media_type, &written, err) < 0)
		return -1;
	if (strcmp(written.digest, blob->digest) == 0)
		return 0;
	return error_set(err, ERROR_FAILED,
			 "%s is damaged: its content has %s; get the image again", path,
			 written.digest);
}

int layout_copy(const char *from, const struct descriptor *descriptor, const char *to,
		struct arena *arena, struct error *err)
{
	struct manifest manifest;
	const char *text;

	if (layout_read(from, descriptor, MANIFEST_BYTES_MAX, arena, &text, err) < 0 ||
	    manifest_parse(text, descriptor->size_bytes, from, arena, &manifest, err) < 0 ||
	    copy_blob(from, &manifest.config, to, err) < 0)
		return -1;
	for (size_t i = 0; i < manifest.layer_count; i++)
		if (copy_blob(from, &manifest.layers[i], to, err) < 0)
			return -1;
	return copy_blob(from, descriptor, to, err);
}
