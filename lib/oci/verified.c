/* SPDX-License-Identifier: MIT */
#include "oci/verified.h"

#include "core/file.h"
#include "core/private.h"
#include "oci/limits.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUPS 2048 /* the digest says in which one its note is */
#define SLOTS 8	    /* of a group, read together */

/* Only this machine reads it. A slot of zeros is empty, since no digest begins with a NUL. */
struct verified_slot {
	char digest[DIGEST_TEXT_BYTES];
	uint64_t inode, size_bytes;
	int64_t modified_ns, changed_ns;
};

static struct verified_slot verified_slot_of(const char *digest, const struct stat *st)
{
	struct verified_slot slot;

	memset(&slot, 0, sizeof(slot)); /* with what lies between the members: slots are compared */
	snprintf(slot.digest, sizeof(slot.digest), "%s", digest);
	slot.inode = st->st_ino;
	slot.size_bytes = (uint64_t)st->st_size;
	slot.modified_ns = st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec;
	slot.changed_ns = file_changed_ns(st);
	return slot;
}

/* Opens the notes and reads the digest's group. -1: there are none. */
static int verified_open(const char *folder, const char *digest, int flags, off_t *at,
			 struct verified_slot group[static SLOTS])
{
	char path[LAYOUT_PATH_BYTES];
	uint64_t hash = 14695981039346656037ULL; /* FNV-1a */
	struct stat st;
	int fd;

	for (const char *p = digest; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211ULL;
	*at = (off_t)(hash % GROUPS * SLOTS * sizeof(*group));
	memset(group, 0, SLOTS * sizeof(*group));
	if (snprintf(path, sizeof(path), "%s/.verified", folder) >= (int)sizeof(path))
		return -1;
	fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !private_is_own(&st) ||
			pread(fd, group, SLOTS * sizeof(*group), *at) < 0))
		fd_close(&fd);
	return fd;
}

bool verified_recall(const char *layout_folder, const char *digest, const struct stat *st)
{
	const struct verified_slot slot = verified_slot_of(digest, st);
	struct verified_slot group[SLOTS];
	_cleanup_(fd_close) int fd = -1;
	off_t at;

	fd = verified_open(layout_folder, digest, O_RDONLY, &at, group);
	for (size_t i = 0; fd >= 0 && i < SLOTS; i++)
		if (memcmp(&group[i], &slot, sizeof(slot)) == 0)
			return true;
	return false;
}

void verified_note(const char *layout_folder, const char *digest, const struct stat *st)
{
	const struct verified_slot slot = verified_slot_of(digest, st);
	struct verified_slot group[SLOTS];
	_cleanup_(fd_close) int fd = -1;
	size_t chosen = SLOTS;
	off_t at;

	fd = verified_open(layout_folder, digest, O_RDWR | O_CREAT, &at, group);
	if (fd < 0)
		return;
	for (size_t i = 0; i < SLOTS && chosen == SLOTS; i++)
		if (!*group[i].digest || strncmp(group[i].digest, digest, DIGEST_TEXT_BYTES) == 0)
			chosen = i;
	if (chosen == SLOTS)
		chosen = (size_t)(slot.changed_ns / 1000) % SLOTS;
	if (pwrite(fd, &slot, sizeof(slot), at + (off_t)(chosen * sizeof(slot))) < 0)
		return; /* the slot is torn or as it was: the blob is hashed again */
}
