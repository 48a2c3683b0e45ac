/* SPDX-License-Identifier: MIT */
/*
 * journal.h - upload sessions on disk, so that a process that was killed goes on where it was.
 *
 * A file uploads.json beside a layout's blobs: for each registry, repository and digest the address
 * of its open session. That address is a secret of a kind (who has it may write to the upload):
 * mode 0600. A journal that cannot be read or written is none: it saves time, nothing else.
 */
#ifndef REGISTRY_CLIENT_BLOBS_JOURNAL_H
#define REGISTRY_CLIENT_BLOBS_JOURNAL_H

#include "core/json.h"
#include "plan/reference.h"

struct journal {
	const char *folder, *path; /* NULL: keeps nothing */
	cJSON *json;		   /* owned */
};

void journal_open(struct journal *journal, const char *layout_folder, struct arena *arena);
void journal_close(struct journal *journal);

/* The session's address, or NULL. Borrowed until the next call. */
const char *journal_find(const struct journal *journal, const struct reference *ref,
			 const char *digest);

/* Adds it to what other processes have noted meanwhile; location NULL: the session is over. */
void journal_note(struct journal *journal, const struct reference *ref, const char *digest,
		  const char *location);

#endif
