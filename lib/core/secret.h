/* SPDX-License-Identifier: MIT */
/*
 * secret.h - how a struct secret (log.h) comes from a file and goes out of memory.
 *
 * The functions keep one copy, in the arena, and no other. Whoever has used a secret calls
 * secret_wipe, since memory that is freed keeps its content until it is used again.
 */
#ifndef CORE_SECRET_H
#define CORE_SECRET_H

#include "core/arena.h"
#include "core/error.h"
#include "core/log.h"

/* Reads a whole file of at most `ceiling_bytes`. The file must be regular. */
int secret_read(const char *path, size_t ceiling_bytes, struct arena *arena, struct secret *secret,
		struct error *err);

/* A copy of the text. The caller wipes the original. */
struct secret secret_copy(const char *text, struct arena *arena);

/* Overwrites the text, which must be writable, and leaves "". A secret without text is fine. */
void secret_wipe(struct secret *secret);

/* The same for memory that holds or held a secret. NULL is fine. */
void secret_wipe_bytes(void *bytes, size_t length);

#endif
