/* SPDX-License-Identifier: MIT */
/*
 * host_script.h - what stands in the sections of a recipe for an image, as bash for a bare host.
 *
 * A RUN becomes a subshell, so that the next one has neither its exports nor its folder. Its
 * continuation lines become lines. COPY, ENV and the like have no meaning on a host: what a host
 * needs of them is in a section of its own ("host").
 */
#ifndef BUILDER_RECIPE_HOST_SCRIPT_H
#define BUILDER_RECIPE_HOST_SCRIPT_H

#include "core/str.h"
#include "resolver/catalog.h"
#include "resolver/resolve.h"

/* Adds the steps of an expanded section; each ends in an empty line. */
void host_script_add_steps(struct str *out, const char *section);

/* Adds the lines of an expanded section that holds no instructions. */
void host_script_add_lines(struct str *out, const char *text);

/* Adds the copying of `path`, beside the script, to `to`: of one file, or of a folder's content. */
void host_script_add_copy(struct str *out, const char *path, const char *to, bool is_file);

/* The plan without a base image: the toolkit comes from NVIDIA's repository. */
struct plan *host_script_plan(const struct plan *plan, const struct catalog *catalog,
			      struct arena *arena);

#endif
