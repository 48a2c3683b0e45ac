/* SPDX-License-Identifier: MIT */
/*
 * spec.h - what an image is built from: a Dockerfile and the files beside it, with a hash of
 * everything.
 *
 * The hash covers the Dockerfile's instructions (not its comments), every file's name, mode and
 * content, and the base. Two specs with the same hash build the same image, so ringup does not
 * build an image again that the registry has under the hash.
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
	char digest[DIGEST_TEXT_BYTES]; /* of the content, set by spec_hash; "" without content */
	int64_t changed_ns;		/* the source's ctime then; 0: unknown */
};

struct spec {
	const char *dockerfile;
	const char *base_name;	  /* the image name in the Dockerfile's FROM */
	const char *base_place;	  /* its folder on this machine for oci:DIR; else "" */
	const char *base_digest;  /* of its manifest; "" when not known */
	const char *base_script;  /* the script that makes its root filesystem, or "" */
	const char *base_release; /* the release that the script makes: a code name; or "" */
	const char *os;		  /* "debian12"; "" when it is not known */
	const char *arch;	  /* the processor of the stack, as arch.h has it; "": any */
	const char *os_vendor;	  /* vendor of its packages in a package-url: "debian"; or "" */
	const char *unpinned;	  /* names that a pinned plan has no version of; or "" */
	const char *snapshot;	  /* time of the archive snapshot in `mirrors`; or "" */
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
const char *spec_hash_tag(const char *hash, struct arena *arena);

/* The hash of two images that are pushed as one. */
const char *spec_hash_both(const struct spec *first, const struct spec *second,
			   struct arena *arena);

cJSON *spec_to_json(const struct spec *spec);

#endif
