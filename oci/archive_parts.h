/* SPDX-License-Identifier: MIT */
/* archive_parts.h - what archive.c found in the stream, for archive_image.c to put together. */
#ifndef OCI_ARCHIVE_PARTS_H
#define OCI_ARCHIVE_PARTS_H

#include "oci/archive.h"

enum part_kind { PART_LAYER, PART_JSON, PART_LINK };

struct part {
	struct part *next;
	enum part_kind kind;
	const char *name; /* inside of the archive, without "./" */
	/* PART_LAYER */
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
const struct part *part_find(const struct part *parts, const char *name);

/* Checks what was found against manifest.json and the config, and writes config and manifest. */
int archive_image(const struct part *parts, const char *layout_folder,
		  const struct archive_options *options, struct arena *arena,
		  struct descriptor *manifest, struct error *err);

#endif
