/* SPDX-License-Identifier: MIT */
/*
 * inventory.h - the packages that an image in a layout holds, read from its own files: Debian's
 * var/lib/dpkg/status, the list that the recipes have rpm write (rpm-list.recipe; the form of its
 * database changes with its release), and the NAME-VERSION.dist-info folders of Python packages.
 */
#ifndef BUILDER_EVIDENCE_INVENTORY_H
#define BUILDER_EVIDENCE_INVENTORY_H

#include "oci/manifest.h"

enum inventory_kind { INVENTORY_DEBIAN, INVENTORY_RPM, INVENTORY_PYTHON };

struct inventory_item {
	enum inventory_kind kind;
	const char *name, *version, *architecture; /* the last "" for Python's */
};

struct inventory {
	size_t count, capacity;
	struct inventory_item *list; /* by kind, then by name; in the arena */
};

/*
 * Reads it. `cache_folder` (may be NULL) keeps what was found in each layer, by its diffID, so that
 * a layer is read once. `limits`: of the image (oci/budget.h); NULL: the defaults.
 */
struct budget_limits;
int inventory_read(const char *layout, const struct descriptor *manifest, const char *cache_folder,
		   const struct budget_limits *limits, struct arena *arena,
		   struct inventory *inventory, struct error *err);

#endif
