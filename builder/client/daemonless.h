/* SPDX-License-Identifier: MIT */
/*
 * daemonless.h - build backends without a daemon: Podman and Buildah. Both keep images in
 * containers-storage, and only their words differ. A record is a struct backend that begins with
 * DAEMONLESS_BACKEND and has its words.
 */
#ifndef BUILDER_CLIENT_DAEMONLESS_H
#define BUILDER_CLIENT_DAEMONLESS_H

#include "builder/client/client.h"

bool daemonless_available(const struct backend *backend, const struct build_target *target,
			  struct arena *arena, const char **why);
int daemonless_has_image(const struct backend *backend, const struct build_target *target,
			 const char *image, bool *found, struct error *err);
int daemonless_import_base(const struct backend *backend, const struct build_target *target,
			   const char *tar, const char *image, struct error *err);
int daemonless_forget(const struct backend *backend, const struct build_target *target,
		      const char *image, const char *log, struct error *err);
int daemonless_build(const struct backend *backend, const struct build_job *job, struct error *err);
int daemonless_save(const struct backend *backend, const struct build_target *target,
		    const char *image, int fd, struct error *err);
const char *const *daemonless_build_words(const struct backend *backend, const char *context,
					  const char *image, const char *const *build_args,
					  struct arena *arena);

#define DAEMONLESS_BACKEND                                                    \
	.available = daemonless_available, .has_image = daemonless_has_image, \
	.import_base = daemonless_import_base, .forget = daemonless_forget,   \
	.build = daemonless_build, .save = daemonless_save, .build_words = daemonless_build_words

#endif
