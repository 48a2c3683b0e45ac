/* SPDX-License-Identifier: MIT */
/*
 * place_docker.h - images of the local Docker Engine ($DOCKER_HOST), through its command-line
 * client.
 */
#ifndef CLI_APP_PLACE_DOCKER_H
#define CLI_APP_PLACE_DOCKER_H

#include "core/arena.h"
#include "oci/archive/archive.h"

/* `docker image save` into a layout, compressing while it streams by. */
int docker_save(const char *name, const char *layout, const struct archive_options *options,
		struct arena *arena, struct descriptor *manifest, struct error *err);

/*
 * The digest of the image's config, where the daemon calls the image by that; "" when there is no
 * such image or no daemon.
 */
const char *docker_image_id(const char *name, struct arena *arena);

/* `docker image load` of an image of a layout, under that name. */
int docker_load(const char *layout, const struct descriptor *manifest, const char *name,
		struct error *err);

#endif
