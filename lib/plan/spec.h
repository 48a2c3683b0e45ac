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

#define SPEC_FILES_MAX 1000000

enum spec_kind { SPEC_FILE, SPEC_FOLDER, SPEC_SYMLINK, SPEC_HARDLINK };

struct spec_file {
	const char *path;   /* inside of the context: "worker/main.c" */
	const char *source; /* on this machine, or NULL */
	const char *text;   /* the content itself when there is no source */
	const char *link; /* SPEC_SYMLINK: its text; SPEC_HARDLINK: the path of a file before it */
	uint64_t size_bytes;
	enum spec_kind kind;
	mode_t mode;			/* 0644 or 0755 */
	char digest[DIGEST_TEXT_BYTES]; /* of the content: set by spec_hash; "" for what has none */
	int64_t changed_ns;		/* the source's ctime then; 0: unknown */
};

struct spec {
	const char *dockerfile;
	const char *base_name;	  /* the image name that the Dockerfile starts FROM */
	const char *base_place;	  /* its place on this machine, of oci:DIR; "" elsewhere */
	const char *base_digest;  /* of its manifest; "" when not known */
	const char *base_script;  /* what makes that base's root filesystem; "" when it is pulled */
	const char *base_release; /* what that script is told to make: a code name; "" */
	const char *os;		  /* "debian12"; "" when it is not known */
	const char *os_vendor;	  /* whose packages it has, as package-url says it: "debian"; "" */
	const char *unpinned;	  /* of a plan that is pinned: names it does not know; "" */
	const char *snapshot;	  /* time of the archive's snapshot that mirrors name; "" */
	const char *const
		*build_args; /* NAME=VALUE: mirrors; never part of the hash or the image */
	size_t file_count, file_capacity;
	struct spec_file *files; /* sorted by where they come from; in the arena */
	char hash[DIGEST_TEXT_BYTES];
};

/* A new file at the end, all zero; NULL when there are SPEC_FILES_MAX already. */
struct spec_file *spec_add_file(struct spec *spec, struct arena *arena);

/* Reads every source and sets its digest, and `hash`. */
int spec_hash(struct spec *spec, struct error *err);

/* The first 12 hex digits of the hash: the tag under which the image is kept. */
const char *spec_tag(const struct spec *spec, struct arena *arena);

cJSON *spec_to_json(const struct spec *spec);

#endif
