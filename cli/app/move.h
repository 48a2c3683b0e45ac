/* SPDX-License-Identifier: MIT */
/* move.h - an image from one place to another: what push, pull and copy do. */
#ifndef CLI_APP_MOVE_H
#define CLI_APP_MOVE_H

#include "cli/app/place.h"
#include "cli/app/remote.h"

struct move_options {
	struct remote_options from, to; /* for a registry on that side */
	const char *platform;		/* --platform, or NULL */
	bool all;			/* --all: the whole index */
};

#define MOVE_OPTIONS(type, member)                                                      \
	{0,	    "platform",                                                         \
	 "OS/ARCH", "which image of an index (linux/amd64)",                            \
	 OPT_TEXT,  offsetof(type, member.platform)},                                   \
	{                                                                               \
		0, "all", NULL, "the index with the images of all platforms", OPT_FLAG, \
			offsetof(type, member.all)                                      \
	}

/*
 * Moves one image, or several, when `check` (or NULL) takes each way; it says ERROR_USAGE
 * otherwise. `words` are the sources and, last, where they go, which for several is PREFIX/ in a
 * registry or oci:DIR; each becomes its own name and tag there (place_own_name). Two that would
 * become the same are ERROR_USAGE before anything is moved. Prints a line for each, or one JSON
 * document. One that fails does not stop the others.
 */
int move_images(struct context *ctx, const struct move_options *options, const char *const *words,
		int (*check)(const struct place *from, const struct place *to, struct error *err),
		struct error *err);

#endif
