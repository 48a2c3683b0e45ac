/* SPDX-License-Identifier: MIT */
/*
 * index.h - an index: the images of several platforms under one name, or what refers to an image.
 *
 * Sources: OCI image-spec 1.1 (image-index.md), Docker manifest list v2 schema 2.
 */
#ifndef OCI_INDEX_H
#define OCI_INDEX_H

#include "oci/manifest.h"

#define PLATFORM_DEFAULT "linux/amd64"

/* Texts live in the arena; "" where the index says nothing. */
struct index_entry {
	struct descriptor descriptor;
	const char *os, *architecture, *variant;
	const char *artifact_type;
};

struct index {
	char media_type[MEDIA_TYPE_BYTES];
	struct index_entry *entries;
	size_t count;
};

/* Reads an OCI index or a Docker manifest list; `what` names it in the error. */
int index_parse(const char *bytes, size_t length, const char *what, struct arena *arena,
		struct index *index, struct error *err);

/*
 * The first image for the platform "OS/ARCH[/VARIANT]" (NULL: linux/amd64), without a variant the
 * first of any. None is an error that lists those that are there; `what` names the index in it.
 */
int index_choose(const struct index *index, const char *platform, const char *what,
		 const struct index_entry **entry, struct error *err);

/*
 * Puts an OCI index of these images into the layout, without a name; the same images give the same digest.
 * Only descriptor, os and architecture of each entry count.
 */
int index_put(const char *layout, const struct index_entry *entries, size_t count,
	      struct descriptor *index, struct error *err);

/* ERROR_USAGE unless the text is OS/ARCH or OS/ARCH/VARIANT. */
int platform_check(const char *platform, struct error *err);

/*
 * An error unless the image with this config is for the platform. A config that does not say what
 * it is for, such as an artifact's, is accepted.
 */
int platform_check_config(const char *platform, const char *config, size_t length,
			  struct error *err);

/* Whether it is the platform that was asked for; see index_choose. */
bool platform_fits(const char *platform, const char *os, const char *architecture,
		   const char *variant);

#endif
