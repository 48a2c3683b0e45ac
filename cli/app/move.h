/* SPDX-License-Identifier: MIT */
/* move.h - images from one place to another: what push, pull and copy do with their words. */
#ifndef CLI_APP_MOVE_H
#define CLI_APP_MOVE_H

#include "cli/app/mover.h"

/* Rows for a command's table; `member` is a struct move_options of its options. */
#define MOVE_OPTIONS(type, member)                                       \
	{0,	    "platform",                                          \
	 "OS/ARCH", "which image of an index (linux/amd64)",             \
	 OPT_TEXT,  offsetof(type, member.platform)},                    \
		{0,	   "all",                                        \
		 NULL,	   "the index with the images of all platforms", \
		 OPT_FLAG, offsetof(type, member.all)},                  \
		LIMIT_OPTIONS(type, member.limits)

/*
 * Moves one image, or several. `words` are the sources and, last, the target, which for several is PREFIX/
 * in a registry or oci:DIR; each image gets its own name and tag there (place_own_name). `check`, or NULL,
 * looks at each source and target and says ERROR_USAGE when the command does not go that way. Two images
 * that would get the same name are ERROR_USAGE before anything is moved. Prints a line for each image, or one
 * JSON document. One that fails does not stop the others.
 */
int move_images(struct context *ctx, const struct move_options *options, const char *const *words,
		int (*check)(const struct place *from, const struct place *to, struct error *err),
		struct error *err);

#endif
