/* SPDX-License-Identifier: MIT */
/*
 * error.h - the one error object.
 *
 * Every function that can fail is `int f(in..., out..., struct error *err)`: 0, or -1 with `err`
 * set. `err` lives on the caller's stack, is set once where the failure happens, wrapped with
 * context on the way up ("push lab/train: blob sha256:1f3a...: ...") and printed only by main.
 * Setting one never allocates; a message longer than the buffer is cut.
 *
 * A message says what failed, on which file, line, host or URL, and the next thing to do.
 */
#ifndef CORE_ERROR_H
#define CORE_ERROR_H

#include "core/base.h"

/* X(name, exit status): each status has one meaning, which README.md lists. */
#define ERROR_KINDS(X)                                                                         \
	X(FAILED, 1)	  /* something did not work                                         */ \
	X(USAGE, 2)	  /* wrong command line or a bad input file                         */ \
	X(UNSATISFIED, 3) /* no stack satisfies the request                                 */ \
	X(PARTIAL, 4)	  /* some hosts failed, the others are fine                         */ \
	X(VERDICT, 5)	  /* the cluster works but the verdict is bad                       */ \
	X(INTERRUPTED, 130)

enum error_kind {
	ERROR_NONE = 0,
#define X(name, status) ERROR_##name = (status),
	ERROR_KINDS(X)
#undef X
};

struct error {
	enum error_kind kind; /* ERROR_NONE while nothing failed; otherwise also the exit status */
	int system;	      /* the errno behind it; 0 when the system refused nothing */
	char text[1600];      /* one sentence or two, no trailing newline */
};

/* Sets the error and returns -1, so that `return error_set(...)` reads well. */
int error_set(struct error *err, enum error_kind kind, const char *format, ...) _printf_(3, 4);

/* Sets ERROR_FAILED with strerror(errno) appended after ": ". Returns -1. */
int error_errno(struct error *err, const char *format, ...) _printf_(2, 3);

/* Puts "context: " before the text that is there. Returns -1. */
int error_wrap(struct error *err, const char *format, ...) _printf_(2, 3);

/* Adds "; advice" after the text that is there. Returns -1. */
int error_advise(struct error *err, const char *format, ...) _printf_(2, 3);

/*
 * For the failure to read a file that a person gave or keeps: ERROR_FAILED becomes ERROR_USAGE ("a
 * bad input file", status 2). It stays when the machine failed and not the file: no space, no
 * memory, an error of the disk. Other kinds stay. Returns -1.
 */
int error_of_input(struct error *err);

#endif
