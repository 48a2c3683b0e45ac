/* SPDX-License-Identifier: MIT */
#include "oci/budget.h"

#include "core/arena.h"
#include "core/file.h"
#include "core/str.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

/* The same in every error: what raises the limit. */
#define ALLOW_BYTES "--max-unpacked SIZE, or image.limits.unpacked in cluster.yaml, allows SIZE"
#define ALLOW_ENTRIES "--max-entries N, or image.limits.entries in cluster.yaml, allows N"

/* What the folder's disk has for an image; the folder itself may be missing still. */
static uint64_t budget_room(const char *folder, uint64_t *reserve)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct statvfs fs;
	uint64_t room;

	while (statvfs(folder, &fs) < 0) {
		if (strcmp(folder, "/") == 0 || strcmp(folder, ".") == 0)
			return UINT64_MAX;
		folder = path_folder(&arena, folder);
	}
	if (!fs.f_blocks) /* a file system that does not say */
		return UINT64_MAX;
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	*reserve = (uint64_t)fs.f_blocks * fs.f_frsize / BUDGET_RESERVE_SHARE;
	if (*reserve > BUDGET_RESERVE_BYTES)
		*reserve = BUDGET_RESERVE_BYTES;
	return room > *reserve ? room - *reserve : 0;
}

void budget_init(struct budget *budget, const struct budget_limits *limits, const char *folder)
{
	static const struct budget_limits defaults;

	limits = limits ? limits : &defaults;
	memset(budget, 0, sizeof(*budget));
	snprintf(budget->folder, sizeof(budget->folder), "%s", folder ? folder : "");
	budget->is_given = limits->unpacked_bytes > 0;
	budget->unpacked_max = budget->is_given ? limits->unpacked_bytes
			       : folder		? budget_room(folder, &budget->reserve_bytes)
						: UINT64_MAX;
	budget->entries_max = limits->entries ? limits->entries : BUDGET_ENTRIES_DEFAULT;
}

static int budget_too_steep(uint64_t packed_bytes, struct error *err)
{
	char packed[32], plain[32];

	return error_set(
		err, ERROR_FAILED,
		"%s packed became more than %s, over %d times as much; is it a decompression bomb? " ALLOW_BYTES
		" at any ratio",
		format_bytes(packed, packed_bytes),
		format_bytes(plain, packed_bytes > BUDGET_RATIO_FREE_BYTES / BUDGET_RATIO_MAX
					    ? packed_bytes * BUDGET_RATIO_MAX
					    : BUDGET_RATIO_FREE_BYTES),
		BUDGET_RATIO_MAX);
}

static int budget_too_large(const struct budget *budget, struct error *err)
{
	char most[32], reserve[32];

	format_bytes(most, budget->unpacked_max);
	if (budget->is_given)
		return error_set(
			err, ERROR_FAILED,
			"the image unpacks to more than %s, its limit; a larger SIZE of " ALLOW_BYTES,
			most);
	return error_set(
		err, ERROR_FAILED,
		"the image unpacks to more than %s, which is what the disk of %s had free, less a reserve of %s; free space there, or, if most of it is holes, " ALLOW_BYTES,
		most, budget->folder, format_bytes(reserve, budget->reserve_bytes));
}

int budget_take(struct budget *budget, uint64_t packed_bytes, uint64_t plain_bytes, uint64_t more,
		struct error *err)
{
	uint64_t before = atomic_fetch_add(&budget->unpacked, more);

	if (packed_bytes && !budget->is_given && plain_bytes > BUDGET_RATIO_FREE_BYTES &&
	    plain_bytes / BUDGET_RATIO_MAX > packed_bytes)
		return budget_too_steep(packed_bytes, err);
	if (more > budget->unpacked_max || before > budget->unpacked_max - more)
		return budget_too_large(budget, err);
	return 0;
}

/* Of what is kept of an entry until its layer's end, at most. */
static uint64_t budget_entry_bytes(struct archive_entry *entry)
{
	const char *name = archive_entry_pathname(entry), *hard = archive_entry_hardlink(entry),
		   *soft = archive_entry_symlink(entry), *key;
	uint64_t bytes =
		(name ? strlen(name) : 0) + (hard ? strlen(hard) : 0) + (soft ? strlen(soft) : 0);
	const void *value;
	size_t length;

	archive_entry_xattr_reset(entry);
	while (archive_entry_xattr_next(entry, &key, &value, &length) == ARCHIVE_OK)
		bytes += strlen(key) + length;
	return bytes;
}

int budget_take_entry(struct budget *budget, struct archive_entry *entry, struct error *err)
{
	uint64_t most = budget->entries_max * BUDGET_KEPT_BYTES, bytes = budget_entry_bytes(entry);
	char text[32];

	if (atomic_fetch_add(&budget->entries, 1) >= budget->entries_max)
		return error_set(err, ERROR_FAILED,
				 "the image has more than %llu files, its limit; " ALLOW_ENTRIES,
				 (unsigned long long)budget->entries_max);
	if (atomic_fetch_add(&budget->kept, bytes) + bytes > most)
		return error_set(
			err, ERROR_FAILED,
			"the names, links and attributes of the image's files take more than %s, %d bytes for each of %llu files; " ALLOW_ENTRIES,
			format_bytes(text, most), BUDGET_KEPT_BYTES,
			(unsigned long long)budget->entries_max);
	return 0;
}
