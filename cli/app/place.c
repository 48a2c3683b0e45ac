/* SPDX-License-Identifier: MIT */
#include "cli/app/place.h"
#include "cli/app/place_docker.h"
#include "cli/app/place_rootfs.h"

#include "core/file.h"
#include "core/log.h"
#include "core/private.h"
#include "core/str.h"
#include "core/temporary.h"
#include "oci/archive/archive.h"
#include "oci/archive/export.h"
#include "oci/index.h"
#include "oci/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRATCH_PREFIX "image-"
#define SCRATCH_TRIES 3

/*
 * "DIR:TAG" or "FILE:NAME:TAG": cut at the first ':', as skopeo does; names may hold '/' and ':'.
 */
static void split_name(const char *text, struct arena *arena, struct place *place)
{
	const char *colon = strchr(text, ':');

	place->path = colon ? arena_strndup(arena, text, (size_t)(colon - text)) : text;
	place->name = colon && colon[1] ? colon + 1 : NULL;
}

static int place_check_path(const struct place *place, struct error *err)
{
	if (*place->path)
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"'%s' names no folder or file; write oci:DIR[:TAG] or docker-archive:FILE[:NAME:TAG]",
		place->text);
}

int place_parse(const char *text, struct arena *arena, struct place *place, struct error *err)
{
	*place = (struct place){.text = text};
	if (starts_with(text, "oci:")) {
		place->kind = PLACE_LAYOUT;
		split_name(text + strlen("oci:"), arena, place);
		return place_check_path(place, err);
	}
	if (starts_with(text, "docker-archive:")) {
		place->kind = PLACE_ARCHIVE;
		split_name(text + strlen("docker-archive:"), arena, place);
		return place_check_path(place, err);
	}
	if (starts_with(text, "docker-daemon:")) {
		place->kind = PLACE_DAEMON;
		place->name = text + strlen("docker-daemon:");
		return *place->name
			       ? 0
			       : error_set(
					 err, ERROR_USAGE,
					 "'docker-daemon:' names no image; write docker-daemon:NAME:TAG");
	}
	if (starts_with(text, "rootfs:")) {
		place->kind = PLACE_ROOTFS;
		place->path = text + strlen("rootfs:");
		return *place->path ? 0
				    : error_set(err, ERROR_USAGE,
						"'rootfs:' names no folder; write rootfs:DIR");
	}
	if (starts_with(text, "docker://"))
		text += strlen("docker://");
	return reference_parse(text, arena, &place->ref, err);
}

int place_parse_reference(const char *text, struct arena *arena, struct reference *ref,
			  struct error *err)
{
	struct place place;

	if (place_parse(text, arena, &place, err) < 0)
		return -1;
	if (place.kind != PLACE_REGISTRY)
		return error_set(err, ERROR_USAGE,
				 "'%s' is not an image in a registry; write HOST[:PORT]/NAME[:TAG]",
				 text);
	*ref = place.ref;
	return 0;
}

/* Locked, this user's, and still the folder of that name; -1: another process has it, or had it. */
static int lock_scratch(const char *path)
{
	struct stat open_folder, folder;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && (!private_has_own(fd) || flock(fd, LOCK_EX | LOCK_NB) < 0 ||
			fstat(fd, &open_folder) < 0 || stat(path, &folder) < 0 ||
			folder.st_ino != open_folder.st_ino))
		fd_close(&fd);
	return fd;
}

/* Takes a scratch folder that a process left when it was killed; removes the others. */
static void adopt_scratch(const char *cache, struct arena *arena, struct place_image *image)
{
	struct error ignored = {0};
	const char **names;

	if (folder_list(cache, "", arena, &names, &ignored) < 0)
		return;
	for (; *names; names++) {
		const char *path = arena_printf(arena, "%s/%s", cache, *names);
		int lock = starts_with(*names, SCRATCH_PREFIX) ? lock_scratch(path) : -1;

		if (lock < 0)
			continue;
		if (image->scratch) {
			if (folder_remove(path, &ignored) < 0)
				log_debug("%s", ignored.text);
			fd_close(&lock);
			continue;
		}
		image->scratch = path;
		image->lock = lock;
	}
}

/*
 * A folder of our own in the cache, with a layout in it. What a killed process left there is as
 * good as new: blobs are there whole or as parts that a pull goes on with (oci/partial.h).
 */
static int make_scratch(struct arena *arena, struct place_image *image, struct error *err)
{
	const char *cache = path_cache_folder(arena);

	if (private_check_above(cache, err) < 0 || folder_make(cache, 0700, err) < 0)
		return -1;
	adopt_scratch(cache, arena, image);
	for (int i = 0; i < SCRATCH_TRIES && !image->scratch; i++) {
		char *path = arena_printf(arena, "%s/" SCRATCH_PREFIX "XXXXXX", cache);

		if (!mkdtemp(path))
			return error_errno(err, "cannot make a folder in %s", cache);
		image->lock = lock_scratch(path);
		/* else another process took it for one that was left; or there are no locks here */
		if (image->lock >= 0 || i + 1 == SCRATCH_TRIES)
			image->scratch = path;
		else
			rmdir(path);
	}
	image->layout = arena_printf(arena, "%s/layout", image->scratch);
	return folder_make(image->layout, 0700, err);
}

void place_keep(struct place_image *image)
{
	if (image->scratch)
		fd_close(&image->lock);
	image->scratch = NULL;
}

void place_close(struct place_image *image)
{
	struct error ignored = {0};

	if (image->scratch && folder_remove(image->scratch, &ignored) < 0)
		log_warn("%s", ignored.text);
	place_keep(image);
}

const char *place_known_folder(struct arena *arena)
{
	return arena_printf(arena, "%s/layers", path_cache_folder(arena));
}

struct archive_options place_archive_options(const struct place *place, struct arena *arena)
{
	bool is_daemon = place->kind == PLACE_DAEMON; /* it saves the one image that is asked for */

	return (struct archive_options){
		.name = is_daemon ? NULL : place->name,
		.label = is_daemon ? place->name : place->path,
		.known_folder = place_known_folder(arena),
		.limits = place->limits,
	};
}

static int read_archive(const struct place *place, const struct layer_watch *watch,
			struct arena *arena, struct place_image *image, struct error *err)
{
	struct archive_options options = place_archive_options(place, arena);
	bool is_stdin = strcmp(place->path, "-") == 0;
	_cleanup_(fd_close) int fd = -1;

	if (is_stdin)
		fd = dup(STDIN_FILENO);
	else if (file_open(place->path, &fd, err) < 0)
		return error_of_input(err);
	if (fd < 0)
		return error_errno(err, "cannot read %s", place->path);
	options.watch = watch;
	if (make_scratch(arena, image, err) < 0)
		return -1;
	if (archive_import(fd, image->layout, &options, arena, &image->manifest, err) == 0)
		return 0;
	return is_stdin ? -1 : error_of_input(err); /* what another program sends is no file */
}

/* Finds the image, and looks at its manifest before anybody is told of it. */
static int read_layout(const struct place *place, struct arena *arena, struct place_image *image,
		       struct error *err)
{
	struct descriptor *page = &image->manifest;
	struct manifest manifest;
	struct index index;
	const char *bytes;
	int rc = layout_find(place->path, place->name, page, err);

	if (rc == 0)
		rc = layout_read(place->path, page, MANIFEST_BYTES_MAX, arena, &bytes, err);
	if (rc == 0 && media_is_index(page->media_type))
		rc = index_parse(bytes, page->size_bytes, place->path, arena, &index, err);
	else if (rc == 0 && media_is_manifest(page->media_type))
		rc = manifest_parse(bytes, page->size_bytes, place->path, arena, &manifest, err);
	return rc < 0 ? error_of_input(err) : 0;
}

static int read_daemon(const struct place *place, const struct layer_watch *watch,
		       struct arena *arena, struct place_image *image, struct error *err)
{
	struct archive_options options = place_archive_options(place, arena);

	options.watch = watch;
	if (make_scratch(arena, image, err) < 0)
		return -1;
	return docker_save(place->name, image->layout, &options, arena, &image->manifest, err);
}

int place_read(const struct place *place, const struct layer_watch *watch, struct arena *arena,
	       struct place_image *image, struct error *err)
{
	*image = (struct place_image){.layout = place->path};
	switch (place->kind) {
	case PLACE_LAYOUT:
		return read_layout(place, arena, image, err);
	case PLACE_ARCHIVE:
		return read_archive(place, watch, arena, image, err);
	case PLACE_DAEMON:
		return read_daemon(place, watch, arena, image, err);
	case PLACE_ROOTFS:
		return error_set(err, ERROR_USAGE,
				 "%s is a tree of files, and no image can be read from it",
				 place->text);
	case PLACE_REGISTRY:
	default:
		return error_set(err, ERROR_USAGE, "'%s' is an image in a registry", place->text);
	}
}

int place_prepare(const struct place *place, struct arena *arena, struct place_image *image,
		  struct error *err)
{
	*image = (struct place_image){.layout = place->path};
	return place->kind == PLACE_LAYOUT ? 0 : make_scratch(arena, image, err);
}

static int write_archive(const struct place *place, const struct place_image *image,
			 struct arena *arena, struct error *err)
{
	const char *path = place->path;
	_cleanup_(fd_close) int fd = -1;
	const char *temporary;
	int rc;

	if (strcmp(path, "-") == 0)
		return archive_export(image->layout, &image->manifest, place->name, STDOUT_FILENO,
				      err);
	if (file_is_stream(path)) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		return fd < 0 ? error_errno(err, "cannot write %s", path)
			      : archive_export(image->layout, &image->manifest, place->name, fd,
					       err);
	}
	fd = temporary_make(path, TEMPORARY_FILE, arena, &temporary, err);
	if (fd < 0)
		return -1;
	rc = archive_export(image->layout, &image->manifest, place->name, fd, err);
	if (rc < 0)
		error_wrap(err, "%s", path);
	else if (fchmod(fd, 0644) < 0 || file_put(fd, temporary, path) < 0)
		rc = error_errno(err, "cannot write %s", path);
	if (rc < 0)
		unlink(temporary);
	return rc;
}

int place_write(const struct place *place, const struct place_image *image, struct arena *arena,
		struct error *err)
{
	switch (place->kind) {
	case PLACE_LAYOUT:
		return layout_tag(place->path, &image->manifest, place->name, err);
	case PLACE_ARCHIVE:
		return write_archive(place, image, arena, err);
	case PLACE_DAEMON:
		return docker_load(image->layout, &image->manifest, place->name, err);
	case PLACE_ROOTFS:
		return place_unpack(place, image, arena, err);
	case PLACE_REGISTRY:
	default:
		return error_set(err, ERROR_USAGE, "'%s' is an image in a registry", place->text);
	}
}

/* --- what an image calls itself, so that several can go to one place --- */

static int nameless(const struct place *place, const char *why, struct error *err)
{
	return error_set(err, ERROR_USAGE,
			 "%s %s; move it by itself, to a reference with a name and a tag",
			 place->text, why);
}

static int name_in_archive(const struct place *place, struct arena *arena, const char **name,
			   struct error *err)
{
	_cleanup_(fd_close) int fd = -1;

	*name = place->name;
	if (*name)
		return 0;
	if (strcmp(place->path, "-") == 0)
		return nameless(place, "is a pipe: its name is not known before it is read", err);
	if (file_open(place->path, &fd, err) < 0 ||
	    archive_name(fd, place->path, arena, name, err) < 0)
		return error_of_input(err);
	return 0;
}

static int place_name_full(const struct place *place, struct arena *arena, const char **name,
			   struct error *err)
{
	struct reference plain = place->ref;

	switch (place->kind) {
	case PLACE_REGISTRY:
		plain.digest = NULL;
		if (!plain.tag && place->ref.digest)
			return nameless(place, "has a digest and no tag", err);
		*name = reference_text(&plain, arena);
		return 0;
	case PLACE_LAYOUT:
		*name = place->name;
		return *name || layout_name(place->path, arena, name, err) == 0
			       ? 0
			       : error_of_input(err);
	case PLACE_ARCHIVE:
		return name_in_archive(place, arena, name, err);
	case PLACE_DAEMON:
	case PLACE_ROOTFS:
	default:
		*name = place->name;
		return 0;
	}
}

int place_own_name(const struct place *place, struct arena *arena, const char **name,
		   struct error *err)
{
	const char *full, *slash;

	if (place_name_full(place, arena, &full, err) < 0)
		return -1;
	if (!*full)
		return nameless(place, "has no name of its own", err);
	slash = strrchr(full, '/');
	*name = slash ? slash + 1 : full;
	if (strchr(*name, '@') || !**name)
		return nameless(place, "has no name of its own", err);
	if (strchr(*name, ':'))
		return 0;
	if (place->kind == PLACE_LAYOUT)
		return nameless(place, "has only a tag, and no name", err);
	*name = arena_printf(arena, "%s:latest", *name);
	return 0;
}
