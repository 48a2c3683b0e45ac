/* SPDX-License-Identifier: MIT */
/* What an image calls itself, so that several can go to one place. */
#include "cli/app/place.h"

#include "core/file.h"
#include "core/str.h"
#include "oci/layout.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int nameless(const struct place *place, const char *why, struct error *err)
{
	return error_set(err, ERROR_USAGE,
			 "%s %s; move it alone, to a reference with a name and a tag", place->text,
			 why);
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
	fd = open(place->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, "cannot read %s", place->path);
	return archive_name(fd, place->path, arena, name, err);
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
		return *name ? 0 : layout_name(place->path, arena, name, err);
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
		return nameless(place, "has a tag alone, and no name", err);
	*name = arena_printf(arena, "%s:latest", *name);
	return 0;
}
