/* SPDX-License-Identifier: MIT */
/*
 * members.h - what a docker-archive holds: its layers, its JSON files and its links, as they stream
 * by. What they mean together is archive.h's.
 */
#ifndef OCI_ARCHIVE_MEMBERS_H
#define OCI_ARCHIVE_MEMBERS_H

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

#endif
