/* SPDX-License-Identifier: MIT */
/*
 * image_config.h - an image's config while it is being built: a cJSON document, so that members of
 * a base's config stay, even those that no code here knows.
 *
 * Source: OCI image-spec 1.1, config.md; Shell, OnBuild and Healthcheck are Docker's additions.
 */
#ifndef BUILDER_NATIVE_IMAGE_CONFIG_H
#define BUILDER_NATIVE_IMAGE_CONFIG_H

#include "core/json.h"

#include <stdint.h>

/*
 * An empty image's config for linux and this architecture (Go's names: "amd64"). The caller frees.
 */
cJSON *image_config_new(const char *architecture);

/* Reads a base's config; `what` names it in the error. */
int image_config_parse(const char *text, size_t length, const char *what, cJSON **config,
		       struct error *err);

/* The value of an environment variable, or NULL. */
const char *image_config_env(const cJSON *config, const char *name);
void image_config_set_env(cJSON *config, const char *name, const char *value);
/* All of them as NAME=VALUE, NULL-terminated. */
const char *const *image_config_env_list(const cJSON *config, struct arena *arena);

/* "User", "WorkingDir", "StopSignal": "" when not set. */
const char *image_config_text(const cJSON *config, const char *name);
void image_config_set_text(cJSON *config, const char *name, const char *value);

/* "Cmd", "Entrypoint", "Shell": NULL when not set. */
const char *const *image_config_list(const cJSON *config, const char *name, struct arena *arena);
void image_config_set_list(cJSON *config, const char *name, const char *const *words);
void image_config_drop(cJSON *config, const char *name);

/* Adds a key to a set ("ExposedPorts", "Volumes"), or a pair to "Labels". */
void image_config_add_key(cJSON *config, const char *set, const char *key);
void image_config_set_label(cJSON *config, const char *name, const char *value);

/* Which instruction made which layer; `layers` of them, 0: none. */
void image_config_add_history(cJSON *config, const char *created_by, size_t layers,
			      int64_t created_s);
void image_config_add_diff_id(cJSON *config, const char *diff_id);

/*
 * The config's bytes, normalised (oci/normalise.h). In the arena.
 */
const char *image_config_write(cJSON *config, int64_t created_s, struct arena *arena);

#endif
