/* SPDX-License-Identifier: MIT */
/*
 * place.h - where an image is, as skopeo spells it:
 *
 *   oci:DIR[:TAG]                 an OCI layout; TAG is its name in index.json
 *   docker-archive:FILE[:NAME:TAG] what `docker save` writes; FILE "-" is stdin or stdout
 *   docker-daemon:NAME[:TAG]      the local Docker Engine ($DOCKER_HOST)
 *   rootfs:DIR                    only to: the image's layers as one tree of files
 *   docker://REF, or REF          a registry
 */
#ifndef CLI_APP_PLACE_H
#define CLI_APP_PLACE_H

#include "cli/app/command.h"
#include "oci/archive/archive.h"
#include "plan/reference.h"

enum place_kind { PLACE_REGISTRY, PLACE_LAYOUT, PLACE_ARCHIVE, PLACE_DAEMON, PLACE_ROOTFS };

struct place {
	enum place_kind kind;
	const char *text;     /* as it was written */
	const char *path;     /* of the layout, the archive or the tree */
	const char *name;     /* TAG, NAME:TAG, or the daemon's image; NULL: none given */
	struct reference ref; /* PLACE_REGISTRY */
	const struct budget_limits
		*limits; /* of what is unpacked from there or to it; NULL: defaults */
};

/* ERROR_USAGE says what is wrong with it. */
int place_parse(const char *text, struct arena *arena, struct place *place, struct error *err);

/* The same, and an error unless it is a registry. */
int place_parse_reference(const char *text, struct arena *arena, struct reference *ref,
			  struct error *err);

/*
 * The layout of a place that is no registry, and the manifest of the image in it: the place's own,
 * or a scratch one that an archive or a daemon's image is read into. place_close removes that.
 */
struct place_image {
	const char *layout;
	const char *scratch; /* folder to remove, or NULL */
	int lock;	     /* of the scratch folder, while there is one */
	struct descriptor manifest;
};
/* `watch` is told of layers that are packed for it; NULL: nobody. */
int place_read(const struct place *place, const struct layer_watch *watch, struct arena *arena,
	       struct place_image *image, struct error *err);

/* A layout to pull into for that place. */
int place_prepare(const struct place *place, struct arena *arena, struct place_image *image,
		  struct error *err);

/* Puts image->manifest where it belongs: a name in the layout, an archive, the daemon. */
int place_write(const struct place *place, const struct place_image *image, struct arena *arena,
		struct error *err);

/*
 * The image's own name and tag, "train:1", without registry and folders: of a reference, of a
 * layout's annotation, of an archive's RepoTags, of the daemon. An image that has none is
 * ERROR_USAGE.
 */
int place_own_name(const struct place *place, struct arena *arena, const char **name,
		   struct error *err);

/* Where layers that were packed are noted (oci/known.h): in the cache. */
const char *place_known_folder(struct arena *arena);

/* How a docker-archive, or what a daemon saves, is read; layers that it packs are noted. */
struct archive_options place_archive_options(const struct place *place, struct arena *arena);

/* For _cleanup_. */
void place_close(struct place_image *image);

/* Leaves a scratch folder where it is: the next command that needs one goes on with it. */
void place_keep(struct place_image *image);

#endif
