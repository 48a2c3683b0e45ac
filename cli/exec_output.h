/* SPDX-License-Identifier: MIT */
/*
 * exec_output.h - what a command prints on many hosts, behind their names, however much it is.
 *
 * At a terminal lines are printed as they come. Elsewhere, where programs read them, they are printed in the order of the hosts:
 * the first host that has not ended prints as it comes, and the others keep up to 1 MiB; then their commands wait, as those of
 * a pipe do whose reader is slow.
 */
#ifndef CLI_EXEC_OUTPUT_H
#define CLI_EXEC_OUTPUT_H

#include "core/arena.h"
#include "core/error.h"

struct exec_output;

/* For hosts with these names, which stay the caller's. */
struct exec_output *exec_output_new(const char *const *names, size_t count, bool is_ordered,
				    struct arena *arena);

/* The host begins: *fd is where its standard output goes. */
int exec_output_open(struct exec_output *output, size_t host, int *fd, struct error *err);

/* The host has ended, or did not begin. The descriptor is closed. */
void exec_output_end(struct exec_output *output, size_t host);

/* Prints what is kept of all hosts, of which none runs any more, and frees it. */
void exec_output_close(struct exec_output *output);

#endif
