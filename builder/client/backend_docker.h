/* SPDX-License-Identifier: MIT */
/* backend_docker.h - Docker Engine with either of its two builders, for backend_docker.c and
 * backend_buildkit.c. */
#ifndef BUILDER_CLIENT_BACKEND_DOCKER_H
#define BUILDER_CLIENT_BACKEND_DOCKER_H

#include "builder/backend.h"

bool dockerd_answers(const struct backend *backend, const struct build_target *target,
		     struct arena *arena, const char **why);
int dockerd_has_image(const struct backend *backend, const struct build_target *target,
		      const char *image, bool *found, struct error *err);
int dockerd_import(const struct backend *backend, const struct build_target *target,
		   const char *tar, const char *image, struct error *err);
int dockerd_forget(const struct backend *backend, const struct build_target *target,
		   const char *image, const char *log, struct error *err);
int dockerd_build(const struct backend *backend, const struct build_job *job, struct error *err);
int dockerd_save(const struct backend *backend, const struct build_target *target,
		 const char *image, int fd, struct error *err);
const char *const *dockerd_build_words(const struct backend *backend, const char *context,
				       const char *image, const char *const *build_args,
				       struct arena *arena);

#endif
