/* SPDX-License-Identifier: MIT */
/*
 * store.h - layers by what they were made from, kept between builds.
 *
 *   FOLDER/layers/KEY/tree         the layer as a folder, in overlayfs' form
 *   FOLDER/layers/KEY/parts.json   the same as blobs of the layout; also of each part that
 *                                  store_add_list's trees have, by a key of what is in it
 *   FOLDER/layers/KEY/list.json    what is in those blobs (tree_file.h)
 *   FOLDER/layout                  OCI layout: blobs, and the finished images by name
 *   FOLDER/work/ID                 what a build under way needs; locked by it
 *
 * A layer has its tree, its parts, or both; each is made from the other when it is needed, and
 * parts also from a list of files. A layer appears whole or not at all: it is made in work/ and
 * renamed; one that may not have reached the disk before a power cut is removed after it. Several
 * builds may work in one store.
 *
 * Nothing is taken from the store unchecked: a blob is hashed before it counts as there
 * (layout_verify), and a layer that came from elsewhere is used only after its plain bytes had its
 * diffID, which parts.json then notes ("checked"). A store that others may write is refused.
 */
#ifndef BUILDER_NATIVE_STORE_H
#define BUILDER_NATIVE_STORE_H

#include "builder/native/layer/layer.h"
#include "oci/budget.h"

#include <pthread.h>
#include <stdatomic.h>

#define KEY_BYTES 65 /* 64 hex digits of a SHA-256 */

struct store_kept;

struct store {
	const char *folder, *layout, *work; /* in the arena that it was opened with */
	int lock;			    /* of `work` */
	atomic_uint names;
	atomic_bool has_marks; /* layers were added that the disk may not have yet */
	int64_t newest_s;      /* later times become this one */
	/* What layers from elsewhere may unpack to: on the disk, and where they are only read */
	struct budget unpacked, listed;
	pthread_mutex_t kept_lock;
	struct store_kept *kept; /* store_add_list */
};

/*
 * Makes what is missing and removes the folders of dead builds. Another person's store is an error, and
 * so is one that others may write (private_check).
 */
int store_open(struct store *store, const char *folder, int64_t newest_s, struct arena *arena,
	       struct error *err);
/* Other limits than the defaults (NULL) for what this build unpacks (oci/budget.h). */
void store_limit(struct store *store, const struct budget_limits *limits);

/* Removes all of it; an error while a build is at work in it. */
int store_remove(const char *folder, struct error *err);

/* Removes the work folder. For _cleanup_. */
void store_release(struct store *store);

/* A path in the work folder that nothing else uses; it is not made. */
const char *store_work_path(struct store *store, struct arena *arena);

/* The key of what these words make: every word counts, and so do its borders. NULL-terminated. */
void store_key(const char *const *words, char key[static KEY_BYTES]);

/*
 * Whether the layer is there. One that others may have put there is removed, and so is one without a
 * tree whose blobs are damaged or missing: it is made again.
 */
bool store_has(const struct store *store, const char *key);

/* Takes a folder in overlayfs' form as the layer's tree: clamps its times and moves it away. */
int store_add_tree(struct store *store, const char *key, const char *tree, struct error *err);

/* Takes parts whose blobs are in the layout. parts->is_checked says whether their diffIDs are true. */
int store_add_parts(struct store *store, const char *key, const struct layer_parts *parts,
		    struct error *err);

/*
 * Takes a sorted tree as the layer. Its parts, about `cuts` of them (layer.h), are written when
 * they are first needed; a file that cannot be read is an error then, and is tried again the next
 * time. Parts that the store has from any layer are used as they are. The entries' texts and
 * sources must live as long as the arena, and that as long as the store.
 */
void store_add_list(struct store *store, const char *key, const struct tree *tree, size_t cuts,
		    struct arena *arena);

/* The layer as a folder; unpacked when it is not. In the arena. */
int store_tree(struct store *store, const char *key, struct arena *arena, const char **folder,
	       struct error *err);

/* Whether the layer has its tree already. */
bool store_has_tree(const struct store *store, const char *key);

/* The layer's entries without their content, sorted; the tree lives as long as the arena. */
int store_list(struct store *store, const char *key, struct arena *arena, const struct tree **tree,
	       struct error *err);

/*
 * Checks the diffIDs of parts that store_parts gave, unless that was done before, or when the layer was
 * unpacked or listed: it reads them all.
 */
int store_check(struct store *store, const char *key, struct layer_parts *parts, struct error *err);

/* The layer as blobs in the layout; packed when it is not. `title`: in the progress. */
int store_parts(struct store *store, const char *key, const char *title, struct layer_parts *parts,
		struct error *err);

#endif
