/* SPDX-License-Identifier: MIT */
/*
 * base.h - the few macros that every other file uses.
 *
 * _cleanup_(f) runs f(&variable) when the variable leaves its scope. Use it for every handle (fd,
 * FILE, cJSON, struct str ...). Things without a handle live in the command's arena and need no
 * cleanup.
 */
#ifndef CORE_BASE_H
#define CORE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _printf_(a, b) __attribute__((format(printf, a, b)))
#define _must_check_ __attribute__((warn_unused_result))
#define _unused_ __attribute__((unused))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define RINGUP_VERSION "0.1.0"

#define KIB 1024ULL
#define MIB (1024ULL * KIB)
#define GIB (1024ULL * MIB)
#define TIB (1024ULL * GIB)

/* A list of words, NULL-terminated: an argv. Never a command line for a shell: see quote.h. */
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
