/* SPDX-License-Identifier: MIT */
/*
 * spec.h - what an image is built from: a Dockerfile, the files beside it, and the hash of it all.
 *
 * The hash covers the Dockerfile's instructions (not its comments), every file's name, mode and
 * content, and the base; two specs with the same hash build the same image, so an image that the
 * registry holds under the hash is not built again.
 */
#ifndef PLAN_SPEC_H
#define PLAN_SPEC_H

#include "core/arena.h"
#include "core/digest.h"
#include "core/json.h"

#include <sys/types.h>

#define SPEC_FILES_MAX 4096

struct spec_file {
	const char *path;   /* inside of the context: "worker/main.c" */
	const char *source; /* on this machine, or NULL */
	const char *text;   /* the content itself when there is no source */
	size_t text_bytes;
	mode_t mode; /* 0644 or 0755 */
};

struct spec {
	const char *dockerfile;
	const char *base_name;	 /* the image name that the Dockerfile starts FROM */
	const char *base_script; /* what makes that base's root filesystem; "" when it is pulled */
	const char *os;		 /* "debian12" */
	const char *const
		*build_args; /* NAME=VALUE: mirrors; never part of the hash or the image */
	size_t file_count;
	struct spec_file files[SPEC_FILES_MAX];
	char hash[DIGEST_TEXT_BYTES];
};

/* Reads every source and sets `hash`. */
int spec_hash(struct spec *spec, struct error *err);

/* The first 12 hex digits of the hash: the tag under which the image is kept. */
const char *spec_tag(const struct spec *spec, struct arena *arena);

cJSON *spec_to_json(const struct spec *spec);

#endif
