/* SPDX-License-Identifier: MIT */
/*
 * archive.h - docker-archive files (what `docker save` writes) into a layout.
 *
 * Two forms are read: ID/layer.tar + HEX.json + manifest.json (Docker up to 24, Podman, Buildah;
 * a layer may be a link to another one), and blobs/sha256/HEX + manifest.json (Docker 25 and later,
 * where layers may already be compressed with gzip or zstd). manifest.json comes last in both, so
 * every layer is packed while it streams by: one pass, no temporary copy, a pipe is fine. The whole
 * file may be compressed with gzip or zstd. Source: moby, image/tarexport, and image-spec 1.1
 * (config.md, rootfs.diff_ids).
 */
#ifndef OCI_ARCHIVE_ARCHIVE_H
#define OCI_ARCHIVE_ARCHIVE_H

#include "oci/budget.h"
#include "oci/manifest.h"

/* Told of each layer as soon as its blob is in the layout, by one thread. */
struct layer_watch {
	void (*packed)(void *arg, const char *layout_folder, const struct descriptor *blob);
	void *arg;
};

struct archive_options {
	const char *name;  /* "train:1": which image, as in RepoTags; NULL: the only one */
	const char *label; /* what errors call the archive ("train.tar"); NULL: "the archive" */
	/* Build arguments to take out of the config's history (history.h); NULL-terminated */
	const char *const *history_redact; /* or NULL */
	/*
	 * Layers and config lose what differs from build to build (normalise.h). Layers that are
	 * compressed in the archive stay as they are.
	 */
	bool normalise;
	int64_t newest_s;		    /* with `normalise`: later times become this one */
	const char *known_folder;	    /* where packed layers are noted (known.h), or NULL */
	const struct layer_watch *watch;    /* or NULL */
	const struct budget_limits *limits; /* of the image (oci/budget.h); NULL: the defaults */
};

/*
 * Reads the archive from `fd` to its end and puts layers (gzip by ISA-L), config and an OCI
 * manifest into the layout, which is made when missing. The same image gives the same blobs and
 * the same *manifest. Every layer is checked against the config's diff_ids, the config against the
 * digest in its name. `options` may be NULL. The layout's index.json is left alone: layout_tag.
 */
int archive_import(int fd, const char *layout_folder, const struct archive_options *options,
		   struct arena *arena, struct descriptor *manifest, struct error *err);

/*
 * The first of the only image's RepoTags, or ""; reads the whole of an archive that is compressed.
 */
int archive_name(int fd, const char *label, struct arena *arena, const char **name,
		 struct error *err);

/*
 * Does what archive_import does without reading one byte of a layer, when every layer of the image
 * is known (options->known_folder): config and manifest are put into the layout, the layers' blobs
 * are not. False: archive_import is needed. That is also so for an archive that is compressed as a
 * whole, and for one that cannot seek (a pipe). *layers is for archive_pack.
 */
struct part;
bool archive_recall(int fd, const char *layout_folder, const struct archive_options *options,
		    struct arena *arena, const struct part **layers, struct descriptor *manifest);

/*
 * Packs those of the layers that archive_recall found whose blobs are in the list, and no others. A
 * layer that does not have the config's diffID is an error. *same false: one became another blob
 * than was noted, so the manifest is wrong, and archive_import is needed.
 */
int archive_pack(int fd, const char *layout_folder, const struct archive_options *options,
		 const struct part *layers, const struct descriptor *const *blobs, size_t count,
		 bool *same, struct error *err);

#endif
