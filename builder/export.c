/* SPDX-License-Identifier: MIT */
/* A finished image, out of what built it, as a layout. */
#include "builder/build.h"
#include "builder/native/kept.h"

#include "core/file.h"
#include "oci/archive/archive.h"
#include "oci/layout.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* The engine writes the archive into a pipe while we read it. */
struct exporter {
	const struct image *image;
	int fd;
	int rc;
	struct error err;
};

static void *export_with_backend(void *arg)
{
	struct exporter *e = arg;

	e->rc = e->image->backend->save(e->image->backend, &e->image->target, e->image->name, e->fd,
					&e->err);
	fd_close(&e->fd);
	return NULL;
}

static int import_archive(const struct image *image, const char *layout, struct arena *arena,
			  struct descriptor *manifest, struct error *err)
{
	/* build arguments that hold the mirrors of this machine: not to be left in the history */
	static const char *const redact[] = {"APT_MIRROR", "YUM_MIRROR", "PIP_INDEX_URL", NULL};
	const struct archive_options options = {
		.history_redact = redact, .normalise = true, .newest_s = image->newest_s};
	struct exporter e = {.image = image};
	int ends[2], rc;
	pthread_t thread;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, "cannot make a pipe");
	e.fd = ends[1];
	if (pthread_create(&thread, NULL, export_with_backend, &e) != 0) {
		fd_close(&ends[0]);
		fd_close(&ends[1]);
		return error_set(err, ERROR_FAILED, "cannot start a thread");
	}
	rc = archive_import(ends[0], layout, &options, arena, manifest, err);
	fd_close(&ends[0]);
	pthread_join(thread, NULL);
	if (e.rc < 0 && rc == 0) {
		*err = e.err;
		rc = -1;
	}
	return rc;
}

int image_export(const struct image *image, const char *scratch, struct arena *arena,
		 const char **layout, struct descriptor *manifest, struct error *err)
{
	*layout = scratch;
	if (!image->kept)
		return import_archive(image, scratch, arena, manifest, err);
	*layout = kept_layout(&image->target, arena);
	return layout_find(*layout, image->name, manifest, err);
}

int image_take_home(const struct image *image, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *layout = kept_layout(&image->target, &arena);
	struct descriptor manifest;

	if (import_archive(image, layout, &arena, &manifest, err) < 0)
		return -1;
	return layout_tag(layout, &manifest, image->name, err);
}
