/* SPDX-License-Identifier: MIT */
/* text.h - growing text, and the escapes of protocol.h. Out of memory ends the program. */
#ifndef JOB_TEXT_H
#define JOB_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Always ends with a NUL once something was added. */
struct text {
	char *bytes;
	size_t length, room;
};

void text_release(struct text *text);
void text_add_bytes(struct text *text, const char *bytes, size_t length);
void text_addf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds bytes as a field that may hold anything, escaped. */
void text_add_escaped(struct text *text, const char *bytes, size_t length);
/* Removes the first bytes. */
void text_drop(struct text *text, size_t length);

/* Undoes the escapes in place. How many bytes it has then: "\0" is a NUL among them. */
size_t text_unescape(char *field);

/* Copies, or ends the program. */
char *text_copy(const char *bytes);

/* A NULL-terminated list of texts that it owns. */
struct list {
	char **items;
	size_t count;
};
void list_add(struct list *list, const char *item);
void list_release(struct list *list);

/* Takes the next whole line out of `text` from *offset on, its end replaced by NUL; NULL: none. */
char *text_next_line(struct text *text, size_t *offset);

/* A whole number of that range; false when it is none. */
bool text_number(const char *word, long least, long most, long *number);

#endif
