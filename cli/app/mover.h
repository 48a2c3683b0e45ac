/* SPDX-License-Identifier: MIT */
/*
 * mover.h - one image from one place to another, in a thread of its own: what move.c starts for each
 * image of a command.
 */
#ifndef CLI_APP_MOVER_H
#define CLI_APP_MOVER_H

#include "cli/app/limits.h"
#include "cli/app/place.h"
#include "cli/app/registry_access.h"

#include <pthread.h>

struct move_options {
	struct access_options from, to; /* for a registry on that side */
	const char *platform;		/* --platform, or NULL */
	bool all;			/* --all: the whole index */
	struct limit_options limits;	/* of what is unpacked on the way */
};

/* What was done. */
struct moved {
	const char *digest;
	size_t blobs_total, blobs_moved, blobs_mounted;
	uint64_t bytes_moved, bytes_resumed;
	double seconds;
};

/* What the moves of one command share. */
struct crew {
	struct access_pool registries;
	pthread_mutex_t packing; /* one packs at a time: it takes all processors and memory */
};

/* `arena` must live as long as the crew. */
void crew_init(struct crew *crew, struct arena *arena);
/* Closes the registries. For _cleanup_. */
void crew_release(struct crew *crew);

/* One move's own. */
struct mover {
	struct context ctx; /* with an arena of its own; the cluster is read already */
	const struct move_options *options;
	struct crew *crew;
};

/* Moves one image. The texts of *moved live in the mover's arena. */
int mover_move(struct mover *mover, const struct place *from, const struct place *to,
	       struct moved *moved, struct error *err);

/* The registry that `to` names, with the options for that side; opened once, and the crew's. */
int mover_target(struct mover *mover, const struct place *to, struct registry **registry,
		 struct error *err);

/* place_read, when it is this one's turn to pack. */
int mover_read(struct mover *mover, const struct place *from, const struct layer_watch *watch,
	       struct place_image *image, struct error *err);

/*
 * Leaves in `image` the image of the wanted platform, when it is an index; `is_needed`: the target
 * takes no index. A single image for another platform is ERROR_USAGE.
 */
int mover_choose(const struct move_options *options, bool is_needed, struct place_image *image,
		 struct arena *arena, struct error *err);

struct push_report;
void moved_take(struct moved *moved, const struct push_report *report, struct arena *arena);

#endif
