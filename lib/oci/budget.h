/* SPDX-License-Identifier: MIT */
/*
 * budget.h - what one image may unpack to: bytes, entries, and the memory that its entries take.
 *
 * Every way in has one: a base image of a build, `rootfs:`, docker archives, what the daemon saves,
 * layers that are normalised. All defaults are here. Real images must pass: one with CUDA and PyTorch
 * has 10 to 25 GiB in layers of up to 8 GiB, and less than a million entries.
 *
 * Without a limit for the bytes, two rules find what is no image. A layer that is packed may become
 * BUDGET_RATIO_MAX times as large, from BUDGET_RATIO_FREE_BYTES on; layers are packed 2 to 20 times, while
 * gzip can do 1032 times (zlib, "Maximum expansion factor") and zstd far more. And what is written to a
 * disk may take what that has free, less a reserve. A limit that a person gives replaces both.
 */
#ifndef OCI_BUDGET_H
#define OCI_BUDGET_H

#include "core/error.h"

#include <stdatomic.h>

#define BUDGET_RATIO_MAX 200
#define BUDGET_RATIO_FREE_BYTES GIB
#define BUDGET_RESERVE_BYTES GIB /* of the disk, for everybody else */
#define BUDGET_RESERVE_SHARE 20	 /* of a small disk, only so many parts of it */
#define BUDGET_ENTRIES_DEFAULT 2000000
/*
 * Of names, links and attributes, on average over as many entries as there may be. Real ones have about
 * 100 each, and there are fewer.
 */
#define BUDGET_KEPT_BYTES 128
/* Of the headers of one entry: names, pax records, the map of a sparse file. */
#define BUDGET_HEADER_BYTES_MAX (16 * MIB)

/* As cluster.yaml (`image.limits`) and the command line (--max-unpacked, --max-entries) give them. */
struct budget_limits {
	uint64_t unpacked_bytes; /* 0: the two rules above */
	uint64_t entries;	 /* 0: BUDGET_ENTRIES_DEFAULT */
};

/* What one image has used; layers may be unpacked side by side. */
struct budget {
	bool is_given;		/* unpacked_max is a person's own */
	char folder[256];	/* on whose disk it goes; "": on none */
	uint64_t reserve_bytes; /* of the disk, which unpacked_max leaves out */
	uint64_t unpacked_max, entries_max;
	atomic_uint_least64_t unpacked, entries, kept;
};

/*
 * `limits` NULL: the defaults. `folder`: where the files will be, or are made; NULL: nothing is written,
 * or not in this form.
 */
void budget_init(struct budget *budget, const struct budget_limits *limits, const char *folder);

/*
 * Takes `more` bytes of a layer of which `plain_bytes` came until now, out of `packed_bytes` in all.
 * packed_bytes 0: it was not packed.
 */
int budget_take(struct budget *budget, uint64_t packed_bytes, uint64_t plain_bytes, uint64_t more,
		struct error *err);

/* Takes one entry. */
struct archive_entry;
int budget_take_entry(struct budget *budget, struct archive_entry *entry, struct error *err);

#endif
