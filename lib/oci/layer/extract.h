/* SPDX-License-Identifier: MIT */
/*
 * extract.h - the one extractor: a layer's entries as files under a folder.
 *
 * Two forms of the result (enum extract_form): a tree to which layer after layer is applied, or one
 * layer as overlayfs wants to find it below others. The rest is the same for both:
 *
 * - Owners, modes, times, extended attributes, devices and holes are as the layer says. A later
 *   entry of the same name replaces what an earlier one put there; a folder over a folder keeps
 *   what is in it.
 * - Nothing is written outside of the folder: names with ".." are refused, and every path is opened
 *   within it (inside.h). A hard link leads to a name within it, and is never followed further.
 * - The owner is set first, since that takes setuid bits and capabilities away; then attributes,
 *   then the mode, then times. A folder's attributes, mode and times are set when all that is in it
 *   is there: a default ACL would be inherited, and a new file would change the time.
 * - Without root, owners are the caller's. Setuid and setgid bits stay only where the owner or the
 *   group is the one that the layer names, and folders stay open to their owner.
 * - Blocks of zeros of EXTRACT_ZERO_BYTES become holes.
 * - Attributes "trusted.overlay.*" and "user.overlay.*" are left out: they would make more of a
 *   folder than the layer says (Linux, Documentation/filesystems/overlayfs.rst).
 * - An attribute that the file system does not know is counted in a tree. In a layer of an overlay
 *   it is an error for root, since images are built on it.
 */
#ifndef OCI_LAYER_EXTRACT_H
#define OCI_LAYER_EXTRACT_H

#include "core/error.h"
#include "core/progress.h"

#define EXTRACT_ZERO_BYTES 16384

struct archive_entry;

enum extract_form {
	/*
	 * What a whiteout names is removed, unless this layer has put it there. Links on the way to
	 * a name are followed as if the folder were "/".
	 */
	EXTRACT_TREE,
	/*
	 * A whiteout becomes a character device 0:0, and an opaque folder has the attribute
	 * trusted.overlay.opaque (user.overlay.opaque without privileges); a folder that is made
	 * again over its whiteout is opaque too. An entry behind a link or a file is refused: where
	 * it belongs, only the layers below could say.
	 */
	EXTRACT_OVERLAY,
};

struct extract_options {
	enum extract_form form;
	bool without_devices; /* they are left out: this process may not make them */
	struct budget
		*budget; /* of the image (oci/budget.h); NULL: one for the layer, with defaults */
};

/* Where the content of a file comes from. */
struct extract_source {
	/* The next bytes, and where in the file they stand; *length is 0 at the end. */
	int (*next)(void *arg, const void **bytes, size_t *length, uint64_t *offset,
		    struct error *err);
	void *arg;
};

/* --- a whole layer -------------------------------------------------------------------------- */

struct extract_result {
	uint64_t plain_bytes;	/* of the tar */
	size_t lost_attributes; /* that the file system did not take */
};

/*
 * Puts the layer in that file, plain or gzip or zstd, under `folder` (a descriptor). `diff_id`: the
 * digest that its plain bytes must have, which is valid; NULL: they are not checked. `progress` may
 * be NULL. Errors name the file. After an error, part of the layer is there.
 */
int layer_extract(const char *layer_path, const char *diff_id, int folder,
		  const struct extract_options *options, struct progress_step *progress,
		  struct extract_result *result, struct error *err);

/* --- entry by entry ------------------------------------------------------------------------- */

struct extract;

/* Begins a layer. `folder` is borrowed. Never NULL. */
struct extract *extract_new(int folder, const struct extract_options *options);

/* Puts one entry there. `source` is only asked for the content of files. */
int extract_entry(struct extract *extract, struct archive_entry *entry,
		  const struct extract_source *source, struct error *err);

/* Sets what folders get last. */
int extract_end(struct extract *extract, struct error *err);

/* For _cleanup_. */
void extract_free(struct extract **extract);

#endif
