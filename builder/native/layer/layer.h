/* SPDX-License-Identifier: MIT */
/*
 * layer.h - a tree as layers of an image.
 *
 * The same tree gives the same bytes everywhere: sorted, numeric owners, whole seconds, no names of
 * users or hosts; extended attributes are pax records. Whiteouts are ".wh.NAME" and ".wh..wh..opq"
 * (OCI image-spec 1.1, layer.md). Blocks of zeros of LAYER_HOLE_BYTES are holes, wherever the file
 * system has its holes. One pass: read, hash (diffID), compress, hash, write (oci/layer/packer.h).
 */
#ifndef BUILDER_NATIVE_LAYER_LAYER_H
#define BUILDER_NATIVE_LAYER_LAYER_H

#include "builder/native/layer/tree.h"
#include "oci/manifest.h"

#define LAYER_BYTES_MAX \
	(512 * MIB) /* plain: what one failed upload can cost; a larger file has its own */
#define LAYER_HOLE_BYTES (1 * MIB)
#define LAYER_PARTS_MAX 256

struct layer_part {
	char diff_id[DIGEST_TEXT_BYTES];
	struct descriptor blob;
};

struct layer_parts {
	size_t count; /* 0 for a tree without entries */
	/* every part's plain bytes were read here, and have its diffID */
	bool is_checked;
	struct layer_part list[LAYER_PARTS_MAX];
};

/* How a tree becomes parts, and where those are that were written before. */
struct layer_rule {
	uint64_t bytes_max; /* of a part's content; 0: LAYER_BYTES_MAX */
	/*
	 * About so many parts at most, cut so that a file that changes takes few others along, to
	 * the registry and from there to every host (layer_plan.h); 0: as few as can be.
	 */
	size_t cuts;
	/*
	 * Parts that are kept, by a digest of all that is in them; both NULL: none are. They are
	 * not asked about parts with a file whose digest is not known (tree.h).
	 */
	bool (*find)(void *arg, const char *key, struct layer_part *part);
	int (*keep)(void *arg, const char *key, const struct layer_part *part, struct error *err);
	void *arg;
};

/*
 * Writes a sorted tree into the layout: one layer, or several by the rule (NULL: all zero). Hard
 * links stay with their file; folders are repeated where a part needs them. `title` names it in the
 * progress; NULL: silent.
 */
int layer_write(const struct tree *tree, const char *layout_folder, const struct layer_rule *rule,
		const char *title, struct layer_parts *parts, struct error *err);

#endif
