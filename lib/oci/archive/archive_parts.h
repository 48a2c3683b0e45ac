/* SPDX-License-Identifier: MIT */
/* archive_parts.h - what archive.c found in the stream, for archive_image.c to put together. */
#ifndef OCI_ARCHIVE_ARCHIVE_PARTS_H
#define OCI_ARCHIVE_ARCHIVE_PARTS_H

#include "oci/archive/archive.h"
#include "oci/layer/unpack.h"

enum part_kind { PART_LAYER, PART_JSON, PART_LINK };

struct part {
	struct part *next;
	enum part_kind kind;
	const char *name; /* inside of the archive, without "./" */
	/* PART_LAYER */
	bool is_unread;	       /* its content was passed over: only packing and size are known */
	enum packing packing;  /* in the archive */
	uint64_t member_bytes; /* in the archive */
	char diff_id[DIGEST_TEXT_BYTES];  /* in the archive, as its config knows it */
	char final_id[DIGEST_TEXT_BYTES]; /* in the layout */
	struct descriptor blob;
	/* PART_JSON */
	const char *text;
	size_t length;
	/* PART_LINK: the name it stands for */
	const char *target;
};

/* "AB/../CD/layer.tar" and the like made plain; NULL when it leaves the archive or is too long. */
const char *part_name(struct arena *arena, const char *folder, const char *name);

/* The part of that name behind all links, or NULL. */
struct part *part_find(struct part *parts, const char *name);

enum walk_kind {
	WALK_ALL,  /* every layer goes into the layout */
	WALK_LOOK, /* layers are passed over */
	WALK_SOME, /* only the layers of these names are read, and no JSON */
};

struct archive_walk {
	enum walk_kind kind;
	const char *const *names; /* WALK_SOME: NULL-terminated */
	int fd;			  /* WALK_LOOK, WALK_SOME: can seek */
	const char *folder;	  /* of the layout */
	const struct archive_options *options;
};

/* Reads the archive to its end; what was found is in *parts, in the arena. */
int archive_walk(const struct archive_walk *walk, struct arena *arena, struct part **parts,
		 struct error *err);

/* The entry of manifest.json that the name (NULL: the only one) means; *list is the caller's. */
int archive_choose(struct part *parts, const char *name, cJSON **list, const cJSON **image,
		   struct error *err);

/*
 * Checks what was found against manifest.json and the config, and writes config and manifest. A
 * layer that was not read is taken from options->known_folder; one that is not known is an error.
 */
int archive_image(struct part *parts, const char *layout_folder,
		  const struct archive_options *options, struct arena *arena,
		  struct descriptor *manifest, struct error *err);

#endif
