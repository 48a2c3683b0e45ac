/* SPDX-License-Identifier: MIT */
/*
 * listing.h - the files of a folder as a list, and what differs from an earlier list.
 *
 * Files are looked at, never read: a file with the same size, times (mtime and ctime), inode and mode as
 * before is the same file. A file that was changed a moment before it was looked at could change again
 * without another time, so its line never equals a later one (git has the same rule: "racy git" in
 * its technical documentation).
 *
 * Names are any bytes. In lists they are escaped: a control character or a backslash is "\0" and three
 * octal digits, which printf(1) turns back with %b.
 */
#ifndef DEPLOYER_JOB_LISTING_H
#define DEPLOYER_JOB_LISTING_H

#include "core/digest.h"
#include "core/str.h"
#include "core/words.h"

#include <sys/types.h>

/* Ceilings against a folder that was named by accident. */
#define LISTING_FILES_MAX 200000
#define LISTING_BYTES_MAX GIB

enum listing_kind { LISTING_FILE, LISTING_FOLDER, LISTING_LINK };

struct listing_entry {
	enum listing_kind kind;
	const char *path; /* relative: "a/b.py" */
	const char *key;  /* the path, escaped; a folder's ends in '/' */
	const char *line; /* "KEY<TAB>FACTS" */
	const char *link; /* what a link holds */
	mode_t mode;
	int64_t mtime_s;
	uint64_t bytes;
	bool is_changed; /* listing_compare found so */
};

struct listing {
	const char *folder; /* without links */
	struct arena *arena;
	struct listing_entry *entries; /* sorted by key, as bytes */
	size_t count, capacity;
	size_t files; /* without folders */
	uint64_t bytes;
	struct words left_out; /* "PATH: why", for the person */
	char digest[DIGEST_TEXT_BYTES];
};

/*
 * Lists the folder, without what ignore.h leaves out. Links that lead out of the folder, sockets and
 * devices are in left_out. Errors: a folder that cannot be read, and one over the ceilings, whose
 * error names its largest parts.
 */
int listing_scan(const char *folder, struct arena *arena, struct listing *listing,
		 struct error *err);

/* The lines of all entries. */
void listing_text(const struct listing *listing, struct str *text);

/* Sets is_changed of all entries whose line is not in the text of an earlier listing ("": all). */
void listing_compare(struct listing *listing, const char *earlier);

/* The entry of a path, or NULL. A folder's path has no '/' at its end. */
struct listing_entry *listing_find(const struct listing *listing, const char *path);

/* Whether a link at this path leads out of the folder by its words; "a/b" with "../c" does not. */
bool listing_link_leaves(const char *path, const char *link);

#endif
