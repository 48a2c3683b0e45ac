/* SPDX-License-Identifier: MIT */
/* move_parts.h - one move of an image, for move.c, move_push.c and move_many.c. */
#ifndef CLI_APP_MOVE_PARTS_H
#define CLI_APP_MOVE_PARTS_H

#include "cli/app/move.h"

#include <pthread.h>

/* What was done, in the words of all the ways. */
struct moved {
	const char *digest;
	size_t blobs_total, blobs_moved, blobs_mounted;
	uint64_t bytes_moved, bytes_resumed;
	double seconds;
};

/* What the moves of one command share; each runs in a thread of its own. */
struct crew {
	const struct move_options *options;
	struct connection *connections; /* open registries, the newest first */
	struct arena *arena;		/* that holds them: the command's */
	pthread_mutex_t opening;	/* of these two */
	pthread_mutex_t packing; /* one packs at a time: it takes all processors and memory */
};

/* Closes the registries. For _cleanup_. */
void crew_release(struct crew *crew);

/* One move's own. */
struct mover {
	struct context ctx; /* with an arena of its own */
	const struct move_options *options;
	struct crew *crew;
};

/* The registry at that address with these options; opened once, and the crew's. */
int mover_registry(struct mover *mover, const struct remote_options *options, const char *address,
		   struct registry **registry, struct error *err);

/* Moves one image. */
int move_one(struct mover *mover, const struct place *from, const struct place *to,
	     struct moved *moved, struct error *err);

/* place_read, when it is this one's turn to pack. */
int move_read(struct mover *mover, const struct place *from, const struct layer_watch *watch,
	      struct place_image *image, struct error *err);

/* The image of one platform, out of an index in a layout. */
int move_choose(const struct move_options *options, bool is_needed, struct place_image *image,
		struct arena *arena, struct error *err);

/* From a place on this machine to a registry. */
int move_push(struct mover *mover, const struct place *from, const struct place *to,
	      struct moved *moved, struct error *err);

struct push_report;
void moved_take(struct moved *moved, const struct push_report *report, struct arena *arena);

#endif
