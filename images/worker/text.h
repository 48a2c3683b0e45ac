/* SPDX-License-Identifier: MIT */
/*
 * Text that came over the network. What is printed must end, and hold nothing that a terminal takes
 * for a command: no control characters of ASCII (ISO/IEC 6429, C0 and DEL) and none of the second
 * set (C1), neither as a byte of its own nor in UTF-8.
 */
#ifndef WORKER_TEXT_H
#define WORKER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a NUL is among the @bytes of @text, and nothing to be afraid of before it. */
bool text_is_plain(const char *text, size_t bytes);

/* Makes it so: control characters become '?', and the last byte becomes a NUL. */
void text_tidy(char *text, size_t bytes);

#endif
