/* SPDX-License-Identifier: MIT */
/*
 * The secret that the ranks of a run share. Nothing can print it, it never crosses the network, and
 * it is in memory only until the ranks have met: secret_guard() keeps it out of core dumps for so
 * long, and then secret_forget() removes it.
 */
#ifndef WORKER_SECRET_H
#define WORKER_SECRET_H

#include "failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECRET_BYTES 128 /* of the longest one and a NUL */

struct secret {
	uint8_t bytes[SECRET_BYTES]; /* text, padded with zeros; all zero: there is none */
};

bool secret_is_set(const struct secret *secret);

/* Bytes of the text. */
size_t secret_length(const struct secret *secret);

/* Takes @length bytes of text; -1 if there are none, too many, or a NUL among them. */
int secret_set(struct secret *secret, const void *text, size_t length);

/* From now on this process, and those that it forks, leave no core dump and cannot be traced by
 * others of the same user (prctl(2), PR_SET_DUMPABLE); secret_unguard() puts that back. */
void secret_guard(void);
void secret_unguard(void);

/* Wipes it, and what is left of it below the caller's frame. Called by functions that have not looked at
 * it themselves. */
void secret_forget(struct secret *secret);

/* Fills @bytes with what nobody can guess; -1 with *err set. */
int secret_random(uint8_t *bytes, size_t count, struct failure *err);

#endif
