/* SPDX-License-Identifier: MIT */
/* Image -> registry: export from the engine, compress once, send what the registry lacks. */
#include "cli/stages.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "core/progress.h"
#include "oci/archive.h"
#include "registry-client/manifest.h"
#include "registry-client/push.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

int stage_find_image(struct stages *s, struct registry *registry, bool *found, struct error *err)
{
	struct descriptor manifest;

	if (registry_head_manifest(registry, &s->reference, &manifest, found, err) < 0)
		return -1;
	if (*found)
		s->reference.digest = arena_strdup(s->arena, manifest.digest);
	return 0;
}

/* The engine writes the archive into a pipe while we read it. */
struct exporter {
	const struct image *image;
	int fd;
	int rc;
	struct error err;
};

static void *export_image(void *arg)
{
	struct exporter *e = arg;

	e->rc = e->image->backend->save(&e->image->target, e->image->name, e->fd, &e->err);
	fd_close(&e->fd);
	return NULL;
}

static int import_archive(struct stages *s, const struct image *image, const char *layout,
			  struct descriptor *manifest, struct error *err)
{
	/* build arguments that hold the mirrors of this machine: not to be left in the history */
	static const char *const redact[] = {"APT_MIRROR", "PIP_INDEX_URL", NULL};
	const struct archive_options options = {.history_redact = redact};
	struct exporter e = {.image = image};
	int ends[2], rc;
	pthread_t thread;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, "cannot make a pipe");
	e.fd = ends[1];
	if (pthread_create(&thread, NULL, export_image, &e) != 0) {
		fd_close(&ends[0]);
		fd_close(&ends[1]);
		return error_set(err, ERROR_FAILED, "cannot start a thread");
	}
	rc = archive_import(ends[0], layout, &options, s->arena, manifest, err);
	fd_close(&ends[0]);
	pthread_join(thread, NULL);
	if (e.rc < 0 && rc == 0) {
		*err = e.err;
		rc = -1;
	}
	return rc;
}

int stage_push(struct stages *s, struct registry *registry, const struct image *image,
	       struct error *err)
{
	const char *layout = cluster_state_path(&s->cluster, "image", s->arena);
	struct descriptor manifest;
	struct push_report report;
	struct progress_step *step;
	char sent[32];
	uint64_t begin = clock_usec();

	step = progress_begin("image",
			      arena_printf(s->arena, "exports and compresses %s", image->name));
	if (import_archive(s, image, layout, &manifest, err) < 0) {
		progress_end(step, false, "failed");
		return error_wrap(err, "export of %s", image->name);
	}
	progress_end(step, true, "compressed in %.1f s", clock_seconds_since(begin));
	if (registry_push(registry, layout, &manifest, &s->reference, &report, err) < 0)
		return -1;
	log_info("  %-20s %s: %zu of %zu blobs sent, %s in %.1f s", "push",
		 reference_text(&s->reference, s->arena), report.blobs_sent, report.blobs_total,
		 format_bytes(sent, report.bytes_sent), report.seconds);
	s->reference.digest = arena_strdup(s->arena, manifest.digest);
	/* the registry has it all: the copy here would only take space */
	return folder_remove(layout, err);
}
