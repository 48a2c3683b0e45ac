/* SPDX-License-Identifier: MIT */
/*
 * str.h - a growing string with a ceiling.
 *
 * Invariants: `text` is never NULL after STR_INIT or str_init and always NUL-terminated; `length` does not
 * count the NUL. What is added past `ceiling_bytes` is dropped and `overflowed` is set, so a peer
 * that sends without end costs a bounded amount of memory. The owner calls str_release.
 */
#ifndef CORE_STR_H
#define CORE_STR_H

#include "core/base.h"

#include <stdarg.h>

#define STR_CEILING_DEFAULT (64 * MIB)

struct str {
	char *text; /* owned */
	size_t length, capacity, ceiling_bytes;
	bool overflowed;
};

/* An empty string, as an initialiser: nothing is allocated until something is added. */
#define STR_INIT                                                        \
	{                                                               \
		.text = str_empty, .ceiling_bytes = STR_CEILING_DEFAULT \
	}
extern char str_empty[1]; /* always "": the text of a string with capacity 0 */

/* The same for a string in a struct, or for one that is used again. */
void str_init(struct str *s);
/* The same with a ceiling of its own, for data that comes from outside. */
void str_init_ceiling(struct str *s, size_t ceiling_bytes);
void str_release(struct str *s);
void str_clear(struct str *s);

void str_add(struct str *s, const char *text);
/* Removes the first bytes, or all when there are fewer. */
void str_drop(struct str *str, size_t length);

void str_add_bytes(struct str *s, const void *bytes, size_t length);
void str_add_char(struct str *s, char c);
void str_addf(struct str *s, const char *format, ...) _printf_(2, 3);
void str_vaddf(struct str *s, const char *format, va_list args);

/* Cuts spaces and newlines off the end. */
void str_trim(struct str *s);

/*
 * Turns the text into one line for a sentence. Runs of line ends become "; ", other control
 * characters are removed, and only the last `keep_bytes` stay.
 */
void str_one_line(struct str *s, size_t keep_bytes);

/* Text helpers on plain strings. */
bool starts_with(const char *text, const char *prefix);
bool ends_with(const char *text, const char *suffix);

/* Puts `with` in the place of each NUL byte, so that the bytes are one text. */
void nuls_replace(char *bytes, size_t length, char with);

/* Points to the last `bytes` of the text or less, at the start of a line if there is one. */
const char *text_tail(const char *text, size_t bytes);
/*
 * The candidate nearest to `word` by edit distance, or NULL when even that one is too far to be a
 * typing error (distance over 1 + length/3). `candidates` is NULL-terminated.
 */
const char *nearest_word(const char *word, const char *const *candidates);

/* Whether the first `length` bytes of `word` are one of the words of a ';'-separated list. */
bool list_has(const char *list, const char *word, size_t length);

/*
 * Reads a size: digits, and K, M, G or T for 1024 to that power; "iB" or "B" may follow the letter, and it
 * may be small. False when it is anything else, 0, or too large.
 */
bool parse_bytes(const char *text, uint64_t *bytes);

/* Writes "1.5 GiB", "12 KiB" or "3 B" into the caller's buffer and returns the buffer. */
const char *format_bytes(char buffer[static 32], uint64_t bytes);

#endif
